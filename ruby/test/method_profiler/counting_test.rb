# frozen_string_literal: true

# Counting and timing: calls, recursion, errors, exclusive time, allocations, nested profiles.

require "support/profiled"

class CountingTest < Minitest::Test
  include Profiled

  class Worker
    def work = :done
    def other = work
    def down(n) = n.zero? ? 0 : down(n - 1)
    def fail = raise(ArgumentError, "no")
    def fail_deep(n) = n.zero? ? raise("no") : fail_deep(n - 1)
    def each = yield(1)
    def throw_out = throw(:out, 5)
    def make(n) = Array.new(n) { Object.new }
    def stop = Assay::MethodProfiler.stop
    def start = Assay::MethodProfiler.start(nested: true)
    def outer = inner + inner
    def inner = Array.new(2_000) { |i| i.to_s }.size
  end

  def test_the_recorder_that_is_tested_is_the_one_that_is_meant
    assert_equal (ENV["ASSAY_RECORDER"] || MethodProfiler.recorder).to_sym, MethodProfiler.recorder
  end

  def test_the_result_has_the_shape_of_the_article
    patch(Worker, [:work, :other], :thing)
    MethodProfiler.start
    Worker.new.other
    result = MethodProfiler.stop
    assert_equal [:total_duration, :thing], result.to_h.keys
    assert_equal [:duration, :calls], result[:thing].keys
    assert_equal 2, result[:thing][:calls]
    assert_kind_of Float, result[:total_duration]
    assert_equal result[:total_duration], result.to_h[:total_duration]
    assert_operator result[:thing][:duration], :<=, result[:total_duration]
    assert_nil result[:nothing_of_this_name]
  end

  def test_without_a_name_every_method_has_its_own_row
    patch(Worker, %i[work other], nil)
    profile = MethodProfiler.profile { Worker.new.other }
    assert_equal [1, 1], [profile[:"CountingTest::Worker#work"][:calls], profile[:"CountingTest::Worker#other"][:calls]]
  end

  def test_time_is_that_of_the_clock
    patch(Worker, :each)
    profile = MethodProfiler.profile { Worker.new.each { sleep 0.02 } }
    assert_operator profile.rows[:work].duration, :>, 0.019
    assert_operator profile.rows[:work].raw_duration, :>=, profile.rows[:work].duration
    assert_operator profile.total_duration, :>=, profile.rows[:work].raw_duration
  end

  def test_recursion_counts_every_call_and_the_time_once
    patch(Worker, :down)
    profile = MethodProfiler.profile { Worker.new.down(5) }
    row = profile.rows[:work]
    assert_equal [6, 1], [row.calls, row.outermost]
    assert_operator row.raw_duration, :<=, profile.total_duration
  end

  def test_methods_of_one_name_that_call_each_other_count_their_time_once
    patch(Worker, %i[other work])
    row = row() { Worker.new.other }
    assert_equal [2, 1], [row.calls, row.outermost]
  end

  def test_calls_within_calls_of_a_name_do_not_count_where_the_user_says_so
    patch(Worker, %i[fail_deep other work], nested: false)
    worker = Worker.new
    row = row() { worker.other && worker.work && (worker.fail_deep(3) rescue nil) }
    assert_equal [3, 3, 1], [row.calls, row.outermost, row.errors]
  end

  def test_one_name_counts_in_one_way
    patch(Worker, :work, nested: false)
    error = assert_raises(ArgumentError) { MethodProfiler.patch(Worker, :other, :work) }
    assert_match(/nested: false/, error.message)
  end

  def test_an_exception_passes_untouched_and_is_counted
    patch(Worker, :fail)
    error = nil
    row = row() { error = assert_raises(ArgumentError) { Worker.new.fail } }
    assert_equal [1, 1], [row.calls, row.errors]
    assert_equal "no", error.message
    assert_nil error.cause
    assert_match(/counting_test\.rb.*in .*fail/, error.backtrace.first)
  end

  def test_every_call_that_an_exception_ends_counts_as_failed
    patch(Worker, :fail_deep)
    row = row() { Worker.new.fail_deep(3) rescue nil }
    assert_equal [4, 4, 1], [row.calls, row.errors, row.outermost]
  end

  def test_an_exception_that_is_being_handled_by_the_caller_is_not_the_method_s
    patch(Worker, :work)
    row = row() do
      raise "outside"
    rescue RuntimeError => e
      Worker.new.work
      assert_same e, $!
    end
    assert_equal 0, row.errors
  end

  def test_throw_and_break_and_next_are_no_errors
    patch(Worker, %i[throw_out each])
    worker = Worker.new
    row = row() do
      assert_equal 5, catch(:out) { worker.throw_out }
      assert_equal 6, worker.each { break 6 }
      assert_equal 7, worker.each { next 7 }
      worker.each { |_| worker.each { nil } }
    end
    assert_equal [5, 0, 0], [row.calls, row.errors, row.open]
  end

  def test_after_an_exception_or_a_throw_depth_is_as_it_was
    patch(Worker, %i[fail throw_out work])
    worker = Worker.new
    row = row() do
      worker.fail rescue nil
      catch(:out) { worker.throw_out }
      worker.work
    end
    assert_equal [3, 3], [row.calls, row.outermost]
  end

  def test_an_exception_of_another_thread_leaves_no_call_open
    patch(Worker, :each)
    patch(Worker, :work, :after)
    entered = Queue.new
    profile = nil
    thread = Thread.new do
      MethodProfiler.start
      begin
        Worker.new.each { entered << 1 && sleep }
      rescue Interrupt
        Worker.new.work
      end
      profile = MethodProfiler.stop
    end
    entered.pop
    thread.raise(Interrupt)
    thread.join
    assert_equal [1, 1, 0], [profile.rows[:work].calls, profile.rows[:work].errors, profile.rows[:work].open]
    assert_equal 1, profile.rows[:after].calls
  end

  def test_stop_within_the_method_counts_it_as_not_ended
    patch(Worker, :stop)
    MethodProfiler.start
    profile = Worker.new.stop
    assert_equal [1, 1], [profile.rows[:work].calls, profile.rows[:work].open]
    assert_operator profile.rows[:work].raw_duration, :>, 0
    assert_equal 1, calls { Worker.new.stop rescue nil }
  end

  def test_a_call_that_began_before_the_profile_is_not_counted
    patch(Worker, %i[start work])
    outer = MethodProfiler.start # So that the wrapper is installed.
    Worker.new.start
    Worker.new.work
    inner = MethodProfiler.stop
    assert_equal 1, inner.rows[:work].calls
    assert_equal [2, 0], [outer.stop.rows[:work].calls, outer.profile.rows[:work].open]
  end

  def test_stop_without_start_is_an_error_that_says_what_to_do
    error = assert_raises(MethodProfiler::NotRunning) { MethodProfiler.stop }
    assert_match(/call Assay::MethodProfiler\.start first/, error.message)
  end

  def test_a_profile_is_stopped_once
    running = MethodProfiler.start
    profile = running.stop
    assert_raises(MethodProfiler::NotRunning) { running.stop }
    assert_raises(MethodProfiler::NotRunning) { running.attach }
    assert_raises(MethodProfiler::NotRunning) { running.detach }
    assert_same profile, running.profile
    refute_predicate running, :running?
  end

  def test_profiles_may_be_nested_and_both_count
    patch(Worker, :work)
    worker = Worker.new
    outer = MethodProfiler.start
    worker.work
    inner = MethodProfiler.start(nested: true)
    assert_same inner, MethodProfiler.current
    worker.work
    assert_equal 1, MethodProfiler.stop[:work][:calls]
    assert_same outer, MethodProfiler.current
    worker.work
    assert_equal 3, MethodProfiler.stop[:work][:calls]
    assert_nil MethodProfiler.current
  end

  def test_the_outer_profile_may_end_before_the_inner
    patch(Worker, :work)
    outer = MethodProfiler.start
    inner = MethodProfiler.start(nested: true)
    Worker.new.work
    assert_equal 1, outer.stop[:work][:calls]
    Worker.new.work
    assert_equal 2, inner.stop[:work][:calls]
  end

  def test_nested_profiles_with_other_options_do_not_disturb_each_other
    patch(Worker, %i[outer inner], nil)
    worker = Worker.new
    profiles = 2.times.flat_map do |turn|
      outer = MethodProfiler.start(exclusive: turn.zero?)
      worker.outer
      inner = MethodProfiler.start(exclusive: turn == 1, allocations: true, nested: true)
      worker.outer
      [inner.stop, outer.stop]
    end
    assert_equal [2, 4, 2, 4], (profiles.map { |profile| profile[:"CountingTest::Worker#inner"][:calls] })
    assert_equal [false, true, true, false], (profiles.map { |profile| profile[:"CountingTest::Worker#inner"].key?(:exclusive) })
  end

  def test_the_block_form_gives_the_profile_with_the_block_s_value_and_lets_exceptions_pass
    patch(Worker, :work)
    profile = MethodProfiler.profile { Worker.new.work }
    assert_equal [:done, 1], [profile.value, profile[:work][:calls]]
    assert_raises(KeyError) { MethodProfiler.profile { raise KeyError } }
    assert_nil MethodProfiler.current
    assert_raises(ArgumentError) { MethodProfiler.profile }
    assert_equal 0, MethodProfiler.profile { MethodProfiler.stop }.rows.size
  end

  def test_exclusive_time_is_without_the_patched_methods_that_were_called
    patch(Worker, :outer, :outer)
    patch(Worker, :inner, :inner)
    profile = MethodProfiler.profile(exclusive: true) { 5.times { Worker.new.outer } }
    outer, inner = profile.rows.values_at(:outer, :inner)
    assert_equal [5, 10], [outer.calls, inner.calls]
    assert_in_delta inner.duration, inner.exclusive, inner.duration * 0.01
    assert_operator outer.exclusive, :<, outer.duration - inner.duration * 0.9
    assert_nil row(:inner) { Worker.new.inner }.exclusive
  end

  def test_exclusive_time_of_a_recursion_is_that_of_all_its_calls
    patch(Worker, :down)
    row = row(exclusive: true) { Worker.new.down(50) }
    assert_equal 51, row.calls
    assert_operator row.exclusive, :<=, row.raw_duration
    assert_equal 3, row(exclusive: true) { Worker.new.fail_deep(3) rescue Worker.new.down(2) }.calls
  end

  def test_allocations_are_exact_while_one_thread_runs
    patch(Worker, :make)
    worker = Worker.new
    3.times { row(allocations: true) { worker.make(1) } } # Ruby's own caches of call sites are also objects.
    one, many = [1, 101].map { |n| row(allocations: true) { worker.make(n) }.allocations }
    assert_equal 100, many - one
    assert_nil row { worker.make(1) }.allocations
  end

  def test_the_own_cost_is_said
    patch(Worker, :work)
    overhead = MethodProfiler.profile { 10.times { Worker.new.work } }.overhead
    assert_equal MethodProfiler.recorder, overhead.recorder
    assert_operator overhead.per_call, :>, 0
    assert_operator overhead.subtracted, :>=, 0
    assert_operator overhead.subtracted, :<=, overhead.per_call * 1.5
    assert_in_delta overhead.per_call * 10, overhead.total, 1e-12
  end

  # By counts, since a busy machine makes any duration longer. `many` waits, so that the subtracted
  # cost is never all of it.
  def test_the_own_cost_of_all_nested_calls_is_subtracted
    patch(Looping, :many, :many)
    patch(Looping, :one, :one)
    profile = MethodProfiler.profile { 2.times { Looping.new.many } }
    many, one = profile.rows.values_at(:many, :one)
    assert_equal [2, 2_000], [many.calls, one.calls]
    cost = profile.overhead
    assert_in_delta 2 * cost.subtracted + 2_000 * cost.per_call, many.raw_duration - many.duration, 1e-9
    assert_in_delta [one.raw_duration - 2_000 * cost.subtracted, 0].max, one.duration, 1e-9
  end

  class Looping
    def one = nil

    def many
      1_000.times { one }
      sleep 0.01
    end
  end

  def test_the_table_names_everything
    patch(Worker, %i[work fail_deep])
    text = MethodProfiler.profile(exclusive: true, allocations: true) { Worker.new.work && (Worker.new.fail_deep(1) rescue nil) }.to_s
    ["total", "work", "3 calls", "self", "objects", "2 failed", "own cost"].each { |word| assert_includes text, word }
    assert_match(/ 1 call$/, MethodProfiler.profile { Worker.new.work }.to_s)
  end

  def test_options_that_do_not_exist_are_errors
    assert_raises(ArgumentError) { MethodProfiler.start(scope: :process) }
    assert_raises(ArgumentError) { MethodProfiler.start(exclude: true) }
    assert_nil MethodProfiler.current
  end

  # The cost is measured for the usual path of calls: with the recorder in Ruby only the first call of a profile uses a door.
  def test_the_own_cost_is_that_of_the_common_way
    return assert_equal(:native, MethodProfiler.recorder) unless MethodProfiler.recorder == :ruby # It has only one path.

    doors = 0
    counting = TracePoint.new(:call) { |point| doors += 1 if point.method_id == :door }
    calibration = MethodProfiler.const_get(:Calibration)
    counting.enable # Of all threads: it measures in a separate one.
    Thread.new { calibration.send(:measure, false, false) }.join
    counting.disable
    assert_operator doors, :<=, calibration.const_get(:ROUNDS) * 2
  end
end
