# frozen_string_literal: true

# The log line: its contents, and that writing it does no harm.

require "logger"
require "tempfile"
require "support/requests"

class LogTest < Minitest::Test
  include Requests

  def test_a_line_of_logfmt
    middleware(querying(2), format: :logfmt).call(env("/users"))
    line = /\Atime=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z method=GET path=\/users status=200 total_ms=\d+\.\d{1,3} own_ms=\d+\.\d{1,3} sql_calls=2 sql_ms=\d+\.\d{1,3}\n\z/
    assert_match line, @log.string
  end

  def test_a_line_of_json
    middleware(querying(2)).call(env("/users", "SCRIPT_NAME" => "/app"))
    line = lines.first
    assert_equal %w[time method path status total_ms own_ms methods], line.keys
    assert_equal ["GET", "/app/users", 200], line.values_at("method", "path", "status")
    assert_equal %w[calls ms], line["methods"]["sql"].keys
  end

  def test_nothing_of_the_query_is_written
    middleware(querying(0)).call(env)
    refute_includes @log.string, "token"
  end

  def test_a_path_of_any_bytes_stays_one_line_and_one_value
    middleware(querying(0), format: :logfmt).call(env("/a b\n\"c\"=\\\xFF".b))
    assert_equal 1, @log.string.lines.size
    assert_includes @log.string, %( path="/a b\\n\\"c\\"=\\\\�" status=)
    middleware(querying(0)).call(env("/a b\n\xFF".b))
    assert_equal "/a b\n�", JSON.parse(@log.string.lines.last)["path"]
  end

  def test_a_path_without_end_is_cut
    middleware(querying(0)).call(env("/#{"x" * 5000}"))
    assert_equal 1025, lines.first["path"].size
  end

  def test_a_logger_is_written_to_as_it_is
    middleware(querying(1), log: Logger.new(@log)).call(env)
    assert_equal [1], logged
  end

  def test_requests_at_once_write_whole_lines
    Tempfile.create("log") do |file|
      app = middleware(querying(1), log: file)
      Array.new(4) { |n| Thread.new { 50.times { app.call(env("/#{n}")) } } }.each(&:join)
      paths = File.readlines(file.path).map { |line| JSON.parse(line)["path"] }
      assert_equal({"/0" => 50, "/1" => 50, "/2" => 50, "/3" => 50}, paths.tally)
    end
  end

  def test_a_disk_that_is_full_costs_the_line_and_is_told_once
    skip("needs /dev/full") unless File.exist?("/dev/full")
    File.open("/dev/full", "w") do |full|
      app = middleware(querying(1), log: full)
      _, said = capture_io { 3.times { assert_equal 200, app.call(env)[0] } }
      assert_equal 1, said.lines.size
      assert_match(/could not be written to the log \(No space left on device.*\)\. Requests go on/, said)
    end
  end

  def test_a_descriptor_that_was_closed_costs_the_line
    [StringIO.new, Tempfile.create("log")].each do |sink|
      app = middleware(querying(1), log: sink)
      sink.close
      _, said = capture_io { 2.times { assert_equal 200, app.call(env)[0] } }
      assert_equal 1, said.lines.size
    end
  end

  def test_a_reader_that_went_away_costs_the_line
    reader, writer = IO.pipe
    app = middleware(querying(1), log: writer)
    reader.close
    _, said = capture_io { assert_equal 200, app.call(env)[0] }
    assert_includes said, "Broken pipe"
  ensure
    writer.close
  end

  # Waiting would never end here.
  def test_a_pipe_that_nobody_reads_is_not_waited_for_and_later_lines_say_what_was_lost
    reader, writer = IO.pipe
    sent = 0
    capture_io do
      app = middleware(querying(1), log: writer)
      500.times { sent += 1 if app.call(env("/#{"x" * 900}"))[0] == 200 }
      first = reader.readpartial(1_000_000).lines
      assert_operator first.size, :<, 500
      app.call(env)
      assert_equal 500 - first.size, JSON.parse(reader.gets)["lost"]
      app.call(env)
      refute JSON.parse(reader.gets).key?("lost")
    end
    assert_equal 500, sent
  ensure
    reader.close
    writer.close
  end

  def test_with_standard_error_closed_too_the_request_still_goes_on
    sink = StringIO.new
    app = middleware(querying(1), log: sink)
    sink.close
    before, $stderr = $stderr, StringIO.new.tap(&:close)
    assert_equal 200, app.call(env)[0]
  ensure
    $stderr = before
  end

  def test_what_can_not_be_a_log_is_an_error_that_says_what_can
    assert_includes assert_raises(ArgumentError) { middleware(querying(0), log: "requests.log") }.message, "File.open(path, \"a\")"
    assert_includes assert_raises(ArgumentError) { middleware(querying(0), format: :xml) }.message, ":logfmt or :json"
  end
end
