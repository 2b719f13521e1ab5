# Counts lines by test: the script of the article "Test Profiling by Lines Logged", for any file, reading bytes.
test = nil
tests = Hash.new 0
File.open ARGV.fetch(0), 'rb' do |log|
  log.each_line do |line|
    if line.strip =~ /^RUNNING (.*)/n
      test = $1
    else
      tests[test] += 1
    end
  end
end
tests.sort_by { |_, count| -count }.each { |name, count| puts '%5d %s' % [count, name] }
