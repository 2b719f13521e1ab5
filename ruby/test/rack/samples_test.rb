# frozen_string_literal: true

# Each request's totals as values for `assay`; no values without a measurement.

require "tempfile"
require "support/requests"

class SamplesTest < Minitest::Test
  include Requests

  def test_each_request_gives_its_total_and_its_rows
    given = samples { |app| [2, 0].each { |n| app.call(env("/#{n}")) } }
    assert_equal [2], values(given, "sql_calls"), "what nobody called before is not known"
    assert_equal 2, values(given, "request").size
    assert_empty given.filter_map { |line| line["unit"] } - ["s"], "a unit is said once, and is that of seconds"
    assert(values(given, "sql").all? { |seconds| seconds.positive? && seconds < values(given, "request").first })
  end

  def test_of_the_ready_patches_a_request_without_calls_counts_as_none
    require "net/http"
    Assay::Patches.apply(:net_http)
    given = samples { |app| app.call(env("/1")) }
    assert_equal [[1], [0], [0]], [values(given, "sql_calls"), values(given, "net_calls"), values(given, "net")]
  ensure
    Assay::Patches.remove
  end

  def test_where_nobody_measures_nothing_is_given
    assert_empty samples(wanted: false) { |app| app.call(env("/3")) }
  end

  def test_whoever_wants_none_gives_none
    assert_empty samples(samples: false) { |app| app.call(env("/3")) }
  end

  private

  # The resulting lines of the sample protocol.
  def samples(wanted: true, **options)
    Tempfile.create("samples") do |file|
      before = ENV.fetch("ASSAY_SAMPLES", nil)
      ENV["ASSAY_SAMPLES"] = wanted ? "path:#{file.path}" : nil
      yield middleware(->(env) { querying(env["PATH_INFO"].delete("/").to_i).call(env) }, samples: true, **options)
      Assay::Samples.flush
      return file.each_line.map { |line| JSON.parse(line) }
    ensure
      ENV["ASSAY_SAMPLES"] = before
    end
  end

  def values(given, name) = given.select { |line| line["metric"] == name }.map { |line| line["value"] }
end
