# frozen_string_literal: true

# The extent of a request: its thread, and the reading of its body, but no other request; and its possible ends.

require "support/requests"

class RequestsTest < Minitest::Test
  include Requests

  # A body that works while it is read.
  class Streaming
    attr_reader :closed

    def each
      2.times { |n| yield "part #{Requests::Database.new.query(n)}" }
    end

    def close = @closed = @closed.to_i + 1
  end

  def test_each_request_has_its_own_totals
    app = middleware { |env| querying(env["PATH_INFO"].delete("/").to_i).call(env) }
    assert_equal(%w[1 5 2].map { |n| {"sql" => n == "1" ? "1 call" : "#{n} calls"} }, %w[1 5 2].map { |n| described(app.call(env("/#{n}"))[1]) })
    assert_equal [1, 5, 2], logged
  end

  def test_requests_in_threads_at_once_do_not_mix
    app = middleware do |env|
      count = env["PATH_INFO"].delete("/").to_i
      count.times { Database.new.query && sleep(0.001) }
      [200, {}, []]
    end
    said = (1..8).map { |n| Thread.new { described(app.call(env("/#{n}"))[1])["sql"].to_i } }.map(&:value)
    assert_equal (1..8).to_a, said
    assert_equal (1..8).to_a, logged.sort
  end

  def test_only_what_was_asked_for_is_counted
    app = middleware(querying(1), only: ->(env) { env["PATH_INFO"].start_with?("/api") })
    refute app.call(env("/assets/a.css"))[1].key?("server-timing")
    assert app.call(env("/api/users"))[1].key?("server-timing")
    assert_equal ["/api/users"], lines.map { |line| line["path"] }
  end

  def test_a_middleware_that_is_there_twice_counts_once
    _, headers, = middleware(middleware(querying(2))).call(env)
    assert_equal 1, headers["server-timing"].scan("total").size
    assert_equal [2], logged
  end

  def test_an_exception_passes_and_is_in_the_line
    app = middleware { |_| Database.new.fail }
    assert_equal "gone", assert_raises(IOError) { app.call(env) }.message
    line = lines.first
    assert_equal ["IOError", 1, 1], [line["error"], line["methods"]["sql"]["calls"], line["methods"]["sql"]["errors"]]
    refute line.key?("status")
    assert_nil MethodProfiler.current
  end

  def test_the_line_is_about_what_was_asked_for_whatever_the_application_writes_into_env
    app = middleware { |env| env["PATH_INFO"] = "/500" and [500, {}, []] }
    app.call(env("/boom"))
    assert_equal ["/boom", 500], lines.first.values_at("path", "status")
  end

  def test_a_throw_passes
    app = middleware { |_| Database.new.query && throw(:async, :later) }
    assert_equal :later, catch(:async) { app.call(env) }
    assert_equal [1], logged
    assert_nil MethodProfiler.current
  end

  def test_a_body_that_is_streamed_counts_while_it_is_read
    body = Streaming.new
    _, headers, wrapped = middleware(querying(1, body)).call(env)
    assert_equal({"sql" => "1 call"}, described(headers), "the header goes out before the body")
    assert_empty lines, "it is not over yet"
    Database.new.query # A call of the server, or of another request.
    assert_equal ["part 0", "part 1"], wrapped.enum_for(:each).to_a
    wrapped.close
    wrapped.close
    assert_equal [3], logged
    assert_equal 2, body.closed, "each close is handed on"
  end

  def test_a_body_may_be_read_in_another_thread
    wrapped = middleware(querying(1, Streaming.new)).call(env).last
    Thread.new { wrapped.each { |part| part } && wrapped.close }.join
    assert_equal [3], logged
  end

  def test_a_body_that_is_never_read_leaves_no_profile_behind
    app = middleware(querying(1, Streaming.new))
    app.call(env)
    assert_nil MethodProfiler.current
    app.call(env).last.close
    assert_equal [1], logged, "and what it counted is not the next one's"
  end

  def test_a_body_that_is_closed_half_read_counts_what_it_did_and_leaves_no_profile_behind
    wrapped = middleware(querying(1, Streaming.new)).call(env).last
    assert_equal "part 0", wrapped.enum_for(:each).next
    wrapped.close
    assert_equal [2], logged
    assert_nil MethodProfiler.current
  end

  # A minimal scheduler: nothing waits here.
  class Scheduler
    %i[block unblock kernel_sleep io_wait fiber_interrupt close].each { |name| define_method(name) { |*| nil } }
    def fiber(&block) = Fiber.new(blocking: false, &block).tap(&:resume)
  end

  def test_under_a_fiber_scheduler_bodies_that_are_read_in_turns_do_not_mix
    app = middleware { |env| [200, {}, env["PATH_INFO"].delete("/").to_i.times.lazy.map { |n| Database.new.query(n.to_s) }] }
    Thread.new do
      Fiber.set_scheduler(Scheduler.new)
      Fiber.schedule do
        bodies = [1, 4, 2].map { |n| app.call(env("/#{n}")).last }
        readers = bodies.map { |body| body.enum_for(:each) }
        readers.reject! { |reader| finished?(reader) } until readers.empty?
        bodies.each(&:close)
      end
    end.join
    assert_equal [1, 4, 2], logged
  end

  def finished?(reader)
    reader.next
    false
  rescue StopIteration
    true
  end

  def test_a_body_that_breaks_off_is_told
    broken = Class.new { def each = Database.new.fail }.new
    wrapped = middleware(querying(0, broken)).call(env).last
    assert_raises(IOError) { wrapped.each { |part| part } }
    wrapped.close
    assert_equal ["IOError", 200], lines.first.values_at("error", "status")
    assert_nil MethodProfiler.current
  end

  def test_a_body_has_the_methods_that_it_had_and_no_others
    file = Class.new(Streaming) { def to_path = "/etc/hostname" }.new
    callable = Class.new { def call(stream) = stream << Database.new.query("x") }.new
    listed = Class.new { def each = yield("a"); def to_ary = [Database.new.query("a")] }.new
    app = ->(body) { middleware(querying(0, body)).call(env).last }
    assert_equal "/etc/hostname", app.call(file).to_path
    refute_respond_to app.call(file), :to_ary
    refute_respond_to app.call(callable), :each
    assert_raises(NoMethodError) { app.call(callable).each }
    stream = +""
    app.call(callable).tap { |body| body.call(stream) }.close
    assert_equal ["x", ["a"]], [stream, app.call(listed).to_ary]
    assert_equal [1, 1], logged, "to_ary ends the request, as it closes the body"
  end

  def test_a_connection_that_the_application_took_gets_no_header
    app = middleware { |_| Database.new.query && [-1, {}, []] }
    assert_equal [-1, {}, []], app.call(env)
    app = middleware { |env| env["rack.hijack_io"] = StringIO.new and [200, {}, []] }
    assert_equal [200, {}, []], app.call(env)
    assert_equal [true, true], lines.map { |line| line["hijacked"] }
  end

  def test_a_connection_that_is_taken_after_the_headers_counts_while_it_is_used
    talk = ->(stream) { stream << Database.new.query("hello") }
    _, headers, = middleware(querying(1, [], {"rack.hijack" => talk})).call(env)
    assert_empty lines
    headers["rack.hijack"].call(stream = +"")
    assert_equal ["hello", [2]], [stream, logged]
    assert_equal({"sql" => "1 call"}, described(headers))
  end

  def test_what_other_threads_do_is_not_the_requests_unless_they_are_attached
    app = middleware do |env|
      Thread.new { Database.new.query }.join
      Thread.new { env["assay.profile"].attach { 3.times { Database.new.query } } }.join
      [200, {}, []]
    end
    assert_equal({"sql" => "3 calls"}, described(app.call(env)[1]))
  end

  def test_with_the_scope_of_a_fiber_requests_that_take_turns_in_one_thread_do_not_mix
    app = middleware(scope: :fiber) do |env|
      env["PATH_INFO"].delete("/").to_i.times { Database.new.query && Fiber.yield }
      [200, {}, []]
    end
    said = {}
    fibers = [2, 5, 3].map { |n| Fiber.new { said[n] = described(app.call(env("/#{n}"))[1])["sql"].to_i } }
    fibers.each(&:resume) while fibers.select!(&:alive?) || fibers.any?
    assert_equal({2 => 2, 5 => 5, 3 => 3}, said)
  end

  def test_an_application_that_stops_the_profile_breaks_nothing
    app = middleware { |_| Database.new.query && MethodProfiler.stop && [200, {}, []] }
    assert_equal({"sql" => "1 call"}, described(app.call(env)[1]))
  end

  def test_profiles_of_the_application_itself_count_beside
    inner = nil
    app = middleware { |_| inner = MethodProfiler.profile { Database.new.query } and [200, {}, []] }
    assert_equal({"sql" => "1 call"}, described(app.call(env)[1]))
    assert_equal 1, inner[:sql][:calls]
  end

  def test_a_forked_worker_counts_its_own_requests
    app = middleware(querying(2))
    app.call(env)
    reader, writer = IO.pipe
    child = fork do
      reader.close
      writer << described(app.call(env)[1])["sql"]
      writer.close
      exit!(true)
    end
    writer.close
    assert_equal "2 calls", reader.read
  ensure
    Process.wait(child)
    reader.close
  end

  def test_the_wrappers_stay_in_so_that_a_request_does_not_pay_for_them
    middleware(querying(1))
    assert_includes in_place(Database.new, :query).source_location.first, "assay"
  end

  def test_racks_own_lint_finds_nothing
    begin
      require "rack"
      require "rack/lint"
      require "rack/mock"
    rescue LoadError
      skip("needs the gem rack: apt-get install ruby-rack")
    end
    inside = Rack::Lint.new(->(_) { [200, {"content-type" => "text/plain"}, Streaming.new] })
    answer = Rack::MockRequest.new(Rack::Lint.new(middleware(inside))).get("/")
    assert_equal [200, "part 0part 1"], [answer.status, answer.body]
    assert_equal [2], logged
    return if Rack.release < "3"

    talk = ->(stream) { stream.write("part #{Database.new.query(2)}") && stream.close }
    inside = Rack::Lint.new(->(_) { [200, {"content-type" => "text/plain"}, talk] })
    _, _, body = Rack::Lint.new(middleware(inside)).call(Rack::MockRequest.env_for("/"))
    stream = StringIO.new
    body.call(stream)
    body.close
    assert_equal ["part 2", [2, 1]], [stream.string, logged]
  end
end
