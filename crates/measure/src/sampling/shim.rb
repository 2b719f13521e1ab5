# Loaded into a Ruby program before its own first line: samples it with stackprof, and writes what was sampled when it ends, one
# file for each process. It must change nothing else, and be silent; a program without stackprof runs as it would.
begin
  require "stackprof"
  # Where it lies, for programs that this one starts: Bundler hides gems that a project does not name.
  ENV["ASSAY_PROFILE_PATHS"] ||= $LOADED_FEATURES.grep(%r{/stackprof(/stackprof)?\.(rb|so)\z}) { |path| path[%r{\A(.*?)/stackprof(/stackprof)?\.(rb|so)\z}, 1] }.uniq.join(":")
rescue LoadError
  begin
    $LOAD_PATH.concat(ENV["ASSAY_PROFILE_PATHS"].to_s.split(":"))
    require "stackprof"
  rescue LoadError
    # A Ruby of another version that the program starts: it is not sampled.
  end
end

if defined?(StackProf) && ENV["ASSAY_PROFILE_DIR"]
  ASSAY_PROFILED_PROCESS = Process.pid
  StackProf.start(
    mode: ENV["ASSAY_PROFILE_MODE"].to_sym,
    interval: ENV["ASSAY_PROFILE_INTERVAL"].to_i,
    raw: true
  )
  # What is registered first runs last, behind the tests of a suite that runs at its end.
  at_exit do
    # A forked child has the block too, but no timer.
    if Process.pid == ASSAY_PROFILED_PROCESS
      StackProf.stop
      results = StackProf.results
      if results && results[:raw]
        require "json"
        name = File.join(ENV["ASSAY_PROFILE_DIR"], Process.pid.to_s)
        results[:frames].each_value do |frame|
          frame[:name] = frame[:name].to_s.dup.force_encoding("UTF-8").scrub
          frame[:file] = frame[:file].to_s.dup.force_encoding("UTF-8").scrub
        end
        File.write(name + ".part", JSON.generate(results))
        File.rename(name + ".part", name + ".json")
      else
        File.write(File.join(ENV["ASSAY_PROFILE_DIR"], "nothing"), "")
      end
    end
  end
end
