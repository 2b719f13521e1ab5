# frozen_string_literal: true

# Real PostgreSQL and Redis servers for tests (those of examples/request-totals). Each is started by
# the first test that needs it, and stopped when all tests have ended. If one is not installed,
# tests that need it are skipped with a message. Free of assertions.

require_relative "../../../examples/request-totals/servers"

module RealServers
  def postgres
    need("pg", "ruby-pg")
    skip("needs PostgreSQL: apt-get install postgresql") unless Servers::Postgres::PROGRAMS
    $postgres ||= running(Servers::Postgres)
  end

  def redis_server
    skip("needs Redis: apt-get install redis-server") unless ENV["PATH"].split(":").any? { |path| File.executable?("#{path}/redis-server") }
    $redis_server ||= running(Servers::Redis)
  end

  # Skips the test if a gem is not installed.
  def need(gem, package)
    require gem
  rescue LoadError
    skip("needs the gem #{gem}: apt-get install #{package}")
  end

  private

  # Runs until the tests have ended. Some of them fork: only the process that started the server may
  # stop it.
  def running(kind)
    here = Process.pid
    kind.new.tap { |server| Minitest.after_run { server.stop if Process.pid == here } }
  end
end
