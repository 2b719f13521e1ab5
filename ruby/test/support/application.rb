# frozen_string_literal: true

# The application served in tests, and its expected responses and log. Each path determines the work of a request, and how often
# it is done: the log line of the request must have this number of calls, with any other requests running. Independent of the server.

require "json"

module Application
  # The work waits a moment, so that other requests run in between.
  #
  #   /N         directly       /stream/N  while the body is read             /partial/N  through the connection, after the headers
  #   /raise/N   and fails      /call/N    in a body that writes (Rack 3)     /take/N     before it takes the connection over
  #   /after/N   directly, and again after the response was sent, which belongs to no request
  RACKUP = <<~'RUBY'
    require "assay/rack"
    class Work
      def step = sleep(0.0005)
    end
    class Body
      def initialize(count) = @count = count
      def each = @count.times { |n| Work.new.step and yield n.to_s }
    end
    Assay::MethodProfiler.patch(Work, :step, :work)
    LOG = File.open(ENV.fetch("LOG"), "a")
    use Assay::Rack, log: LOG, format: :json, only: ->(env) { env["PATH_INFO"] != "/up" }
    run lambda { |env|
      _, kind, count = env["PATH_INFO"].match(%r{/(\D*)(\d*)}).to_a
      work = -> { count.to_i.times { Work.new.step } }
      plain = {"content-type" => "text/plain"}
      case kind
      when "stream/" then next [200, plain, Body.new(count.to_i)]
      when "call/" then next [200, plain, ->(stream) { work.() and stream.write("called") and stream.close }]
      when "partial/"
        talk = lambda do |stream|
          work.()
          stream.write("partial")
          stream.close
        end
        next [200, {**plain, "connection" => "close", "rack.hijack" => talk}, []]
      when "take/"
        work.()
        stream = env["rack.hijack"].call
        stream.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\ntaken")
        stream.close
        next [-1, {}, []]
      end
      work.()
      raise "as asked" if kind == "raise/"
      if kind == "after/"
        env["rack.response_finished"]&.push(->(*) { work.() })
        env["rack.after_reply"]&.push(work)
      end
      [200, plain, ["ok"]]
    }
  RUBY

  # Sends several hundred requests of these kinds in random order, and checks each answer, its
  # header, and the log lines.
  def check_requests(port, log, kinds, at_once: 6)
    paths = kinds.product((1..90).to_a).map { |kind, n| "/#{kind}#{n % 30}?#{n}" }.shuffle
    answers = get(port, paths, at_once: at_once)
    paths.each do |path|
      answer = answers[path].first
      kind, count = path.match(%r{/(\D*)(\d+)}).captures
      assert_equal kind == "raise/" ? "500" : "200", answer.code, path
      assert_equal said(kind, count.to_i), answer.body, path unless kind == "raise/"
      assert_match(counted(count.to_i), answer["server-timing"], path) if ["", "after/"].include?(kind)
    end
    assert_equal paths.map { |path| [path[/[^?]+/], path[/\d+/].to_i] }.tally, logged(log, paths.size).tally
  end

  # Returns [[path, calls], ...] from the log lines. The last ones may appear a moment after the
  # answers, since a body is closed after it was sent.
  def logged(log, requests)
    sleep(0.02) until File.foreach(log).count >= requests || (tries = tries.to_i + 1) > 200
    File.readlines(log).map { |line| JSON.parse(line).then { |seen| [seen["path"], seen["methods"].dig("work", "calls") || 0] } }
  end

  private

  def said(kind, count)
    case kind
    when "stream/" then (0...count).to_a.join
    when "call/" then "called"
    when "partial/" then "partial"
    when "take/" then "taken"
    else "ok"
    end
  end

  # The contents of the header, without the times.
  def counted(count)
    count.zero? ? /\Atotal;/ : /\Awork;dur=[\d.]+;desc="#{count} calls?", total;/
  end
end
