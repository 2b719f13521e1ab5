# frozen_string_literal: true

# Scope of a profile: this thread and its fibers; others only after `attach`; forked processes; threads that have ended.

require "support/profiled"

class ThreadsTest < Minitest::Test
  include Profiled

  class Worker
    def work = :done
    def each = yield
    def down(n, &block) = n.zero? ? block&.call : down(n - 1, &block)
  end

  def test_another_thread_is_not_counted
    patch(Worker, :work)
    assert_equal 1, (calls do
      Thread.new { 5.times { Worker.new.work } }.join
      Worker.new.work
    end)
  end

  def test_threads_that_profile_at_once_each_count_their_own
    patch(Worker, :work)
    profiles = 8.times.map do |n|
      Thread.new { MethodProfiler.profile { (n + 1).times { Worker.new.work && Thread.pass } } }
    end
    assert_equal (1..8).to_a, (profiles.map { |thread| thread.value[:work][:calls] })
  end

  def test_a_new_thread_that_runs_where_a_profiled_one_ran_is_not_counted
    patch(Worker, :work)
    ended = 20.times.map { Thread.new { MethodProfiler.start && Worker.new.work } }.map { |thread| thread.tap(&:join).value && thread }
    assert_equal 20, ended.size
    assert_nil Thread.new { Worker.new.work && MethodProfiler.current }.value
  end

  def test_hand_over_to_another_thread
    patch(Worker, :work)
    running = MethodProfiler.start
    Worker.new.work
    Thread.new { running.attach { 3.times { Worker.new.work } } && Worker.new.work }.join
    assert_equal 4, running.stop[:work][:calls]
  end

  def test_hand_over_for_good_and_stop_by_the_other_thread
    patch(Worker, :work)
    running = MethodProfiler.start
    Worker.new.work
    running.detach
    Worker.new.work
    assert_nil MethodProfiler.current
    profile = Thread.new do
      running.attach
      2.times { Worker.new.work }
      MethodProfiler.stop
    end.value
    assert_equal 3, profile[:work][:calls]
    assert_raises(MethodProfiler::NotRunning) { MethodProfiler.stop }
  end

  def test_attaching_where_it_counts_already_counts_once
    patch(Worker, :work)
    running = MethodProfiler.start
    running.attach { running.attach.attach { Worker.new.work } }
    Worker.new.work
    assert_equal 2, MethodProfiler.stop[:work][:calls]
  end

  def test_a_thread_that_is_attached_when_the_profile_stops_goes_on_unharmed
    patch(Worker, %i[each work])
    running = MethodProfiler.start
    inside, go_on = Queue.new, Queue.new
    thread = Thread.new do
      running.attach { Worker.new.each { inside << 1 && go_on.pop && Worker.new.work } }
    end
    inside.pop
    profile = running.stop
    go_on << 1
    assert_equal :done, thread.value
    assert_equal [1, 1], [profile.rows[:work].calls, profile.rows[:work].open]
    assert_operator profile.rows[:work].raw_duration, :>, 0
  end

  def test_fibers_of_the_thread_are_counted
    patch(Worker, :work)
    assert_equal 8, (calls do
      numbers = Enumerator.new { |out| 3.times { out << Worker.new.work } }
      3.times { numbers.next }
      fiber = Fiber.new { 2.times { Worker.new.work && Fiber.yield } }
      2.times { fiber.resume }
      numbers.each { nil }
    end)
  end

  def test_fibers_that_take_turns_within_one_method_do_not_mix_their_depths
    patch(Worker, :down)
    patch(Worker, :work, :after)
    fibers = 3.times.map { |n| Fiber.new { Worker.new.down(n) { Fiber.yield } } }
    row = row() do
      fibers.each(&:resume)
      fibers.each(&:resume)
    end
    assert_equal [6, 3, 0], [row.calls, row.outermost, row.open]
  end

  def test_exclusive_time_of_fibers_that_take_turns
    patch(Worker, :each, :each)
    patch(Worker, :down, :down)
    one, two = %i[each each].map { Fiber.new { Worker.new.each { Fiber.yield && Worker.new.down(1) } } }
    profile = MethodProfiler.profile(exclusive: true) { [one, two, two, one].each { |fiber| fiber.resume(1) } }
    assert_equal [2, 4], profile.rows.values_at(:each, :down).map(&:calls)
    profile.rows.each_value { |each| assert_operator each.exclusive, :<=, each.raw_duration }
  end

  def test_a_generator_that_is_left_unfinished_is_an_open_call_and_holds_up_no_other
    patch(Worker, :down)
    row = row() do
      generator = Fiber.new { Worker.new.down(1) { Fiber.yield } }
      generator.resume
      3.times { Worker.new.down(0) }
    end
    assert_equal [5, 4, 2], [row.calls, row.outermost, row.open]
  end

  def test_fibers_known_before_a_nested_profile_started_count_in_it
    patch(Worker, :work)
    fiber = Fiber.new { loop { Worker.new.work && Fiber.yield } }
    outer = MethodProfiler.start
    fiber.resume
    inner = MethodProfiler.start(nested: true)
    fiber.resume
    assert_equal 1, inner.stop[:work][:calls]
    fiber.resume
    assert_equal 3, outer.stop[:work][:calls]
    fiber.resume
    assert_equal 1, (calls { fiber.resume })
  end

  def test_with_the_scope_of_a_fiber_other_fibers_are_not_counted
    patch(Worker, :work)
    profiles = []
    fibers = [1, 2, 3].map do |n|
      Fiber.new do
        MethodProfiler.start(scope: :fiber)
        n.times { Worker.new.work && Fiber.yield }
        profiles << MethodProfiler.stop
      end
    end
    4.times { fibers.each { |fiber| fiber.resume && Worker.new.work if fiber.alive? } }
    assert_equal [1, 2, 3], (profiles.map { |profile| profile[:work][:calls] })
    assert_nil MethodProfiler.current
  end

  def test_a_profile_of_a_fiber_is_handed_to_another_fiber
    patch(Worker, :work)
    running = MethodProfiler.start(scope: :fiber)
    Fiber.new { Worker.new.work && running.attach { Worker.new.work } && Worker.new.work }.resume
    assert_equal 1, running.stop[:work][:calls]
  end

  def test_many_fibers_are_added_up_and_forgotten
    patch(Worker, :work)
    assert_equal 1_000, (calls { 1_000.times { Fiber.new { Worker.new.work }.resume } })
    GC.start
    assert_equal 500, (calls { 500.times { |n| Enumerator.new { |out| out << Worker.new.work }.next && (GC.start if n % 100 == 0) } })
  end

  def test_profiles_whose_threads_have_ended_do_not_keep_the_wrappers_in
    needs_wrappers_that_go
    patch(Worker, :work)
    40.times { Thread.new { MethodProfiler.start && Worker.new.work }.join }
    refute_predicate self, :plain?
    30.times { MethodProfiler.start.stop }
    assert_predicate self, :plain?
  end

  def plain? = in_place(Worker.new).source_location.first == __FILE__

  def test_a_forked_worker_has_profiles_of_its_own
    patch(Worker, :work)
    running = MethodProfiler.start
    Worker.new.work
    other = Thread.new { MethodProfiler.start && sleep }
    Thread.pass until other.stop?
    reader, writer = IO.pipe
    child = fork do
      Worker.new.work
      counts = [running.stop[:work][:calls], calls { Worker.new.work }, plain?]
      writer.write(Marshal.dump(counts))
      writer.close
      exit!(0)
    end
    writer.close
    assert_equal [2, 1, !first_yjit?], Marshal.load(reader.read) # The child lacks the other thread and its profile.
    Process.wait(child)
    assert_predicate $?, :success?
    Worker.new.work
    assert_equal 2, running.stop[:work][:calls]
  ensure
    other&.kill&.join
  end

  def test_a_trap_within_a_patched_method_is_counted_in_its_place
    patch(Worker, %i[each work])
    old = trap("USR1") { Worker.new.work }
    row = row() { Worker.new.each { Process.kill("USR1", Process.pid) && sleep(0.01) } }
    assert_equal [2, 1, 0], [row.calls, row.outermost, row.open]
  ensure
    trap("USR1", old || "DEFAULT")
  end

  def test_a_process_that_ends_while_profiled_ends_as_it_would
    program = "class K; def k = exit(3); end; Assay::MethodProfiler.patch(K, :k, :k); Assay::MethodProfiler.start; K.new.k"
    options = $LOAD_PATH.first(3).flat_map { |path| ["-I", path] }
    refute system(RbConfig.ruby, *options, "-r", "assay", "-e", program)
    assert_equal 3, $?.exitstatus
  end

  def test_other_ractors_run_patched_methods_and_are_not_counted
    patch(Worker, :work)
    assert_equal 1, (calls do
      assert_equal :done, in_ractor { Worker.new.work }
      Worker.new.work
    end)
  end

  def test_a_profile_in_another_ractor_is_refused_in_words
    said = in_ractor do
      [-> { Assay::MethodProfiler.start }, -> { Assay::MethodProfiler.profile { 1 } }, -> { Assay::MethodProfiler.keep! },
       -> { Assay::MethodProfiler.patch(String, :upcase, :work) }, -> { Assay::MethodProfiler.unpatch(String) }, -> { Assay::MethodProfiler.stop }].map do |call|
        call.call
      rescue StandardError => e
        "#{e.class}: #{e.message}"
      end
    end
    assert_equal ["Ractor::IsolationError: methods are patched and profiles run in the main Ractor; in another one patched methods work, and are not counted"],
                 said.first(5).uniq
    assert_match(/NotRunning: no profile runs/, said.last)
  end

  private

  # Returns the value of the block in another Ractor.
  def in_ractor(&block)
    old, $VERBOSE = $VERBOSE, nil
    warnings, Warning[:experimental] = Warning[:experimental], false
    other = Ractor.new(&block)
    other.respond_to?(:value) ? other.value : other.take # Ruby 4 only has `value`.
  ensure
    $VERBOSE = old
    Warning[:experimental] = warnings
  end
end
