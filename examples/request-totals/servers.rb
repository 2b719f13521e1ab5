# frozen_string_literal: true

# Temporary servers of PostgreSQL, Redis and puma: each on a free port of the loopback device, with files in its own directory, which is
# removed with it. The caller that starts a server stops it. This file must not depend on the experiment.

require "fileutils"
require "rbconfig"
require "socket"
require "tmpdir"

module Servers
  # Common parts of the servers. `start` of a subclass returns the process, or nil if the subclass defines `halt`.
  class Server
    # The port, the directory and the process.
    attr_reader :port, :directory, :pid

    def initialize
      @port = Addrinfo.tcp("127.0.0.1", 0).bind { |socket| socket.local_address.ip_port }
      @directory = Dir.mktmpdir("assay-server")
      @pid = start
      wait
    rescue Exception # Nothing may be left behind, even after an interrupt.
      stop
      raise
    end

    # Stops the server and removes its files; a second call does nothing.
    def stop
      return unless @directory

      halt
      FileUtils.rm_rf(@directory)
      @directory = nil
    end

    private

    def halt
      return unless @pid

      Process.kill(:TERM, @pid)
      Process.wait(@pid)
    end

    def said = File.join(directory, "said")

    # Waits until the server answers.
    def wait
      200.times do
        return TCPSocket.new("127.0.0.1", port).close
      rescue Errno::ECONNREFUSED
        check_alive
        sleep 0.05
      end
      raise "#{self.class} does not answer:\n#{File.read(said)}"
    end

    def check_alive
      return unless @pid && Process.wait(@pid, Process::WNOHANG)

      @pid = nil
      raise "#{self.class} has ended:\n#{File.read(said)}"
    end
  end

  # PostgreSQL refuses to run as root; then it runs as the user postgres.
  class Postgres < Server
    PROGRAMS = Dir["/usr/lib/postgresql/*/bin"].max_by { |path| path[/\d+/].to_i }

    private

    # No data needs to outlive the server, so it need not wait for a disk.
    def start
      FileUtils.chown("postgres", nil, directory) if Process.uid.zero?
      run("initdb", "-D", data, "-A", "trust", "-U", "postgres", "--no-sync")
      settings = {listen_addresses: "127.0.0.1", fsync: "off", shared_preload_libraries: "pg_stat_statements"}
      run("pg_ctl", "-D", data, "-w", "-l", File.join(directory, "log"), "-o",
          "-p #{port} -k #{directory} #{settings.map { |name, value| "-c #{name}=#{value}" }.join(" ")}", "start")
      nil
    end

    def halt = File.exist?(File.join(data, "postmaster.pid")) && run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")

    def data = File.join(directory, "data")

    def run(program, *arguments)
      as = Process.uid.zero? ? %w[setpriv --reuid=postgres --regid=postgres --clear-groups] : []
      system(*as, File.join(PROGRAMS, program), *arguments, chdir: "/", %i[out err] => said) or raise "#{program} failed:\n#{File.read(said)}"
    end
  end

  # Redis without persistence.
  class Redis < Server
    private

    def start = spawn("redis-server", "--port", port.to_s, "--bind", "127.0.0.1", "--save", "", "--dir", directory, %i[out err] => said)
  end

  # puma with this config.ru and these options, in a separate environment. It finds the same
  # libraries as this process.
  class Puma < Server
    def initialize(rackup, *options, env: {})
      @rackup = rackup
      @options = options
      @env = env
      super()
    end

    # Returns the path of the application's log, which is removed with the server.
    def log = File.join(directory, "log")

    private

    def start = spawn({"LOG" => log, **@env}, *command, %i[out err] => said)

    def command = [RbConfig.ruby, *load_path, Gem.bin_path("puma", "puma"), "-b", "tcp://127.0.0.1:#{port}", *@options, @rackup]

    def load_path = $LOAD_PATH.first(4).flat_map { |path| ["-I", path] }
  end
end
