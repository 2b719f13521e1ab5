# frozen_string_literal: true

# Real PostgreSQL and Redis for tests: each started once in a process, on a free port of the loopback device and in a directory of its
# own, and stopped at its end. Where one is not installed, tests that need it say so and are skipped. It stays free of assertions.

require "fileutils"
require "socket"
require "tmpdir"

module Servers
  # A server that runs until the process ends.
  class Server
    attr_reader :port, :directory

    def initialize
      @port = Addrinfo.tcp("127.0.0.1", 0).bind { |socket| socket.local_address.ip_port }
      @directory = Dir.mktmpdir("assay-server")
      @owner = Process.pid
      Minitest.after_run { stop if Process.pid == @owner } # Tests fork.
      start
    end

    def stop
      halt
      FileUtils.rm_rf(directory)
    end
  end

  # PostgreSQL, which does not run as root: then it runs as the user postgres.
  class PostgresServer < Server
    PROGRAMS = Dir["/usr/lib/postgresql/*/bin"].max

    def start
      FileUtils.chown("postgres", nil, directory) if Process.uid.zero?
      run("initdb", "-D", data, "-A", "trust", "-U", "postgres", "--no-sync")
      run("pg_ctl", "-D", data, "-w", "-l", File.join(directory, "log"), "-o",
          "-p #{port} -k #{directory} -c listen_addresses=127.0.0.1 -c fsync=off -c shared_preload_libraries=pg_stat_statements", "start")
    end

    def halt = run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")

    def connect = PG.connect(host: "127.0.0.1", port: port, user: "postgres", dbname: "postgres")

    private

    def data = File.join(directory, "data")

    def run(program, *arguments)
      as = Process.uid.zero? ? %w[setpriv --reuid=postgres --regid=postgres --clear-groups] : []
      said = File.join(directory, "said")
      system(*as, File.join(PROGRAMS, program), *arguments, chdir: "/", %i[out err] => said) or raise "#{program} failed:\n#{File.read(said)}"
    end
  end

  # Redis.
  class RedisServer < Server
    def start
      @pid = spawn("redis-server", "--port", port.to_s, "--bind", "127.0.0.1", "--save", "", "--dir", directory, %i[out err] => File::NULL)
      100.times do
        return TCPSocket.new("127.0.0.1", port).close
      rescue Errno::ECONNREFUSED
        sleep 0.05
      end
      raise "redis-server does not answer"
    end

    def halt
      Process.kill(:TERM, @pid)
      Process.wait(@pid)
    end
  end

  # The server PostgreSQL, started with the first test that asks.
  def postgres
    need("pg", "ruby-pg")
    skip("needs PostgreSQL: apt-get install postgresql") unless PostgresServer::PROGRAMS
    $postgres ||= PostgresServer.new
  end

  # The server Redis, likewise.
  def redis_server
    skip("needs Redis: apt-get install redis-server") unless ENV["PATH"].split(":").any? { |path| File.executable?("#{path}/redis-server") }
    $redis_server ||= RedisServer.new
  end

  # Skips where a gem is not installed.
  def need(gem, package)
    require gem
  rescue LoadError
    skip("needs the gem #{gem}: apt-get install #{package}")
  end
end
