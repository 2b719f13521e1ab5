# frozen_string_literal: true

# Real PostgreSQL and Redis for tests, those of examples/request-totals: each started with the first test that asks, and stopped when
# the tests have ended. Where one is not installed, tests that need it say so and are skipped. It stays free of assertions.

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

  # Skips where a gem is not installed.
  def need(gem, package)
    require gem
  rescue LoadError
    skip("needs the gem #{gem}: apt-get install #{package}")
  end

  private

  # Until the tests have ended. Some of them fork: only the process that started it may stop it.
  def running(kind)
    here = Process.pid
    kind.new.tap { |server| Minitest.after_run { server.stop if Process.pid == here } }
  end
end
