# frozen_string_literal: true

# A puma of our own, as a process, on a free port of the loopback device; stopped when the block ends. It stays free of assertions.

require "net/http"
require "rbconfig"
require "socket"
require "tmpdir"

module PumaServer
  # Runs puma with this config.ru and these options, and yields its port and a directory, where `said` is what it said.
  def with_puma(rackup, *options, env: {})
    Dir.mktmpdir("assay-puma") do |directory|
      File.write(File.join(directory, "config.ru"), rackup)
      port = Addrinfo.tcp("127.0.0.1", 0).bind { |socket| socket.local_address.ip_port }
      said = File.join(directory, "said")
      paths = $LOAD_PATH.first(3).flat_map { |path| ["-I", path] }
      pid = spawn({"LOG" => File.join(directory, "log"), **env}, RbConfig.ruby, *paths, Gem.bin_path("puma", "puma"), "-b", "tcp://127.0.0.1:#{port}",
                  *options, File.join(directory, "config.ru"), chdir: directory, %i[out err] => said)
      begin
        wait_for(port, said)
        yield port, directory
      ensure
        Process.kill(:TERM, pid)
        Process.wait(pid)
      end
    end
  end

  # What comes back for these paths, `at_once` at a time, as {path => [responses]}.
  def get(port, paths, at_once:)
    left = Thread::Queue.new(paths).close
    Array.new(at_once) do
      Thread.new do
        Net::HTTP.start("127.0.0.1", port) do |http|
          answers = []
          while (path = left.pop)
            answers << [path, http.get(path)]
          end
          answers
        end
      end
    end.flat_map(&:value).group_by(&:first).transform_values { |pairs| pairs.map(&:last) }
  end

  private

  def wait_for(port, said)
    200.times do
      return if Net::HTTP.start("127.0.0.1", port) { |http| http.get("/up") }
    rescue Errno::ECONNREFUSED, EOFError, Errno::ECONNRESET
      sleep 0.05
    end
    raise "puma does not answer:\n#{File.read(said)}"
  end
end
