# frozen_string_literal: true

# SQL statements: the counts of each library compared with those of its database.

require "support/profiled"
require "support/servers"

class SqlTest < Minitest::Test
  include Profiled
  include RealServers

  def teardown
    super
    Assay::Patches.remove
  end

  def test_each_statement_counts_once_by_whatever_name_pg_executes_it
    connection = connected
    ways = {
      "exec" => -> { connection.exec("SELECT 1") },
      "query" => -> { connection.query("SELECT 1") },
      "async_exec" => -> { connection.async_exec("SELECT 1") },
      "sync_exec" => -> { connection.sync_exec("SELECT 1") },
      "exec_params" => -> { connection.exec_params("SELECT $1::int", [1]) },
      "async_exec_params" => -> { connection.async_exec_params("SELECT $1::int", [1]) },
      "sync_exec_params" => -> { connection.sync_exec_params("SELECT $1::int", [1]) },
      "exec_prepared" => -> { connection.exec_prepared("one", [1]) },
      "async_exec_prepared" => -> { connection.async_exec_prepared("one", [1]) },
      "sync_exec_prepared" => -> { connection.sync_exec_prepared("one", [1]) },
      "send_query" => -> { connection.send_query("SELECT 1"); connection.get_last_result },
      "send_query_params" => -> { connection.send_query_params("SELECT $1::int", [1]); connection.get_last_result },
      "send_query_prepared" => -> { connection.send_query_prepared("one", [1]); connection.get_last_result }
    }
    connection.prepare("one", "SELECT $1::int + 1")
    counted = ways.transform_values { |way| [calls(:sql, &way), asked(&way)] }
    assert_equal ways.transform_values { [1, 1] }, counted
  end

  def test_what_pg_does_by_itself_counts_as_the_database_has_it
    connection = connected
    connection.exec("CREATE TEMP TABLE numbers (n int)")
    work = lambda do
      connection.transaction { connection.exec_params("INSERT INTO numbers VALUES ($1)", [7]) }
      connection.copy_data("COPY numbers FROM STDIN") { connection.put_copy_data("8\n") }
      connection.exec("SELECT n FROM numbers") { |result| result.each { connection.exec("SELECT 2") } }
      assert_raises(PG::DivisionByZero) { connection.exec("SELECT 1/0") }
    end
    assert_equal 8, calls(:sql, &work)
    row = row(:sql, &work)
    assert_equal [10, 1], [row.calls, row.errors]
  end

  def test_preparing_is_a_row_of_its_own
    connection = connected
    profile = Assay::MethodProfiler.profile { connection.prepare("two", "SELECT 2") && connection.exec_prepared("two", []) }
    assert_equal [1, 1], [profile[:sql][:calls], profile[:sql_prepare][:calls]]
  end

  def test_results_and_errors_of_pg_are_as_before
    connection = connected
    Assay::MethodProfiler.profile do
      assert_equal "3", connection.exec_params("SELECT $1::int + 1", [2]).getvalue(0, 0)
      assert_equal "3", connection.exec_params("SELECT $1::int + 1", [2]) { |result| result.getvalue(0, 0) }
      assert_raises(PG::SyntaxError) { connection.exec("SELEKT") }
    end
  end

  def test_each_statement_of_sqlite_counts_once
    need("sqlite3", "ruby-sqlite3")
    Assay::Patches.apply(:sqlite3)
    database = SQLite3::Database.new(":memory:")
    database.execute("CREATE TABLE numbers (n)")
    database.execute("INSERT INTO numbers VALUES (1), (2)")
    prepared = database.prepare("SELECT n FROM numbers WHERE n > ?")
    all = "SELECT n FROM numbers"
    {
      "execute" => [1, -> { assert_equal [[1], [2]], database.execute(all) }],
      "execute within the block of execute" => [3, -> { database.execute(all) { database.execute(all) } }],
      "execute2" => [1, -> { assert_equal 3, database.execute2(all).size }],
      "query" => [1, -> { database.query(all) { |rows| assert_equal [[1], [2]], rows.to_a } }],
      "get_first_row" => [1, -> { assert_equal [1], database.get_first_row(all) }],
      "get_first_value" => [1, -> { assert_equal 1, database.get_first_value(all) }],
      "execute_batch" => [1, -> { database.execute_batch("SELECT 1; SELECT 2") }],
      "a prepared statement, three times" => [3, -> { 3.times { |n| assert_equal 2 - n, prepared.execute([n]).to_a.size } }],
      "execute!" => [1, -> { assert_equal [[2]], prepared.execute!([1]) }],
      "transaction" => [3, -> { database.transaction { database.execute(all) } }]
    }.each { |way, (expected, work)| assert_equal expected, calls(:sql, &work), way }
  end

  def test_a_statement_of_sqlite_that_is_bound_and_read_counts_as_activerecord_needs_it
    need("sqlite3", "ruby-sqlite3")
    Assay::Patches.apply(:sqlite3)
    database = SQLite3::Database.new(":memory:")
    statement = database.prepare("SELECT ?")
    statement.bind_params([5])
    assert_equal 1, calls(:sql) { assert_equal [[5]], statement.to_a }
    statement.reset!
    assert_equal 1, calls(:sql) { assert_equal [[5]], statement.to_a }
    Assay::Patches.remove
    statement.reset!
    assert_equal [[5]], statement.to_a
    Assay::Patches.apply(:sqlite3)
    statement.reset!
    assert_equal 1, calls(:sql) { statement.to_a }
  end

  def test_a_query_of_mysql2_counts_when_it_fails_too
    need("mysql2", "ruby-mysql2")
    Assay::Patches.apply(:mysql2)
    closed = Class.new(Mysql2::Client) { def connect(*); end }.new
    row = row(:sql) { assert_raises(Mysql2::Error) { closed.query("SELECT 1") } }
    assert_equal [1, 1], [row.calls, row.errors]
  end

  private

  def connect = PG.connect(host: "127.0.0.1", port: postgres.port, user: "postgres", dbname: "postgres")

  def connected
    connection = postgres && connect
    connection.exec("SET client_min_messages = warning")
    connection.exec("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
    Assay::Patches.apply(:pg)
    connection
  end

  # The number of statements according to the server.
  def asked
    (@other ||= connect).exec("SELECT pg_stat_statements_reset()")
    yield
    @other.exec("SELECT sum(calls)::int FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'").getvalue(0, 0).to_i
  end
end
