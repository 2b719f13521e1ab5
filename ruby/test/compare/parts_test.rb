# frozen_string_literal: true

# The parts of Assay.compare that need no program: plans, sides, jobs, and reading an analysis.

require "minitest/mock"
require_relative "../support/front_end"

class ComparePartsTest < Minitest::Test
  Compare = Assay::Compare

  def test_shares_and_amounts_are_read_as_people_write_them
    assert_equal({ relative: 0.05 }, Compare::Plan.amount("by", "5%"))
    assert_equal({ relative: 0.05 }, Compare::Plan.amount("by", 0.05))
    assert_equal "s", Compare::Plan.amount("by", "50ns")[:absolute][:unit]
    assert_in_delta 5e-8, Compare::Plan.amount("by", "50 ns")[:absolute][:value], 1e-20
    ["5 miles", "-1%", "abc", -0.1, nil, "100%", "-5ns"].each do |wrong|
      error = assert_raises(ArgumentError, wrong.inspect) { Compare::Plan.amount("by", wrong) }
      assert_match(/by: is a share such as "5%"/, error.message)
    end
  end

  def test_a_plan_says_what_is_wrong_with_it
    assert_match(/time: is a number of seconds, not "5"/, assert_raises(ArgumentError) { Compare::Plan.new(time: "5") }.message)
    assert_match(/confidence: is from 50% to below 100%/, assert_raises(ArgumentError) { Compare::Plan.new(confidence: "100%") }.message)
    assert_match(/primary: is "wall", "cpu" or "auto", not :gpu/, assert_raises(ArgumentError) { Compare::Plan.new(primary: :gpu) }.message)
    assert_match(/seed: is a whole number/, assert_raises(ArgumentError) { Compare::Plan.new(seed: -1) }.message)
  end

  def test_a_plan_keeps_the_level_of_looks_in_proportion_to_the_error_that_is_allowed
    assert_in_delta 0.002, Compare::Plan.new.to_h("wall")[:stop][:look_level], 1e-15
    assert_in_delta 0.0004, Compare::Plan.new(confidence: "99%").to_h("wall")[:stop][:look_level], 1e-15
  end

  def test_looks_are_taken_where_the_program_has_them_and_not_before_dependence_can_be_tested
    looks = []
    looks << Compare::Plan.look_after(looks.last || 0) until looks.last == 1024
    assert_equal [24, 34, 48, 67, 95, 135, 190, 269, 381, 538, 761, 1024], looks
    assert_equal 1024, Compare::Plan.look_after(1024)
  end

  def test_a_block_is_called_so_many_times_and_one_with_an_argument_is_told_how_many
    calls = 0
    Compare::Side.new("plain") { calls += 1 }.run(7)
    told = nil
    Compare::Side.new("times") { |times| told = times }.run(7)
    $compared = 0
    Compare::Side.new("text", "$compared += 1").run(7)
    assert_equal [7, 7, 7], [calls, told, $compared]
  end

  def test_a_method_object_and_a_lambda_are_sides_too
    list = []
    Compare::Side.new("lambda", &-> { list << 1 }).run(2)
    Compare::Side.new("method", &list.method(:clear)).run(2)
    assert_empty list
  end

  def test_a_report_that_can_not_be_meant_is_told
    assert_match(/needs a block or a text/, assert_raises(ArgumentError) { Compare::Side.new("x") }.message)
    assert_match(/one of them/, assert_raises(ArgumentError) { Compare::Side.new("x", "1") { 1 } }.message)
    assert_match(/not 2 arguments/, assert_raises(ArgumentError) { Compare::Side.new("x") { |a, b| a + b } }.message)
    assert_match(/is not Ruby/, assert_raises(ArgumentError) { Compare::Side.new("x", "1 +") }.message)
    assert_match(/needs a name/, assert_raises(ArgumentError) { Compare::Side.new("") { 1 } }.message)
  end

  def test_a_job_takes_the_words_of_benchmark_ips_and_no_others
    job = Compare::Job.new
    job.config(time: 1, warmup: 0.5)
    job.time = 2
    job.report("a") { 1 }
    job.compare!(order: :baseline)
    assert_equal [2.0, 0.5], [job.plan.time, job.plan.warmup]
    assert_match(/there is no setting stats.*time, warmup, threshold/, assert_raises(ArgumentError) { job.config(stats: :bootstrap) }.message)
    assert_match(/two reports are called `a`/, assert_raises(ArgumentError) { job.report("a") { 2 } }.message)
  end

  def test_one_report_is_no_comparison
    assert_match(/two reports at least, here are 1/, assert_raises(ArgumentError) { Assay.compare { |x| x.report("a") { 1 } } }.message)
    assert_match(/takes a block/, assert_raises(ArgumentError) { Assay.compare }.message)
  end

  def test_a_direction_that_is_known_is_settled_when_its_size_is_known_well_enough
    settled = ->(**fields) { Compare::Comparison.new(answer(**fields)).settled? }
    assert settled.(verdict: "faster", possibly_below_threshold: false)
    assert settled.(verdict: "equivalent", possibly_below_threshold: false)
    refute settled.(verdict: "inconclusive", possibly_below_threshold: false)
    refute settled.(verdict: "slower", possibly_below_threshold: true, ratio: { "estimate" => 1.01, "lower" => 1.001, "upper" => 1.02 })
    assert settled.(verdict: "slower", possibly_below_threshold: true, ratio: { "estimate" => 1.01, "lower" => 1.006, "upper" => 1.014 })
    refute settled.(verdict: "faster", possibly_below_threshold: false, dependence: "noticed")
    refute settled.(verdict: "faster", possibly_below_threshold: false, dependence: "too_strong")
    assert settled.(verdict: "faster", possibly_below_threshold: false, dependence: "not_tested")
  end

  def test_an_interval_without_ends_is_neither_below_nor_above_anything
    open = Compare::Interval.new(1.0, nil, nil)
    refute open.below?(2)
    refute open.above?(0)
  end

  def test_progress_is_told_on_terminals_only_and_not_too_often
    io = StringIO.new
    assert_nil Compare::Progress.wanted(io)
    progress = Compare::Progress.new(io)
    100.times { |block| progress.tell(block, 1e9, 4e9) }
    progress.clear
    assert_equal "\rassay: block 0, 1.0 s of 4.0 s at most \r\e[K", io.string
  end

  def test_allocations_are_counted_and_not_the_counting
    none = Compare::Side.new("none") { nil }
    two = Compare::Side.new("two") { [Object.new] }
    counts = Array.new(2) { [none, two].map { |side| Compare::Stopwatch.allocations(side, 100) } }
    assert_equal [0, 2], counts.last, "the first counts are the virtual machine's too"
  end

  # Wall time, this thread's CPU time, its time in the queue for a processor, the process's CPU time: before and after a batch.
  def test_a_side_waits_when_it_neither_computes_nor_is_queued
    {[100, 99.5, 0, 99.5] => nil, [100, 40, 60, 40] => nil, [100, 40, 50, 40] => 0.1, [100, 100, 0, 150] => 0.5, [100, 1, 0, 101] => 1.0}.each do |after, share|
      waiting = Compare::Waiting.new([side = Compare::Side.new("a") { 1 }])
      readings = [[0, 0, 0, 0], after]
      waiting.define_singleton_method(:read) { readings.shift }
      assert_equal :given, waiting.watch(side) { :given }
      share ? assert_equal(["a", share], waiting.longest, after) : assert_nil(waiting.longest, after)
    end
  end

  # Other programs have the processor during every batch of one side: the batches of both sides are
  # nevertheless equally long.
  def test_how_long_batches_are_does_not_depend_on_the_queue_for_a_processor
    sides = %w[disturbed alone].map { |name| Compare::Side.new(name) { 1 } }
    queued = 0
    read = lambda do |side, times|
      queue = side.name == "disturbed" ? 30_000_000 : 0
      queued += queue
      Compare::Stopwatch::Reading.new(times * 1_000 + queue, times * 1_000, 0, 0)
    end
    experiment = Compare::Experiment.new(sides, Compare::Plan.new(warmup: 0))
    experiment.waiting.define_singleton_method(:queued) { queued }
    Compare::Stopwatch.stub(:read, read) { experiment.send(:calibrate) }
    assert_equal [1_000, 1_000], sides.map(&:iterations)
  end

  # A pause of the virtual machine does not count as waiting of a side.
  def test_the_median_batch_says_how_much_a_side_waits
    waiting = Compare::Waiting.new([side = Compare::Side.new("a") { 1 }])
    assert_nil waiting.longest
    readings = [100, 30, 100, 100, 20].flat_map { |computed| [[0, 0, 0, 0], [100, computed, 0, computed]] }
    waiting.define_singleton_method(:read) { readings.shift }
    5.times { waiting.watch(side) { nil } }
    assert_equal({"a" => 0.0}, waiting.shares)
  end

  def test_a_side_that_sleeps_waits
    sides = [Compare::Side.new("sleeps") { sleep 0.001 }, Compare::Side.new("computes") { 1 }]
    waiting = Compare::Waiting.new(sides)
    5.times { sides.each { |side| waiting.watch(side) { side.run(side.name == "sleeps" ? 2 : 20_000) } } }
    assert_equal "sleeps", waiting.longest.first
  end

  private

  def answer(**fields)
    { verdict: "faster", scale: "ratio", threshold: 0.01, ratio: { "estimate" => 0.5, "lower" => 0.4, "upper" => 0.6 }, dependence: "none_found" }.merge(fields).transform_keys(&:to_s)
  end
end
