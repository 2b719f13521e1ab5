# frozen_string_literal: true

# Budgets: what counts and what does not, the list in a failure, and whole tests of each framework
# with a budget.

require_relative "../support/front_end"
require_relative "../support/servers"
require "logger"

class BudgetTest < Minitest::Test
  include FrontEnd
  include Assay::Testing
  include RealServers

  def test_what_stays_within_passes_and_leaves_nothing_behind
    assert_budget(max_sleep: 0.5, max_processes: 1, max_log_lines: 2, max_allocations: 10_000) do
      sleep 0.001
      system("true")
      Logger.new(StringIO.new).info("one")
    end
    assert_nil Kernel.instance_method(:sleep).source_location
    assert_nil Kernel.method(:system).source_location
    assert_equal :write, Logger::LogDevice.instance_method(:write).name
    refute_match(/seam/, Logger::LogDevice.instance_method(:write).source_location[0])
  end

  def test_a_failure_says_how_many_and_which
    said = failure(max_sleep: 0, max_log_lines: 1, max_processes: 2, max_http: 0) do
      log = Logger.new(StringIO.new)
      log.info("user 5 at 10.0.0.1 said \"hello\"")
      log.info("user 77 at 10.0.0.2 said \"bye\"")
      log.warn("two\nlines")
      Kernel.sleep(0.002)
      2.times { `true` }
      Process.wait(spawn("true", "second"))
    end
    assert_match(/^0\.\d+ seconds of sleep, at most 0 were allowed\n  0\.\d+ × from .*budget_test\.rb:\d+$/, said)
    assert_match(/^4 lines of log, at most 1 was allowed\n  2 × I, .* : two lines$|  2 × .*user \? at \? said \?$/, said)
    assert_match(/^3 started programs, at most 2 were allowed\n  2 × true\n  1 × true second$/, said)
    refute_match(/HTTP/, said)
  end

  def test_what_is_faked_does_not_happen
    subject = Object.new
    fake_sleep(subject)
    fake_system do
      assert_budget(max_sleep: 0, max_processes: 0) do
        subject.instance_eval { sleep 100 }
        system("no such program")
      end
      assert_equal ["no such program"], commands
    end
    said = failure(max_processes: 0, max_sleep: 0) do
      fake_sleep do
        sleep 9
        `true`
      end
    end
    assert_equal "1 started program, at most 0 were allowed\n  1 × true", said
  end

  def test_a_call_count_within_a_budget_and_a_budget_within_a_call_count
    assert_budget(max_sleep: 1) { assert_calls(Kernel, :sleep, 1) { sleep 0 } }
    assert_calls(Kernel, :sleep, 1) { assert_match(/second/, failure(max_sleep: 0) { sleep 0.001 }) }
    assert_match(/\A0\.\d+ seconds/, failure(max_sleep: 0) { assert_budget(max_sleep: 1) { sleep 0.001 } })
  end

  def test_objects
    # Code that runs for the first time also allocates for the virtual machine.
    nothing = -> { 1 + 1 }
    objects = -> { [Object.new, Object.new].size }
    [nothing, objects].each { |block| assert_budget(max_allocations: 100, &block) }
    assert_budget(max_allocations: 0, &nothing)
    assert_equal "3 objects, at most 2 were allowed", failure(max_allocations: 2, &objects)
  end

  def test_other_threads_count
    assert_match(/1 started program/, failure(max_processes: 0) { Thread.new { system("true") }.join })
  end

  def test_what_the_block_raises_is_raised_and_the_end_comes_all_the_same
    assert_raises(KeyError) { assert_budget(max_processes: 0) { system("true") && {}.fetch(1) } }
    assert_nil Kernel.method(:system).source_location
  end

  def test_limits_that_make_no_sense_are_refused
    assert_match(/at least one limit: max_sql, /, assert_raises(ArgumentError) { assert_budget { 1 } }.message)
    assert_match(/max_time is no limit of a budget: max_sql, /, assert_raises(ArgumentError) { assert_budget(max_time: 1) { 1 } }.message)
    assert_match(/max_sql is a whole number, not 1.5/, assert_raises(ArgumentError) { assert_budget(max_sql: 1.5) { 1 } }.message)
    assert_match(/max_sleep is a number of seconds, not -1/, assert_raises(ArgumentError) { assert_budget(max_sleep: -1) { 1 } }.message)
    assert_match(/takes a block/, assert_raises(ArgumentError) { assert_budget(max_sql: 1) }.message)
  end

  def test_statements_of_sqlite3_without_their_values
    need("sqlite3", "ruby-sqlite3")
    database = SQLite3::Database.new(":memory:")
    database.execute("create table t1 (x, y)")
    said = failure(max_sql: 3) do
      3.times { |row| database.execute("insert into t1 values (#{row}, 'it''s #{row}')") }
      database.prepare("select * from t1 where x in (1, 2, ?)") { |statement| statement.bind_params(3) && statement.each { |row| row } }
      database.execute("select y from t1 where x = -1.5 and y <> ''")
    end
    assert_equal <<~TEXT.chomp, said
      5 SQL statements, at most 3 were allowed
        3 × insert into t1 values (?, …)
        1 × select * from t1 where x in (?, …)
        1 × select y from t1 where x = ? and y <> ?
    TEXT
  end

  def test_statements_of_pg_by_whatever_way
    port = postgres.port
    connection = PG.connect(host: "127.0.0.1", port: port, user: "postgres", dbname: "postgres")
    connection.prepare("before", "SELECT 9")
    said = failure(max_sql: 0) do
      connection.exec("SELECT 1")
      connection.query("SELECT 2")
      connection.exec_params("SELECT $1::int, $2::int WHERE 3 IN ($1, $2)", [1, 2])
      connection.prepare("within", "SELECT $1::int")
      2.times { |number| connection.exec_prepared("within", [number]) }
      connection.exec_prepared("before")
    end
    assert_equal <<~TEXT.chomp, said
      6 SQL statements, at most 0 were allowed
        2 × SELECT $1::int
        2 × SELECT ?
        1 × (prepared before) before
        1 × SELECT $1::int, $2::int WHERE ? IN (?, …)
    TEXT
  ensure
    connection&.close
  end

  def test_commands_of_redis
    need("redis", "ruby-redis")
    redis = Redis.new(host: "127.0.0.1", port: redis_server.port).tap(&:ping)
    said = failure(max_redis: 3) do
      redis.set("a", "secret")
      redis.pipelined { |pipeline| 3.times { pipeline.incr("b") } }
    end
    assert_equal "4 Redis commands, at most 3 were allowed\n  3 × incr\n  1 × set", said
  ensure
    redis&.close
  end

  def test_requests
    require "net/http"
    server = TCPServer.new("127.0.0.1", 0)
    answers = Thread.new { 2.times { server.accept.then { |client| client.readpartial(999) && client.write("HTTP/1.1 204 No\r\n\r\n") && client.close } } }
    said = failure(max_http: 1) { 2.times { |number| Net::HTTP.get_response(URI("http://127.0.0.1:#{server.addr[1]}/path?n=#{number}")) } }
    answers.join
    assert_equal "2 HTTP requests, at most 1 was allowed\n  2 × GET 127.0.0.1/path", said
  end

  METHODS = <<~'RUBY'
    include Assay::Testing
    budget max_processes: 1
    budget :test_3_may_do_more, max_processes: 3
    def setup = system("true")
    def teardown = system("true")
    def test_1_stays_within = assert(true)
    def test_2_does_too_much = system("true second")
    def test_3_may_do_more = 2.times { system("true second") }
    def test_4_fails_itself = raise("its own")
  RUBY

  def test_whole_tests_of_minitest
    out = suite("require 'minitest/autorun'\nrequire 'assay/testing'\nclass Suite < Minitest::Test\n#{METHODS}\nend\nclass Below < Suite\nend")
    assert_match(/8 runs, \d+ assertions, 2 failures, 2 errors/, out)
    assert_equal 2, out.scan("2 started programs, at most 1 was allowed\n  1 × true\n  1 × true second").size
  end

  def test_whole_tests_of_test_unit
    skip("needs test-unit (Debian: ruby-test-unit)") unless there?("test/unit/version")
    out = suite("require 'test/unit'\nrequire 'assay/testing'\nclass Suite < Test::Unit::TestCase\n#{METHODS}\nend")
    assert_match(/4 tests, \d+ assertions, 1 failures, 1 errors/, out)
    assert_match(/2 started programs, at most 1 was allowed\n\s+1 × true\n\s+1 × true second/, out)
  end

  def test_whole_examples_of_rspec
    skip("needs RSpec (Debian: ruby-rspec)") unless there?("rspec/core/version")
    out = suite(<<~'RUBY')
      require "rspec/autorun"
      require "assay/rspec"
      RSpec.describe "budgets", budget: { max_processes: 1 } do
        before { system("true") }
        it("stays within") {}
        it("does too much") { system("true second") }
        it("may do more", budget: { max_processes: 3 }) { 2.times { system("true second") } }
        it("fails itself") { system("true second") && raise("its own") }
        it("has a matcher") { expect { 1 + 1 }.to stay_within_budget(max_processes: 0) }
        it("fails by the matcher", budget: nil) { expect { system("true third") }.to stay_within_budget(max_processes: 0) }
      end
    RUBY
    assert_match(/6 examples, 3 failures/, out)
    assert_match(/2 started programs, at most 1 was allowed\n\s+1 × true\n\s+1 × true second/, out)
    assert_match(/expected the block to stay within its budget: 1 started program, at most 0 were allowed\n\s+1 × true third/, out)
  end

  def test_a_version_that_is_not_known_can_not_be_counted
    said = suite(<<~'RUBY')
      require "minitest/autorun"
      require "assay/testing"
      module SQLite3; VERSION = "7.0.0"; class Database; def execute = :plain; end; class Statement; end; end
      class Unknown < Minitest::Test
        include Assay::Testing
        budget :test_whole, max_sql: 5
        def test_block = assert_budget(max_sql: 0) { SQLite3::Database.new.execute }
        def test_whole = nil
        def test_allowed = assert_budget(max_sql: 1, uncounted: :ok) { SQLite3::Database.new.execute }
      end
    RUBY
    assert_match(/3 runs, 1 assertions, 0 failures, 2 errors/, said)
    assert_match(/max_sql: SQL statements can't be counted: sqlite3 is loaded, and of sqlite3 only >= 1\.3, < 3 is known/, said)
  end

  def test_a_library_that_is_loaded_meanwhile_is_told
    said = suite(<<~'RUBY')
      require "minitest/autorun"
      require "assay/testing"
      CLIENT = "module Mysql2; VERSION = '0.5'; class Client; def query; end; def prepare; end; end; class Statement; def execute; end; end; end"
      class Late < Minitest::Test
        include Assay::Testing
        def test_late = assert_budget(max_sql: 0) { eval(CLIENT, TOPLEVEL_BINDING) && Mysql2::Client.new.query }
      end
    RUBY
    assert_match(/mysql2 was loaded while the budget counted/, said)
  end

  private

  def failure(**limits, &block) = assert_raises(Minitest::Assertion) { assert_budget(**limits, &block) }.message

  def suite(source) = ruby(source).first

  def there?(library) = system(RbConfig.ruby, "-e", "require #{library.inspect}", err: File::NULL)
end
