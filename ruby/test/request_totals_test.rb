# frozen_string_literal: true

# A short run of examples/request-totals: its totals agree, `assay` reads the output of its load
# generator, and nothing is left behind.

require "support/front_end"
require "support/servers"
require "timeout"

class RequestTotalsTest < Minitest::Test
  include FrontEnd
  include RealServers

  SCRIPT = File.join(FrontEnd::CHECKOUT, "examples/request-totals/run.sh")

  def setup
    need("pg", "ruby-pg")
    need("redis", "ruby-redis")
    need("puma", "puma")
    need("rack", "ruby-rack")
    skip("needs PostgreSQL: apt-get install postgresql") unless Servers::Postgres::PROGRAMS
    need_program
  end

  def test_the_totals_are_those_of_the_databases_and_assay_compares_the_throughput
    said, status = Open3.capture2e({"XDG_STATE_HOME" => Dir.tmpdir}, "sh", SCRIPT, Assay::Binary.path, "--smoke")
    assert status.success?, said
    assert_match(/^SQL statements( +460){4}$/, said)
    assert_match(/^Redis commands( +520){4}$/, said)
    assert_match(/background executed [1-9]\d* statements and [1-9]\d* commands: none/, said)
    %w[off idle on].each { |kind| assert_match(%r{^#{kind} +[\d.k]+/s}, said) }
    assert_nothing_is_left(said)
  end

  def test_interrupted_it_stops_what_it_started
    IO.popen(["sh", SCRIPT, Assay::Binary.path, "--smoke", err: %i[child out]], pgroup: true) do |example|
      said = example.gets
      Process.kill(:INT, -example.pid) # Sent to the whole group, as a terminal does.
      Timeout.timeout(60) { said << example.read }
      refute_includes said, "Question 2"
      assert_nothing_is_left(said)
    end
    assert_equal 130, $?.exitstatus
  end

  private

  def assert_nothing_is_left(said)
    ports = said[/PostgreSQL on port (\d+), Redis on port (\d+)/] ? [$1, $2] : flunk("it said:\n#{said}")
    directories = said.scan(%r{/\S*assay-server\S+})
    assert_equal 2, directories.size
    assert_empty directories.select { |directory| File.exist?(directory) }
    ports.each { |port| assert_raises(Errno::ECONNREFUSED) { TCPSocket.new("127.0.0.1", port.to_i).close } }
  end
end
