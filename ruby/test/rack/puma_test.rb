# frozen_string_literal: true

# Under a real server: many threads, and workers that were forked, with the application loaded before or after.

require "json"
require "support/puma"
require "support/servers"
require "minitest/autorun"

class PumaTest < Minitest::Test
  include PumaServer
  include RealServers

  # /N does N pieces of work, during which other requests get their turns. /stream/N does them while the body is read, /raise/N fails.
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
      next [200, {"content-type" => "text/plain"}, Body.new(count.to_i)] if kind == "stream/"
      count.to_i.times { Work.new.step }
      raise "as asked" if kind == "raise/"
      if kind == "take/"
        stream = env["rack.hijack"].call
        stream.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\ntaken")
        stream.close
        next [-1, {}, []]
      end
      [200, {"content-type" => "text/plain", "x-worker" => Process.pid.to_s}, ["ok"]]
    }
  RUBY

  def setup = need("puma", "puma")

  def test_with_threads_each_request_has_exactly_its_own_calls
    with_puma(RACKUP, "-t", "5:5") do |port, log|
      paths = (1..15).flat_map { |n| ["/#{n}", "/stream/#{n}", "/raise/#{n}", "/take/#{n}"] }.shuffle
      answers = get(port, paths, at_once: 6)
      (1..15).each do |n|
        assert_match(/\Awork;dur=[\d.]+;desc="#{n} calls?", total/, answers["/#{n}"].first["server-timing"])
        assert_match(/\Atotal/, answers["/stream/#{n}"].first["server-timing"])
        assert_equal "500", answers["/raise/#{n}"].first.code
        assert_equal "taken", answers["/take/#{n}"].first.body
      end
      assert_equal paths.to_h { |path| [path, path[/\d+/].to_i] }, logged(log, paths.size)
    end
  end

  def test_forked_workers_count_their_own_requests
    [["-w", "2", "-t", "2:2"], ["-w", "2", "-t", "2:2", "--preload"]].each do |options|
      with_puma(RACKUP, *options) do |port, log|
        paths = Array.new(60) { |n| "/#{n + 1}" }
        answers = get(port, paths, at_once: 6)
        answers.each do |path, (answer)|
          assert_match(/\Awork;dur=[\d.]+;desc="#{path.delete("/")} calls?", total/, answer["server-timing"], options.inspect)
        end
        assert_equal paths.to_h { |path| [path, path.delete("/").to_i] }, logged(log, paths.size)
      end
    end
  end

  def test_workers_give_their_samples_before_they_end
    Tempfile.create("samples") do |file|
      with_puma(RACKUP, "-w", "2", "-t", "2:2", env: {"ASSAY_SAMPLES" => "path:#{file.path}"}) do |port, _|
        get(port, Array.new(40) { "/3" }, at_once: 4)
      end
      given = file.each_line.map { |line| JSON.parse(line) }
      assert_equal({3 => 40}, given.select { |line| line["metric"] == "work_calls" }.map { |line| line["value"] }.tally)
    end
  end

  private

  # {path => calls} of the lines of the log. The last ones may come a moment after the answers: a body is closed when it was sent.
  def logged(log, requests)
    sleep(0.02) until File.foreach(log).count >= requests || (tries = tries.to_i + 1) > 200
    File.readlines(log).to_h { |line| JSON.parse(line).then { |seen| [seen["path"], seen["methods"].dig("work", "calls")] } }
  end
end
