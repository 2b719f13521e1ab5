# frozen_string_literal: true

# Cases of ruby/test/cases/README.md: profiles; threads, tasks, fibers, generators; results.

require "support/cases"
require "json"
require "rbconfig"

class ProfilesCasesTest < Minitest::Test
  include Cases

  class Worker
    def work = 1
    def each = block_given? ? 3.times { |n| yield n } : enum_for
    def fail = raise(ArgumentError)
    def fiber = Fiber.yield(:within)
  end

  def setup = @worker = Worker.new

  def test_original_is_in_place_without_a_profile
    needs_wrappers_that_go
    patch(Worker, :work)
    assert_equal Worker, in_place(@worker).owner
    calls { refute_equal Worker, in_place(@worker).owner }
    assert_equal Worker, in_place(@worker).owner
  end

  def test_kept_wrappers_count_only_within_a_profile
    patch(Worker, :work, keep: true)
    @worker.work
    assert_equal 1, calls { @worker.work }
    @worker.work
  end

  def test_nested_profiles_both_count
    patch(Worker, :work)
    inner = nil
    outer = MethodProfiler.profile { @worker.work && (inner = MethodProfiler.profile { @worker.work }) && @worker.work }
    assert_equal [3, 1], [outer, inner].map { |profile| profile[:work][:calls] }
  end

  def test_outer_stopped_before_inner
    patch(Worker, :work)
    outer = MethodProfiler.start
    inner = MethodProfiler.start(nested: true)
    @worker.work
    assert_equal 1, outer.stop[:work][:calls]
    @worker.work
    assert_equal 2, inner.stop[:work][:calls]
  end

  def test_stop_without_start_is_refused
    assert_match(/call Assay::MethodProfiler.start first/, assert_raises(MethodProfiler::NotRunning) { MethodProfiler.stop }.message)
  end

  def test_stopped_twice_is_refused
    running = MethodProfiler.start.tap(&:stop)
    assert_match(/stopped already/, assert_raises(MethodProfiler::NotRunning) { running.stop }.message)
  end

  def test_start_without_stop_does_not_leak
    patch(Worker, :work)
    _, said = capture_io { @running = Array.new(1_000) { MethodProfiler.start } }
    assert_operator said.lines.size, :<=, 1
    assert_equal [1, 999], @running.partition(&:running?).map(&:size)
    @worker.work
    assert_equal 1, MethodProfiler.stop[:work][:calls]
    assert_nil MethodProfiler.current
    assert_match(/nested: true/, assert_raises(MethodProfiler::NotRunning) { @running.first.stop }.message)
  end

  def test_exception_ends_the_block
    patch(Worker, :fail)
    assert_raises(ArgumentError) { MethodProfiler.profile { @worker.fail } }
    assert_nil MethodProfiler.current
  end

  def test_block_gives_its_value = assert_equal([1], MethodProfiler.profile { [1] }.value)

  def test_many_starts_and_stops
    patch(Worker, :work)
    counted = Array.new(1_000) { |turn| calls { (turn % 3).times { @worker.work } } }
    assert_equal Array.new(1_000) { |turn| turn % 3 }, counted
  end

  def test_call_before_and_after_is_not_counted
    patch(Worker, :work)
    @worker.work
    assert_equal 1, calls { @worker.work }
    @worker.work
    assert_nil MethodProfiler.profile { nil }[:work]
  end

  def test_process_ends_while_profiled
    program = "class K; def k = exit(3); end; Assay::MethodProfiler.patch(K, :k, :k); Assay::MethodProfiler.start; K.new.k"
    system(RbConfig.ruby, *$LOAD_PATH.first(4).flat_map { |path| ["-I", path] }, "-r", "assay", "-e", program)
    assert_equal 3, $?.exitstatus
  end

  # The child continues with a copy, as in the last table of the page.
  def test_forked_process_starts_clean
    patch(Worker, :work)
    profile = MethodProfiler.profile do
      @worker.work
      Process.wait(fork { @worker.work && exit!(MethodProfiler.stop[:work][:calls]) })
      assert_equal 2, $?.exitstatus
    end
    assert_equal 1, profile[:work][:calls]
  end

  # Threads, tasks, fibers, generators.

  def test_other_thread_is_not_counted
    patch(Worker, :work)
    assert_equal 1, calls { Thread.new { @worker.work }.join && @worker.work }
  end

  def test_threads_profile_side_by_side
    patch(Worker, :work)
    assert_equal [1, 2, 3, 4], (1..4).map { |number| Thread.new { calls { number.times { @worker.work && Thread.pass } } } }.map(&:value)
  end

  def test_thread_handed_over_is_counted
    patch(Worker, :work)
    assert_equal 2, calls { (running = MethodProfiler.current) && Thread.new { running.attach { @worker.work } && @worker.work }.join && @worker.work }
  end

  def test_pool_worker_handed_over_is_counted
    patch(Worker, :work)
    jobs, done = Queue.new, Queue.new
    pool = Thread.new { while (job = jobs.pop); job.call; done << 1; end }
    counted = calls do
      running = MethodProfiler.current
      jobs << -> { running.attach { 2.times { @worker.work } } } << -> { @worker.work }
      2.times { done.pop }
    end
    jobs << nil
    pool.join
    assert_equal 2, counted
  end

  def test_thread_ends_while_profiled
    patch(Worker, :work)
    assert_equal 1, calls { (running = MethodProfiler.current) && Thread.new { running.attach && @worker.work }.join && GC.start }
  end

  def test_tasks_of_the_context_are_counted
    patch(Worker, :work)
    assert_equal 2, calls { 2.times { Fiber.new { @worker.work }.resume } }
  end

  def test_tasks_side_by_side_do_not_mix
    patch(Worker, :work)
    fibers = [1, 2].map { |number| Fiber.new { MethodProfiler.profile(scope: :fiber) { number.times { @worker.work && Fiber.yield } }[:work][:calls] } }
    results = fibers.map { |fiber| [fiber] }
    results.each { |result| result << result.first.resume if result.first.alive? } while fibers.any?(&:alive?)
    assert_equal [1, 2], results.map(&:last)
  end

  def test_abandoned_task_leaves_no_call_open
    patch(Worker, %i[fiber work])
    Fiber.new { @worker.fiber }.tap { |fiber| MethodProfiler.profile { fiber.resume } }
    row = row { @worker.work }
    assert_equal [1, 0], [row.calls, row.open]
  end

  def test_generator_counts_when_it_is_asked
    patch(Worker, :each)
    each = @worker.each
    assert_equal 1, calls { each.next }
    assert_equal 0, calls { each.next }
  end

  def test_generator_is_timed_while_it_works
    owner = class_of { def made = @made ||= Enumerator.new { |out| 2.times { |n| work && out << n } }; def work = 1 }
    patch(owner, :work)
    profile = MethodProfiler.profile { owner.new.made.then { |made| 2.times { made.next && sleep(0.005) } } }
    assert_equal 2, profile[:work][:calls]
    assert_operator profile[:work][:duration], :<=, profile.total_duration - 0.01
  end

  def test_generator_passes_values_both_ways
    owner = class_of { def work(first) = [first, Fiber.yield(:out)] }
    patch(owner, :work)
    fiber = Fiber.new { |first| owner.new.work(first) }
    MethodProfiler.profile { assert_equal [:out, %i[in back]], [fiber.resume(:in), fiber.resume(:back)] }
  end

  def test_generator_left_unfinished
    patch(Worker, %i[each work], nil)
    each = @worker.each
    rows = MethodProfiler.profile { each.next && @worker.work }.rows
    assert_equal [[1, 1], [1, 0]], rows.values.map { |row| [row.calls, row.open] }
  end

  def test_start_and_stop_in_many_threads
    patch(Worker, :work)
    counted = Array.new(8) { |number| Thread.new { Array.new(50) { calls { number.times { @worker.work } } } } }.flat_map(&:value)
    assert_equal Array.new(8) { |number| [number] * 50 }.flatten, counted
  end

  # Results.

  def profiled
    patch(Worker, :work, :redis)
    MethodProfiler.profile { 2.times { @worker.work } }
  end

  def test_result_reads_as_in_the_article
    result = profiled
    assert_equal [2, %i[total_duration redis], %i[duration calls]], [result[:redis][:calls], result.keys, result[:redis].keys]
    assert_operator result[:total_duration], :>=, result[:redis][:duration]
    assert_equal result[:total_duration], result.total_duration
  end

  def test_result_as_json
    result = profiled
    assert_equal JSON.parse(result.to_h.to_json), JSON.parse(result.to_json)
    assert_equal 2, JSON.parse(JSON.generate([{ result: result }])).dig(0, "result", "redis", "calls")
    assert_equal 2, JSON.parse(result.rows[:redis].to_json)["calls"]
    assert_equal "redis", JSON.parse(JSON.generate(result.rows))["redis"]["name"]
  end

  def test_result_copied_to_a_dictionary
    result = profiled
    assert_instance_of Hash, result.to_h
    assert_equal result.to_h, Hash[result.to_a]
    assert_equal 2, { **result }[:redis][:calls]
    assert_equal [:total_duration, :redis, :more], { more: 1 }.merge(result).keys.rotate
  end

  def test_result_with_a_default
    result = profiled
    assert_equal [2, 7, nil], [result.fetch(:redis)[:calls], result.fetch(:sql, 7), result.dig(:sql, :calls)]
  end

  # Absent, as in the Hash of the article; see the last table of the page.
  def test_result_of_a_name_that_was_not_called
    patch(Worker, :fail, :sql)
    result = profiled
    assert_equal [nil, false], [result[:sql], result.key?(:sql)]
  end

  def test_result_of_a_name_that_is_not_known
    assert_match(/key not found: :redsi/, assert_raises(KeyError) { profiled.fetch(:redsi) }.message)
  end

  def test_result_is_iterated
    result = profiled
    assert_equal result.keys.zip(result.values), result.each.to_a
    assert_equal [:redis], result.reject { |_, value| value.is_a?(Float) }.keys
    assert_equal 2, result.sum { |_, row| row.is_a?(Hash) ? row[:calls] : 0 }
  end

  def test_result_is_serialised_and_read_back
    result = profiled
    result.value = -> {}
    back = Marshal.load(Marshal.dump(result))
    assert_equal [result, result.total_duration, result.rows, result.overhead], [back, back.total_duration, back.rows, back.overhead]
    require "yaml"
    assert_equal result.to_h, YAML.safe_load(result.to_yaml, permitted_classes: [Symbol])
  end

  def test_result_matches_a_pattern
    profiled => { total_duration: Float, redis: { calls: } }
    assert_equal 2, calls # The variable of the pattern.
    profiled.rows[:redis] => { calls: 2, errors: 0 }
  end

  def test_result_equals_its_dictionary
    result = profiled
    assert_equal [true, true, false], [result == result.to_h, result.to_h == result, result == {}]
  end

  def test_result_is_printed_as_a_table
    assert_match(/^total +[\d.]+ ms\nredis +[\d.]+ ms +2 calls$/, profiled.to_s)
    assert_match(/redis.*calls/, profiled.inspect)
  end
end
