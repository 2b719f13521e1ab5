# frozen_string_literal: true

# The clients of MySQL: their counts equal the server's statistics. trilogy is not packaged by Debian, so a class of the same structure is
# tested as well.

require "support/profiled"
require "support/servers"
require "support/mariadb"
require "json"
require "stringio"

class MysqlTest < Minitest::Test
  include Profiled
  include RealServers

  REQUESTS = Integer(ENV.fetch("ASSAY_TEST_REQUESTS", "300"))

  def teardown
    super
    Assay::Patches.remove
  end

  def test_trilogy_counts_what_the_server_was_asked
    need("trilogy", "none there; gem install trilogy")
    check_requests(:trilogy) { Trilogy.new(host: "127.0.0.1", port: mariadb.port, username: "root") }
  end

  def test_mysql2_counts_what_the_server_was_asked
    need("mysql2", "ruby-mysql2")
    check_requests(:mysql2) { Mysql2::Client.new(host: "127.0.0.1", port: mariadb.port, username: "root") }
  end

  def test_trilogy_counts_each_statement_once_by_whatever_name
    skip("the gem itself is there") if there?("trilogy")
    stand_in
    Assay::Patches.apply(:trilogy)
    client = Trilogy.allocate
    row = row(:sql) do
      2.times { client.query("SELECT 1") }
      client.query_with_flags("SELECT 1", 0)
      client.ping
    end
    assert_equal 3, row.calls
  ensure
    Assay::Patches.remove
    Object.send(:remove_const, :Trilogy) if defined?(Trilogy::STAND_IN)
  end

  private

  def there?(gem)
    require gem
  rescue LoadError
    false
  else
    true
  end

  def stand_in
    Object.const_set(:Trilogy, Class.new do
      const_set(:STAND_IN, true)
      const_set(:VERSION, "2.9.0")
      attr_accessor :query_flags

      def query(_text) = []
      def ping = true

      def query_with_flags(text, flags)
        self.query_flags = flags
        query(text)
      end
    end)
  end

  def mariadb
    skip("needs MariaDB: apt-get install mariadb-server-core") unless Servers::Mariadb::PROGRAM
    $mariadb ||= running(Servers::Mariadb)
  end

  # Requests of 1 to 9 statements, 20 at a time: each log line has its own count, and the total is
  # the server's.
  def check_requests(library, &connect)
    Assay::Patches.apply(library)
    log = StringIO.new
    application = Assay::Rack.new(->(env) { statements(env) && [200, {}, ["ok"]] }, log: log, format: :json)
    wanted = Array.new(REQUESTS) { |number| number % 9 + 1 }
    requests = Queue.new
    wanted.each_with_index { |count, number| requests << ["/#{number}", count] }
    connections = Array.new(20, &connect)
    before = asked(connections.first)
    connections.map { |connection| Thread.new { serve(application, requests, connection) } }.each(&:join)
    assert_equal wanted.sum, asked(connections.first) - before - 1, "the server"
    counted = log.string.lines.to_h { |line| JSON.parse(line).then { |fields| [fields["path"][1..].to_i, fields.dig("methods", "sql", "calls")] } }
    assert_equal wanted, counted.sort.map(&:last)
  ensure
    connections&.each(&:close)
  end

  def serve(application, requests, connection)
    while (path, count = (requests.pop(true) rescue nil))
      application.call({ "REQUEST_METHOD" => "GET", "PATH_INFO" => path, :connection => connection, :count => count })
    end
  end

  def statements(env) = env[:count].times { |number| env[:connection].query("SELECT #{number}") }

  def asked(connection) = connection.query("SHOW GLOBAL STATUS LIKE 'Questions'").to_a.first.then { |row| (row.is_a?(Hash) ? row["Value"] : row.last).to_i }
end
