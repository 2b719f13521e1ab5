# frozen_string_literal: true

# The fakes: their answers and records, what they affect, and that nothing of them is left
# afterwards. Nothing here waits: a test that really slept would never end.

require_relative "../support/front_end"

class FakesTest < Minitest::Test
  include Assay::Testing

  AGE = 2**30

  # A primitive cron.
  class Cron
    def run(command, every)
      loop do
        status = system command
        raise "#{command} failed" unless status

        sleep every
      end
    end

    def nap(...) = sleep(...)
    def list = `ls`
    def start = spawn("ls", "-l")
    def split = fork { raise "never run" }
    def read(path) = open(path) { |file| file.read }
    def pipe = IO.popen(%w[ls -l], &:read)
    def hour = Time.now
  end

  def setup
    @cron = Cron.new
    @before = Assay::Testing.unused_fakes
    Assay::Testing.unused_fakes = :ok # Many of these only check what a fake leaves behind.
  end

  def teardown = Assay::Testing.unused_fakes = @before

  def test_a_cron_that_sleeps_for_34_years_is_tested_at_once
    fake_sleep(@cron)
    fake_system(@cron, results: [true, false])

    error = assert_raises(RuntimeError) { @cron.run("any old command", AGE) }

    assert_equal "any old command failed", error.message
    assert_equal [AGE], sleeps(@cron)
    assert_equal ["any old command", "any old command"], commands(@cron)
    assert_equal AGE, clock.elapsed
  end

  def test_sleep_answers_as_the_real_one_does
    fake_sleep(@cron)
    assert_equal [0, 3, 2, 0], [@cron.nap(0.2), @cron.nap(2.7), @cron.nap(2), @cron.nap]
    assert_equal [0.2, 2.7, 2, nil], sleeps
    assert_raises(TypeError) { @cron.nap("1") }
    assert_match(/must not be negative/, assert_raises(ArgumentError) { @cron.nap(-1) }.message)
    assert_raises(ArgumentError) { @cron.nap(1, 2) }
    assert_equal 4, sleeps.size, "a refused call is none"
  end

  def test_every_kind_has_its_usual_answer
    fake_backtick(@cron)
    fake_spawn(@cron)
    fake_fork(@cron)
    fake_open(@cron)
    fake_popen
    assert_equal ["", "", ""], [@cron.list, @cron.read("/etc/passwd"), @cron.pipe]
    pids = [@cron.start, @cron.split]
    assert_raises(Errno::ESRCH) { Process.kill(0, pids.first) }
    assert_equal ["ls", "/etc/passwd", ["ls", "-l"], :fork], commands(@cron)
    assert_equal [["ls", "-l"]], commands(IO)
    assert_instance_of Proc, calls(@cron).last.block
  end

  def test_answers_are_scripted_by_a_list_or_computed
    fake_backtick(@cron, results: ["a\n", "b\n"])
    fake_open(@cron, results: ["content"])
    fake_system(@cron, results: ->(command) { command == "true" })
    assert_equal ["a\n", "b\n", "content"], [@cron.list, @cron.list, @cron.read("x")]
    assert_equal "false failed", assert_raises(RuntimeError) { @cron.run("false", 1) }.message
  end

  def test_an_exception_among_the_answers_is_raised
    fake_spawn(@cron, results: [Errno::ENOENT, Errno::EACCES.new("ls")])
    assert_raises(Errno::ENOENT) { @cron.start }
    assert_match(/ls/, assert_raises(Errno::EACCES) { @cron.start }.message)
  end

  def test_an_ending_sets_the_status_of_the_last_process
    fake_backtick(@cron, results: [exits(3, "out"), exits(0)])
    fake_system(@cron, results: [exits(7), exits(0)])
    assert_equal ["out", 3], [@cron.list, $?.exitstatus]
    assert_equal ["", true], [@cron.list, $?.success?]
    assert_equal [false, 7], [@cron.send(:system, "x"), $?.exitstatus]
    assert_equal true, @cron.send(:system, "x")
    assert_match(/0 to 255/, assert_raises(ArgumentError) { fake_system(@cron, results: [exits(300)]) { @cron.send(:system, "x") } }.message)
  end

  def test_a_failing_command_is_raised_where_the_caller_asks_for_it
    fake_system(@cron, results: [true, false, nil])
    assert_equal true, @cron.send(:system, "ls", exception: true)
    assert_match(/Command failed: ls/, assert_raises(RuntimeError) { @cron.send(:system, "ls", exception: true) }.message)
    assert_match(/ls/, assert_raises(Errno::ENOENT) { @cron.send(:system, "ls", exception: true) }.message)
  end

  def test_when_the_answers_run_out_the_call_is_named_and_what_was_recorded_listed
    fake_sleep(@cron)
    fake_system(@cron, results: [true])
    error = assert_raises(Assay::Testing::UnexpectedCall) { @cron.run("tick", 60) }
    assert_match(/call 2 of `system` on an object of FakesTest::Cron was not expected: results were scripted for 1/, error.message)
    assert_match(/system\("tick"\)\n  sleep\(60\)\n  system\("tick"\)/, error.message)
  end

  def test_a_loop_without_end_fails_instead_of_hanging
    fake_sleep(@cron)
    fake_system(@cron, limit: 50)
    error = assert_raises(Assay::Testing::UnexpectedCall) { @cron.run("tick", 1) }
    assert_match(/a loop that never ends/, error.message)
    assert_match(/… \d+ calls before/, error.message)
    fake_system(@cron)
    assert_raises(Assay::Testing::UnexpectedCall) { @cron.run("tick", 1) }
  end

  def test_an_unexpected_call_is_not_hidden_by_a_rescue_of_the_code_under_test
    fake_system(@cron, results: [])
    assert_raises(Assay::Testing::UnexpectedCall) do
      @cron.run("x", 1)
    rescue StandardError
      flunk "it was hidden"
    end
  end

  def test_only_the_object_is_touched
    other = Cron.new
    fake_system(@cron)
    assert_equal true, @cron.send(:system, "exit 1")
    assert_equal false, other.send(:system, "exit 1")
  end

  def test_private_methods_stay_private_and_public_ones_public
    fake_sleep(@cron)
    assert_raises(NoMethodError) { @cron.sleep(1) }
    fake_sleep(Kernel)
    assert_equal AGE, Kernel.sleep(AGE)
  end

  def test_a_block_without_an_object_is_for_every_object_of_this_thread
    value = fake_sleep do
      fake_system(results: [true, false]) do
        assert_raises(RuntimeError) { @cron.run("a", AGE) }
        Kernel.sleep(AGE)
        Class.new { def go = sleep(2**31) }.new.go
      end
      :given_back
    end
    assert_equal [:given_back, [AGE, AGE, 2**31], [AGE]], [value, sleeps, sleeps(@cron)]
    assert_nothing_is_left
  end

  def test_other_threads_really_run_what_this_one_fakes
    ran = nil
    fake_system { Thread.new { ran = [system("exit 3"), $?.exitstatus] }.join }
    assert_equal [false, 3], ran
    fake_system(Kernel)
    assert_equal [false, true], [Thread.new { Kernel.system("exit 1") }.value, Kernel.system("exit 1")]
  end

  def test_threads_that_are_named_are_faked_too
    fake_sleep(@cron, threads: :all)
    assert_equal AGE, Thread.new { @cron.nap(AGE) }.value
    gate = Queue.new
    thread = Thread.new { gate.pop.nap(AGE) }
    other = Cron.new
    fake_sleep(other, threads: [thread])
    gate << other
    assert_equal AGE, thread.value
  end

  def test_threads_that_fake_the_same_object_do_not_see_each_others_fakes
    answers = 4.times.map do |number|
      Thread.new do
        test = Object.new.extend(Assay::Testing)
        test.fake_system(@cron, results: [number] * 50)
        Array.new(50) { Thread.pass; @cron.send(:system, "x") }.uniq.tap { test.assay_teardown }
      end
    end.map(&:value)
    assert_equal [[0], [1], [2], [3]], answers
    assert_empty @cron.singleton_methods(false)
  end

  def test_fakes_nest_and_the_latest_answers
    fake_backtick(@cron, results: %w[outer outer])
    seen = [@cron.list]
    fake_backtick(@cron, results: ["inner"]) { seen << @cron.list }
    assert_equal %w[outer inner outer], seen << @cron.list
  end

  def test_an_exception_ends_the_block_form_cleanly
    assert_raises(RuntimeError) { fake_sleep { fake_popen { raise "stop" } } }
    catch(:out) { fake_sleep(@cron) { throw :out } }
    assert_nothing_is_left
    assert_empty @cron.singleton_class.private_instance_methods(false)
  end

  def test_a_method_that_the_object_has_of_its_own_comes_back
    def @cron.system(command) = "own #{command}"
    fake_system(@cron)
    assert_equal true, @cron.system("x")
    assay_teardown
    assert_equal "own x", @cron.system("x")
  end

  def test_what_others_have_prepended_stays_in_front_and_comes_back
    told = []
    @cron.singleton_class.prepend(Module.new { define_method(:nap) { |seconds| told << seconds; super(seconds) } })
    fake(@cron, :nap, results: [:fake])
    assert_equal [:fake, [5]], [@cron.nap(5), told]
    assay_teardown
    fake_sleep(@cron)
    assert_equal [7, [5, 7]], [@cron.nap(7), told]
  end

  def test_after_the_test_the_object_is_as_it_was
    fake_sleep(@cron)
    fake_system(@cron)
    assay_teardown
    assert_empty @cron.singleton_class.private_instance_methods(false)
    assert_equal Kernel, @cron.method(:sleep).owner
    assert_instance_of Cron, Marshal.load(Marshal.dump(@cron))
  end

  def test_nothing_is_faked_for_the_whole_program
    error = assert_raises(ArgumentError) { fake_sleep }
    assert_match(/name an object, as in fake_sleep\(object\), or give a block/, error.message)
    assert_match(/fake_backtick\(object\)/, assert_raises(ArgumentError) { fake_backtick }.message)
  end

  def test_what_can_not_be_faked_is_told
    [3, :x, nil, "frozen", @cron.dup.freeze].each do |object|
      assert_match(/within a block/, assert_raises(Assay::Testing::CannotFake) { fake_sleep(object) }.message)
    end
    assert_match(/no method `snooze` to fake/, assert_raises(NameError) { fake(@cron, :snooze) }.message)
    assert_match(/no option result: there are results, threads, limit/, assert_raises(ArgumentError) { fake_sleep(@cron, result: 1) }.message)
    assert_match(/a list or something to call/, assert_raises(ArgumentError) { fake_sleep(@cron, results: 3) }.message)
  end

  def test_any_other_method_can_be_faked
    fake(Process, :wait, results: [41])
    fake(@cron, :start)
    assert_equal [41, nil], [Process.wait(7), @cron.start]
    assert_equal [[7]], calls(Process).map(&:arguments)
  end

  def test_a_test_may_have_methods_of_these_names_itself
    test = Class.new { include Assay::Testing; def clock = raise; def calls = raise }.new
    test.fake_sleep(@cron)
    test.fake_time { @cron.nap(3) }
    assert_equal [[3], []], [test.sleeps, test.commands]
  ensure
    test.assay_teardown
  end

  def test_keywords_and_blocks_arrive_as_they_were_given
    fake(@cron, :nap, results: ->(seconds, unit:, &block) { block.call(seconds, unit) })
    assert_equal [1, :ms], @cron.nap(1, unit: :ms) { |*given| given }
    assert_equal "nap(1, unit: :ms)", calls(@cron).last.to_s
  end

  def test_time_stands_still_until_the_clock_is_advanced
    fake_sleep(@cron)
    fake_time do
      began = @cron.hour
      assert_equal began, Time.now
      @cron.nap(3600)
      clock.advance(0.5)
      assert_equal 3600.5, Time.now - began
      assert_equal "+09:00", Time.now(in: "+09:00").strftime("%:z")
      real = Thread.new { Time.now }.value
      assert_operator real, :<, began + 1800
    end
    assert_operator Time.now - clock.now, :<, -1800
    assert_raises(ArgumentError) { clock.advance(-1) }
  end

  def test_the_monotonic_clock_is_faked_only_when_it_is_asked_for
    fake_time { refute_equal monotonic, monotonic }
    fake_time(monotonic: true) do
      began = monotonic
      assert_equal began, monotonic
      clock.advance(2)
      assert_equal 2_000_000_000, monotonic - began
      assert_in_delta monotonic / 1e9, Process.clock_gettime(Process::CLOCK_MONOTONIC), 1e-6
      assert_equal Time.now.to_i, Process.clock_gettime(Process::CLOCK_REALTIME, :second)
      refute_equal Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond), Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
    end
  end

  def test_the_clock_that_measures_is_never_faked
    fake_time(monotonic: true) { refute_equal Assay::Compare::Stopwatch.now, Assay::Compare::Stopwatch.now }
  end

  private

  def monotonic = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

  def assert_nothing_is_left
    [[Kernel, :sleep], [Kernel, :system], [Kernel.singleton_class, :sleep], [IO.singleton_class, :popen]].each do |owner, name|
      assert_nil owner.instance_method(name).source_location, "#{owner}##{name} is Ruby's own"
    end
    assert_includes Kernel.private_instance_methods(false), :sleep
  end
end
