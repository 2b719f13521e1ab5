# frozen_string_literal: true

# Counts of the hooks in a test: one operation of a library counts once, whichever method starts it; stubbed ones do not count.

require_relative "../support/suites"
require_relative "../support/servers"

class SuiteCausesTest < Minitest::Test
  include FrontEnd
  include Suites
  include RealServers

  def test_sleeps_programs_and_logs
    seen = watched(<<~'RUBY', causes: true)
      require "minitest/autorun"
      require "minitest/mock"
      require "logger"
      require "open3"
      require "stringio"
      class CausesTest < Minitest::Test
        def test_sleeps = [sleep(0.002), Kernel.sleep(0.002)]
        def test_stubbed = [Kernel.stub(:sleep, 1) { Kernel.sleep(9) }, stub(:sleep, 1) { sleep 9 }, stub(:system, true) { system("false") }]
        def test_programs
          `true`
          system("true")
          Kernel.system("true")
          Open3.capture2("true")
          IO.popen("true").read
          [Process.spawn("true"), spawn("true"), fork { exit! }, Process.fork { exit! }].each { |pid| Process.wait(pid) }
          assert_raises(Errno::ENOENT) { spawn("/no/such/program") }
        end
        def test_logs
          log = Logger.new(StringIO.new)
          log.info("two\nlines")
          log.debug("one")
          log.level = :error
          log.info("none")
          Logger.new(nil).error("none")
        end
        def test_nothing = nil
      end
    RUBY
    assert_match(/^5 runs, .* 0 failures, 0 errors/, seen.out)
    nothing = %w[log_lines sql redis sleeps http processes].to_h { |name| [name, 0] }
    counted = ->(name) { seen.causes(name).slice(*nothing.keys) }
    assert_equal nothing.merge("sleeps" => 2), counted["test_sleeps"]
    assert_operator seen.causes("test_sleeps")["sleep_time"], :>=, 0.004
    assert_equal nothing, counted["test_stubbed"]
    assert_equal nothing.merge("processes" => 10), counted["test_programs"]
    assert_equal nothing.merge("log_lines" => 3), counted["test_logs"]
    assert_equal nothing, counted["test_nothing"]
    assert_empty seen.of("problem")
  end

  def test_requests
    seen = watched(<<~'RUBY', causes: true)
      require "minitest/autorun"
      require "net/http"
      require "socket"
      class RequestsTest < Minitest::Test
        def test_requests
          server = TCPServer.new("127.0.0.1", 0)
          answers = Thread.new { 2.times { answer(server.accept) } }
          uri = URI("http://127.0.0.1:#{server.addr[1]}/")
          Net::HTTP.get(uri)
          Net::HTTP.start(uri.host, uri.port) { |http| http.post("/", "x") }
          answers.join
        end
        def answer(client)
          client.readpartial(999)
          client.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
          client.close
        end
      end
    RUBY
    assert_equal 2, seen.causes("test_requests")["http"], seen.out
    assert_operator seen.causes("test_requests")["http_time"], :>, 0
  end

  def test_statements
    skip("needs sqlite3 (Debian: ruby-sqlite3)") unless there?("sqlite3")
    seen = watched(<<~'RUBY', causes: true)
      require "minitest/autorun"
      require "sqlite3"
      class StatementsTest < Minitest::Test
        def setup = @database = SQLite3::Database.new(":memory:")
        def test_database
          @database.execute("create table a (x)")
          @database.execute("insert into a values (?)", [1])
          @database.execute_batch("select 1; select 2")
        end
        def test_statement = @database.prepare("select 1") { |statement| statement.each { |row| row } }
        def test_executed_and_read = @database.prepare("select 1") { |statement| statement.execute!; statement.execute.to_a }
        def test_within = @database.execute("select 1") { @database.execute("select 2") }
      end
    RUBY
    assert_match(/^4 runs, .* 0 failures, 0 errors/, seen.out)
    assert_equal [3, 1, 2, 2], %w[database statement executed_and_read within].map { |name| seen.causes("test_#{name}")["sql"] }
    assert_operator seen.causes("test_database")["sql_time"], :>, 0
  end

  # Without a known driver, the library above it counts; with one, statements do not count twice.
  def test_statements_of_what_stands_above_drivers
    seen = watched(<<~'RUBY', causes: true)
      require "minitest/autorun"
      module Sequel
        class Database
          def log_connection_yield(_sql) = yield
        end
      end
      class AboveTest < Minitest::Test
        def test_above = Sequel::Database.new.log_connection_yield("select 1") { Sequel::Database.new }
        def test_counted_below
          Sequel::Database.new.log_connection_yield("select 1") { AssayTests::COUNTS[AssayTests::SQL] += 1 }
        end
      end
    RUBY
    assert_equal [1, 1], %w[above counted_below].map { |name| seen.causes("test_#{name}")["sql"] }, seen.out
  end

  def test_statements_of_postgresql
    server = postgres
    seen = watched(<<~'RUBY', causes: true, env: {"PORT" => server.port.to_s})
      require "minitest/autorun"
      require "pg"
      class PostgresTest < Minitest::Test
        def setup = @connection = PG.connect(host: "127.0.0.1", port: ENV["PORT"], user: "postgres", dbname: "postgres")
        def teardown = @connection.close
        def test_plain = [@connection.exec("SELECT 1"), @connection.query("SELECT 1"), @connection.exec_params("SELECT $1::int", [1])]
        def test_prepared = [@connection.prepare("one", "SELECT $1::int"), @connection.exec_prepared("one", [1])]
        def test_transaction = @connection.transaction { @connection.exec("SELECT pg_sleep(0.01)") }
      end
    RUBY
    assert_match(/^3 runs, .* 0 failures, 0 errors/, seen.out)
    assert_equal [3, 1, 3], %w[plain prepared transaction].map { |name| seen.causes("test_#{name}")["sql"] }
    assert_operator seen.causes("test_transaction")["sql_time"], :>=, 0.01
  end

  def test_commands_of_redis
    server = redis_server
    need("redis", "ruby-redis")
    seen = watched(<<~'RUBY', causes: true, env: {"PORT" => server.port.to_s})
      require "minitest/autorun"
      require "redis"
      class RedisTest < Minitest::Test
        REDIS = Redis.new(host: "127.0.0.1", port: ENV["PORT"].to_i).tap(&:ping)
        def test_commands = [REDIS.set("a", 1), REDIS.get("a")]
        def test_pipeline = REDIS.pipelined { |pipeline| 10.times { pipeline.incr("b") } }
      end
    RUBY
    assert_match(/^2 runs, .* 0 failures, 0 errors/, seen.out)
    assert_equal [2, 10], %w[commands pipeline].map { |name| seen.causes("test_#{name}")["redis"] }
    assert_operator seen.causes("test_pipeline")["redis_time"], :>, 0
  end
end
