# frozen_string_literal: true

# The assertions: when they pass, fail, or are inconclusive, and their messages. A program with fixed answers replaces
# `assay` in tests of the decision; the real one is used where the relation is clear.

require_relative "../support/front_end"

class AssertionsTest < Minitest::Test
  include FrontEnd
  include Assay::Testing

  Testing = Assay::Testing
  # By CPU time and with a long time limit, since the machine may also run other programs.
  BY_CPU = { primary: "cpu", time: 20, inconclusive: :fail }.freeze

  # --- With fixed answers: intervals of the ratio, and of the shift in seconds.

  def test_faster_holds_when_the_program_says_so
    assert_equal :pass, faster_by(0, verdict: "faster", ratio: [0.8, 0.7, 0.9])
    assert_equal :fail, faster_by(0, verdict: "slower", ratio: [1.2, 1.1, 1.3])
    assert_equal :fail, faster_by(0, verdict: "equivalent", ratio: [1.0, 0.995, 1.005])
    assert_equal :inconclusive, faster_by(0, verdict: "inconclusive", ratio: [1.0, 0.9, 1.1])
  end

  def test_faster_by_a_share_holds_when_the_whole_interval_is_beyond_it
    assert_equal :pass, faster_by("10%", verdict: "faster", ratio: [0.8, 0.7, 0.89])
    assert_equal :inconclusive, faster_by("20%", verdict: "faster", ratio: [0.8, 0.7, 0.9])
    assert_equal :fail, faster_by("40%", verdict: "faster", ratio: [0.8, 0.7, 0.9])
  end

  def test_no_slower_holds_when_the_whole_interval_is_within_the_allowance
    assert_equal :pass, no_slower_by("5%", verdict: "slower", ratio: [1.03, 1.02, 1.04])
    assert_equal :pass, no_slower_by("5%", verdict: "faster", ratio: [0.5, 0.4, 0.6])
    assert_equal :inconclusive, no_slower_by("5%", verdict: "slower", ratio: [1.05, 1.02, 1.08])
    assert_equal :fail, no_slower_by("5%", verdict: "slower", ratio: [1.1, 1.06, 1.2])
  end

  def test_an_amount_is_held_against_the_difference_for_one_iteration
    assert_equal :pass, no_slower_by("50ns", verdict: "slower", shift: [4e-8, 3e-8, 5e-8])
    assert_equal :fail, no_slower_by("20ns", verdict: "slower", shift: [4e-8, 3e-8, 5e-8])
    assert_equal :pass, faster_by("20ns", verdict: "faster", shift: [-4e-8, -5e-8, -3e-8])
    assert_equal :inconclusive, faster_by("40ns", verdict: "faster", shift: [-4e-8, -5e-8, -3e-8])
  end

  def test_without_an_interval_nothing_is_known
    assert_equal :inconclusive, no_slower_by("5%", verdict: "inconclusive", ratio: [1.0, nil, nil])
    assert_equal :inconclusive, no_slower_by("5%", verdict: "inconclusive", ratio: nil)
  end

  def test_not_knowing_is_skipped_failed_or_passed_as_asked_for
    answering(verdict: "inconclusive", ratio: [1.0, 0.9, 1.2]) do
      skipped = assert_raises(Minitest::Skip) { assert_faster(*sides, time: 0, primary: "cpu") }
      assert_match(/\Ainconclusive: not known whether '.*first.*' is faster than '.*second.*' after 0.0 s each: said \(time: SECONDS for more\)/,
                   skipped.message)
      failed = assert_raises(Minitest::Assertion) { assert_faster(*sides, time: 0, inconclusive: :fail) }
      assert_match(/\Ainconclusive: not known .*: said/, failed.message)
      refute_kind_of Minitest::Skip, failed
      assert_equal :inconclusive, assert_no_slower(*sides, time: 0, inconclusive: :pass).kind
    end
  end

  def test_what_becomes_of_not_knowing_can_be_set_for_all_tests
    Testing.inconclusive = :fail
    answering(verdict: "inconclusive", ratio: [1.0, 0.9, 1.2]) do
      refute_kind_of Minitest::Skip, assert_raises(Minitest::Assertion) { assert_faster(*sides, time: 0) }
    end
    assert_match(/one of :skip, :fail, :pass, not :maybe/, assert_raises(ArgumentError) { Testing.inconclusive = :maybe }.message)
    assert_raises(ArgumentError) { assert_faster(*sides, inconclusive: :maybe) }
  ensure
    Testing.inconclusive = :skip
  end

  def test_a_failure_says_what_the_program_says
    answering(verdict: "slower", ratio: [1.2, 1.1, 1.3]) do
      failure = assert_raises(Minitest::Assertion) { assert_faster(*sides, time: 0) }
      assert_match(/\Asaid; expected .assertions_test\.rb:\d+ \(first\). to be faster\z/, failure.message)
      assert_match(/assertions_test\.rb/, failure.location)
    end
  end

  def test_the_bound_is_named_however_it_was_given
    answering(verdict: "slower", ratio: [3.0, 2.9, 3.1], shift: [4e-8, 3e-8, 5e-8]) do
      { "5%" => "at most 5 % slower", 0.05 => "at most 5 % slower", "150%" => "at most 150 % slower", "20ns" => "at most 20ns slower" }
        .each do |by, said|
        failure = assert_raises(Minitest::Assertion) { assert_no_slower(*sides, by: by, time: 0) }
        assert_match(/; expected '.*' to be #{said}\z/, failure.message)
      end
      failure = assert_raises(Minitest::Assertion) { assert_faster(*sides, by: "10%", time: 0) }
      assert_match(/to be at least 10 % faster\z/, failure.message)
      assert_match(/nothing takes 100 % less/, assert_raises(ArgumentError) { assert_faster(*sides, by: "100%", time: 0) }.message)
    end
  end

  # Otherwise it would report that no difference matters although the test asks for a smaller one.
  def test_the_program_is_asked_about_the_bound_unless_a_threshold_is_given
    threshold = ->(**options) { Testing::Speed.new(*sides, **options).instance_variable_get(:@plan).threshold }
    assert_equal({ relative: 0.0001 }, threshold.(by: "0.01%"))
    assert_equal({ absolute: { value: 50 * 1e-9, unit: "s" } }, threshold.(by: "50ns"))
    assert_equal({ relative: 0.02 }, threshold.(by: "0.01%", threshold: "2%"))
    [0, "400%"].each { |by| assert_equal({ relative: 0.01 }, threshold.(by: by)) }
  end

  def test_a_missing_program_is_an_error_and_no_skip
    with_variable("/no/such/assay") { assert_raises(Assay::Binary::Missing) { assert_faster(*sides) } }
    with_variable("/no/such/assay") { assert_raises(Assay::Binary::Missing) { assert_complexity(:linear, [1, 2, 3]) { 1 } } }
  end

  def test_only_what_can_be_called_is_compared
    assert_match(/is a Proc.*or a Method, not "x"/, assert_raises(ArgumentError) { assert_faster("x", -> {}) }.message)
  end

  # --- With the real program.

  def test_the_shorter_work_is_faster_and_the_longer_is_not
    need_program
    short, long = -> { burn(200) }, -> { burn(2000) }
    assert_faster short, long, by: "50%", **BY_CPU
    assert_no_slower short, long, **BY_CPU
    assert_match(/ × the CPU time of/, assert_raises(Minitest::Assertion) { assert_faster long, short, **BY_CPU }.message)
    assert_raises(Minitest::Assertion) { assert_no_slower long, short, by: "100ns", **BY_CPU }
  end

  def test_speed_is_measured_while_sleep_and_clocks_are_faked
    need_program
    fake_sleep(unused: :ok) do
      fake_time(monotonic: true, unused: :ok) { assert_faster -> { burn(200) }, -> { burn(2000) }, **BY_CPU }
    end
  end

  # Both clocks are read; whether the sides wait determines which one decides.
  def test_cpu_time_decides_where_nothing_waits_and_wall_time_where_something_does
    need_program
    by = { time: 1, inconclusive: :pass }
    assert_match(/CPU time/, assert_no_slower(-> { burn(2000) }, -> { burn(2000) }, **by).message)
    waits = assert_faster(-> { burn(100) }, -> { sleep(0.002) }, by: "50%", **by)
    refute_equal :fail, waits.kind # On a busy machine a second may be too short.
    refute_match(/CPU time/, waits.message)
  end

  def test_by_wall_time_a_skip_names_cpu_time
    answering(verdict: "inconclusive", ratio: [1.0, 0.9, 1.2]) do
      asked = assert_raises(Minitest::Skip) { assert_faster(*sides, time: 0, primary: "wall") }
      # A pause of the virtual machine counts as waiting and is reported.
      assert_match(/\(by wall time: primary: "cpu" if waiting does not matter, else time: SECONDS for more(; '.*' waits for .*)?\)/, asked.message)
      waits = assert_raises(Minitest::Skip) { assert_faster(-> { sleep 0.001 }, -> {}, time: 0) }
      assert_match(/; '.*' waits for \d+ % of its time\)/, waits.message)
      refute_match(/primary/, assert_raises(Minitest::Skip) { assert_faster(*sides, time: 0, primary: "cpu") }.message)
    end
  end

  # --- Counts.

  def test_allocations_are_exact
    assert_allocations(0) { 1 + 1 }
    assert_allocations(2) { [Object.new] }
    assert_allocations(..2) { Object.new }
    failure = assert_raises(Minitest::Assertion) { assert_allocations(1) { [Object.new] } }
    assert_match(/allocates 2 objects, expected 1\nallocated by one run:/, failure.message)
    assert_match(/1 × Object at .*assertions_test\.rb:#{__LINE__ - 2}/, failure.message)
  end

  def test_allocations_that_change_from_run_to_run_are_inconclusive
    runs = 0
    skipped = assert_raises(Minitest::Skip) { assert_allocations(1) { (runs += 1).even? ? Object.new : nil } }
    assert_match(/not the same in each run/, skipped.message)
    runs = 0
    assert_allocations(..2) { (runs += 1).even? ? Object.new : nil }
  end

  def test_calls_are_counted_and_do_what_they_always_do
    before = Array.instance_method(:first)
    assert_calls(Array, :first, 2) { assert_equal [1, [2, 3]], [[1].first, [2, 3].first(2)] }
    assert_calls(Array, :first, 0) { [1].last }
    assert_calls(Array, :first, 1..) { [1].first }
    failure = assert_raises(Minitest::Assertion) { assert_calls(Array, :first, 3) { 2.times { [1].first } } }
    assert_match(/Array#first was called 2 times, expected 3\n  2 × from .*assertions_test\.rb:#{__LINE__ - 1}/, failure.message)
    assert_equal before, Array.instance_method(:first)
  end

  def test_the_place_of_a_call_is_where_it_stands_and_not_the_caller_of_that
    asks = lambda do |list|
      list.first
    end
    failure = assert_raises(Minitest::Assertion) { assert_calls(Array, :first, 0) { asks.call([1]) } }
    assert_match(/1 × from .*assertions_test\.rb:#{__LINE__ - 3}/, failure.message)
  end

  def test_calls_of_private_inherited_and_singleton_methods_are_counted
    parent = Class.new do
      def work = step
      def self.make = new

      private

      def step = :stepped
    end
    child = Class.new(parent)
    assert_calls(child, :step, 1) do
      assert_equal :stepped, child.new.work
      parent.new.work
    end
    assert_calls(parent.singleton_class, :make, 1) { parent.make }
    assert_raises(NoMethodError) { child.new.step }
  end

  def test_a_class_with_prepended_methods_is_counted_behind_them
    wrapped = Class.new { def work = :done }
    wrapper = Module.new { def work = [super, super] }
    wrapped.prepend(wrapper)
    assert_calls(wrapped, :work, 2) { assert_equal [:done, :done], wrapped.new.work }
    assert_equal wrapper, wrapped.instance_method(:work).owner
    assert_equal [:done, :done], wrapped.new.work
  end

  def test_calls_are_counted_and_faked_beside_the_method_profiler
    skip("the method profiler is not in this gem") unless Assay.const_defined?(:MethodProfiler)
    profiler = Assay::MethodProfiler
    worker = Class.new { def work(n = 1, k: 2) = n + k }
    profiler.patch(worker, :work, :w)
    assert_calls(worker, :work, 3) do
      worker.new.work
      counted = profiler.profile { 2.times { assert_equal 4, worker.new.work(k: 3) } }
      assert_equal 2, counted.to_h[:w][:calls]
    end
    profiler.profile { assert_calls(worker, :work, 1) { worker.new.work } }
    assert_equal [3, worker], [worker.new.work, worker.instance_method(:work).owner]
  ensure
    profiler&.unpatch(worker)
  end

  def test_calls_of_other_threads_are_not_counted
    assert_calls(Array, :first, 1) { [1].first; Thread.new { [1].first }.join }
  end

  def test_what_can_not_be_counted_is_told
    assert_match(/no method `fist` in Array/, assert_raises(ArgumentError) { assert_calls(Array, :fist, 1) { 1 } }.message)
    assert_match(/class or module, not of \[\]/, assert_raises(ArgumentError) { assert_calls([], :first, 1) { 1 } }.message)
    assert_match(/whole number or a Range/, assert_raises(ArgumentError) { assert_allocations("few") { 1 } }.message)
    error = assert_raises(NoMethodError) { assert_calls(Array, :first, 1) { [].fist } }
    assert_equal :fist, error.name, "the block's own error passes"
  end

  # --- Growth.

  def test_growth_is_held_against_the_model
    need_program
    walk = ->(n) { burn(n) }
    sizes = [2_000, 4_000, 8_000, 16_000]
    assert_complexity(:linear, sizes, **BY_CPU, &walk)
    assert_complexity(:quadratic, sizes, **BY_CPU, &walk)
    failure = assert_raises(Minitest::Assertion) { assert_complexity(:constant, sizes, **BY_CPU, &walk) }
    assert_match(/from n = 2000 to 16000 the time grows like n\^[01]\.\d\d \[.* … .*\]: constant is n\^0\.00 there, and n\^0\.25 is allowed/, failure.message)
  end

  def test_growth_that_bends_upwards_is_judged_by_its_larger_sizes
    need_program
    # A fixed cost hides the quadratic growth at the smaller sizes.
    bent = ->(n) { burn(60_000 + n * n / 100) }
    assert_raises(Minitest::Assertion) { assert_complexity(:linear, [250, 500, 1_000, 2_000, 4_000, 8_000], **BY_CPU, &bent) }
  end

  def test_the_input_is_made_once_for_each_size_and_outside_the_clock
    need_program
    made = []
    assert_complexity(:linear, [1_000, 2_000, 4_000], setup: ->(n) { made << n; Array.new(n, 1) }, **BY_CPU) { |list| list.each { |one| one } }
    assert_equal [1_000, 2_000, 4_000], made
  end

  def test_a_model_of_ones_own_and_ones_that_cannot_be_meant
    need_program
    assert_complexity(->(n) { n * Math.sqrt(n) }, [2_000, 4_000, 8_000], **BY_CPU) { |n| burn(n) }
    assert_match(/growth is one of :constant/, assert_raises(ArgumentError) { assert_complexity(:cheap, [1, 2, 3]) { 1 } }.message)
    assert_match(/three or more different positive numbers/, assert_raises(ArgumentError) { assert_complexity(:linear, [1, 2, 2]) { 1 } }.message)
    assert_match(/must be positive/, assert_raises(ArgumentError) { assert_complexity(:logarithmic, [1, 2, 3]) { 1 } }.message)
  end

  private

  def burn(times)
    i = 0
    i += 1 while i < times
  end

  def sides = [-> { 1 }, -> { 2 }]

  def faster_by(bound, **answer) = answering(**answer) { Testing::Speed.new(*sides, by: bound, time: 0, warmup: 0).faster.kind }
  def no_slower_by(bound, **answer) = answering(**answer) { Testing::Speed.new(*sides, by: bound, time: 0, warmup: 0).no_slower.kind }

  # Replaces the program by a script with a fixed answer.
  def answering(verdict:, ratio: nil, shift: nil, &block)
    interval = ->(ends) { ends && %w[estimate lower upper].zip(ends).to_h }
    comparison = { of: "a", against: "b", verdict: verdict, sentence: "said", ratio: interval[ratio], shift: interval[shift] }
    Dir.mktmpdir do |directory|
      file = File.join(directory, "assay")
      File.write(file, "#!/bin/sh\ncat <<'END'\n#{JSON.generate(comparisons: [comparison])}\nEND\n")
      File.chmod(0o755, file)
      with_variable(file, &block)
    end
  end

  def with_variable(value)
    before = ENV["ASSAY"]
    ENV["ASSAY"] = value
    yield
  ensure
    ENV["ASSAY"] = before
  end
end
