# frozen_string_literal: true

# Under a real server: many threads, and forked workers, with the application loaded before or after
# the fork.

require "json"
require "support/application"
require "support/puma"
require "support/servers"
require "minitest/autorun"

class PumaTest < Minitest::Test
  include Application
  include PumaServer
  include RealServers

  def setup = need("puma", "puma")

  def test_with_threads_each_request_has_exactly_its_own_calls
    with_puma(RACKUP, "-t", "5:5") do |port, log|
      check_requests(port, log, ["", "stream/", "raise/", "take/", "partial/", "after/", *("call/" if writing_bodies?)])
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
        assert_equal paths.to_h { |path| [path, path.delete("/").to_i] }, logged(log, paths.size).to_h
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

  # Rack 3's, since puma 6.
  def writing_bodies?
    require "puma/const"
    Puma::Const::PUMA_VERSION.to_i >= 6
  end
end
