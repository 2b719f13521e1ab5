# frozen_string_literal: true

# The header Server-Timing, and the clients that receive it.

require "support/requests"

class HeaderTest < Minitest::Test
  include Requests

  def test_the_answer_says_how_many_calls_and_how_long
    status, headers, body = middleware(querying(3)).call(env)
    assert_equal [200, ["ok"]], [status, body]
    assert_match(/\Asql;dur=\d+\.\d{1,3};desc="3 calls", total;dur=\d+\.\d{1,3}\z/, headers["server-timing"])
  end

  def test_the_time_is_in_milliseconds
    patch(self.class, :slow, :slow, singleton: true)
    headers = middleware { |_| self.class.slow && [200, {}, []] }.call(env)[1]
    milliseconds = headers["server-timing"][/slow;dur=([\d.]+)/, 1].to_f
    assert_operator milliseconds, :>=, 20
    assert_operator milliseconds, :<=, headers["server-timing"][/total;dur=([\d.]+)/, 1].to_f
  end

  def self.slow = sleep(0.02)
  def self.plain = "plain"

  def test_one_call_is_no_calls
    assert_equal({"sql" => "1 call"}, described(middleware(querying(1)).call(env)[1]))
  end

  def test_a_request_that_called_nothing_has_its_total
    assert_match(/\Atotal;dur=[\d.]+\z/, middleware(querying(0)).call(env)[1]["server-timing"])
  end

  def test_a_name_that_is_no_token_becomes_one
    patch(self.class, :plain, :"Käse [1]: a", singleton: true)
    headers = middleware { |_| [200, {}, [self.class.plain]] }.call(env)[1]
    assert_match(/\AK_se__1___a;dur=/, headers["server-timing"])
  end

  def test_what_another_measured_stays
    headers = middleware(querying(1, [], {"Server-Timing" => "cache;desc=hit"})).call(env)[1]
    assert_equal ["Server-Timing"], headers.keys
    assert_match(/\Acache;desc=hit, sql;dur=.*, total;dur=/, headers["Server-Timing"])
  end

  def test_headers_that_the_application_gives_every_time_do_not_grow
    shared = {"server-timing" => "x;dur=1"}
    app = middleware(querying(1, [], shared))
    sizes = Array.new(3) { app.call(env)[1]["server-timing"].count(",") }
    assert_equal [2, 2, 2], sizes
    assert_equal({"server-timing" => "x;dur=1"}, shared)
  end

  def test_frozen_headers_and_a_frozen_answer_are_no_trouble
    answer = [200, {"a" => "b"}.freeze, ["ok"].freeze].freeze
    assert_equal %w[a server-timing], middleware(->(_) { answer }).call(env)[1].keys
  end

  def test_no_header_where_none_is_wanted
    assert_empty middleware(querying(1), header: false).call(env)[1]
    assert_equal [1], logged
  end

  def test_a_header_for_some_only
    app = middleware(querying(1), header: ->(env) { env["REMOTE_ADDR"] == "127.0.0.1" })
    assert_empty app.call(env("/", "REMOTE_ADDR" => "203.0.113.9"))[1]
    assert_equal({"sql" => "1 call"}, described(app.call(env("/", "REMOTE_ADDR" => "127.0.0.1"))[1]))
  end

  def test_what_is_neither_true_nor_false_nor_callable_is_an_error
    assert_includes assert_raises(ArgumentError) { middleware(querying(0), header: "yes") }.message, "header: takes something to call"
    assert_includes assert_raises(ArgumentError) { middleware(querying(0), only: "/api") }.message, "only: takes something to call"
    assert_includes assert_raises(ArgumentError) { middleware(querying(0), scope: :process) }.message, "scope: is :thread or :fiber"
  end
end
