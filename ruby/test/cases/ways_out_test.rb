# frozen_string_literal: true

# Cases of ruby/test/cases/README.md: ways out of a call.

require "support/cases"
require "timeout"

class WaysOutCasesTest < Minitest::Test
  include Cases

  class Worker
    def fail(error = ArgumentError.new("as asked")) = raise(error)
    def rescued = Integer("x") rescue 5
    def down(levels) = levels.zero? ? 0 : 1 + down(levels - 1)
    def over(other, levels) = levels.zero? ? 0 : other.over(self, levels - 1)
    def ping(levels) = levels.zero? ? 0 : pong(levels - 1)
    def pong(levels) = levels.zero? ? 0 : ping(levels - 1)
    def endless = endless
    def outer = inner && sleep(0.002)
    def inner = sleep(0.004)
    def each = yield(self)
    def stop = Assay::MethodProfiler.stop
    def start = Assay::MethodProfiler.start(nested: true)
    def wait = sleep(100)
  end

  def setup = @worker = Worker.new

  def test_exception_passes_untouched
    patch(Worker, :fail)
    error = ArgumentError.new("mine")
    MethodProfiler.profile { assert_same error, assert_raises(ArgumentError) { @worker.fail(error) } }
    assert(error.backtrace.any? { |line| line.start_with?(__FILE__) && line.include?("fail") })
  end

  def test_exception_is_counted_as_failed
    patch(Worker, :fail)
    row = row { @worker.fail rescue nil }
    assert_equal [1, 1, 0], [row.calls, row.errors, row.open]
  end

  def test_exception_rescued_inside_is_no_failure
    patch(Worker, :rescued)
    assert_equal [1, 0], row { @worker.rescued }.then { |row| [row.calls, row.errors] }
  end

  def test_exception_while_another_is_handled
    patch(Worker, %i[fail rescued])
    profile = MethodProfiler.profile do
      raise "first"
    rescue RuntimeError => first
      @worker.rescued
      second = assert_raises(ArgumentError) { @worker.fail }
      assert_same first, second.cause
    end
    assert_equal [2, 1], profile.rows[:work].then { |row| [row.calls, row.errors] }
  end

  def test_interrupt_passes
    patch(Worker, :fail)
    row = row { assert_raises(Interrupt) { @worker.fail(Interrupt) } }
    assert_equal [1, 1, 0], [row.calls, row.errors, row.open]
  end

  def test_exit_passes
    patch(Worker, :fail)
    MethodProfiler.profile { assert_equal 3, assert_raises(SystemExit) { @worker.fail(SystemExit.new(3)) }.status }
  end

  def test_stop_iteration_passes
    patch(Worker, :fail)
    assert_equal 1, row { loop { @worker.fail(StopIteration) } }.errors
  end

  def test_timeout_leaves_no_call_open
    patch(Worker, :wait)
    row = row { Timeout.timeout(0.01) { @worker.wait } rescue nil }
    assert_equal [1, 0], [row.calls, row.open]
  end

  def test_early_return_is_an_end
    seen = []
    owner = class_of do
      define_method(:seen) { seen }
      def work
        [1, 2].each { |one| return one }
      ensure
        seen << 1
      end
    end
    patch(owner, :work)
    assert_equal [1, 0, 0], row { owner.new.work }.then { |row| [row.calls, row.errors, row.open] }
    assert_equal [1], seen
  end

  def test_recursion_counts_calls_and_time_once
    patch(Worker, :down)
    profile = MethodProfiler.profile { @worker.down(5) }
    assert_equal [6, 1], profile.rows[:work].then { |row| [row.calls, row.outermost] }
    assert_operator profile[:work][:duration], :<=, profile.total_duration
  end

  def test_recursion_over_two_objects
    patch(Worker, :over)
    profile = MethodProfiler.profile { @worker.over(Worker.new, 4) }
    assert_equal [5, 1], profile.rows[:work].then { |row| [row.calls, row.outermost] }
    assert_operator profile[:work][:duration], :<=, profile.total_duration
  end

  def test_mutual_recursion_of_one_name
    patch(Worker, %i[ping pong])
    assert_equal [5, 1], row { @worker.ping(4) }.then { |row| [row.calls, row.outermost] }
  end

  def test_endless_recursion_is_survived
    patch(Worker, %i[endless rescued])
    MethodProfiler.profile { assert_raises(SystemStackError) { @worker.endless } }
    assert_equal [1, 0], row { @worker.rescued }.then { |row| [row.calls, row.open] }
  end

  def test_exclusive_time_is_without_others
    patch(Worker, :outer, :outer)
    patch(Worker, :inner, :inner)
    rows = MethodProfiler.profile(exclusive: true) { @worker.outer }.rows
    assert_operator rows[:outer].exclusive, :<, rows[:outer].duration - 0.003
    assert_in_delta rows[:inner].duration, rows[:inner].exclusive, 1e-4
  end

  def test_super_call_counts_where_both_are_patched
    below = Class.new(Worker) { def rescued = super + 1 }
    patch(Worker, :rescued)
    patch(below, :rescued)
    assert_equal 2, calls { assert_equal 6, below.new.rescued }
  end

  def test_callback_within_a_call
    patch(Worker, :each, :each)
    patch(Worker, :rescued, :inner)
    profile = MethodProfiler.profile { @worker.each(&:rescued) }
    assert_equal [1, 1], [profile[:each][:calls], profile[:inner][:calls]]
  end

  def test_retry_counts_every_attempt
    patch(owner = class_of { def work = (@tries = (@tries || 0) + 1) < 3 ? raise("again") : 1 }, :work)
    row = row do
      object = owner.new
      begin
        object.work
      rescue RuntimeError
        retry
      end
    end
    assert_equal [3, 2], [row.calls, row.errors]
  end

  # Its time until then is in the total, as in the last table of the page.
  def test_stop_within_a_call_is_unfinished
    patch(Worker, :stop)
    MethodProfiler.start
    row = @worker.stop.rows[:work]
    assert_equal [1, 1], [row.calls, row.open]
  end

  def test_start_within_a_call_counts_nothing_of_it
    patch(Worker, %i[start rescued], keep: true)
    @worker.start
    @worker.rescued
    row = MethodProfiler.stop.rows[:work]
    assert_equal [1, 0], [row.calls, row.open]
  end
end
