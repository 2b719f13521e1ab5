# frozen_string_literal: true

# Cases of ruby/test/cases/README.md: fakes, and time travel with a fake clock.

require "support/cases"
require "assay/testing"
require "date"
require "open3"
require "timeout"
require "time"

class FakesCasesTest < Minitest::Test
  include Assay::Testing

  AGE = 2**30

  class Cron
    def run(command, every)
      loop do
        raise "#{command} failed" unless system(command)

        sleep every
      end
    end

    def nap(...) = sleep(...)
    def kernel(seconds) = Kernel.sleep(seconds)
    def found(seconds) = send(:sleep, seconds)
    def held(seconds, by = method(:sleep)) = by.call(seconds)
    def threaded(seconds) = Thread.new { sleep(seconds) }.value
    def start(...) = spawn(...)
    def split = fork { raise "never run" }
    def safely(command) = (system(command) rescue "rescued")
  end

  def setup = @cron = Cron.new

  def test_fake_sleep_by_the_usual_name
    fake_sleep(@cron)
    assert_equal [AGE, 0, 3], [@cron.nap(AGE), @cron.nap(0.2), @cron.nap(2.7)]
    assert_equal [AGE, 0.2, 2.7], sleeps(@cron)
    assert_raises(ArgumentError) { @cron.nap(-1) }
  end

  def test_fake_sleep_by_another_name
    fake_sleep { assert_equal AGE, @cron.kernel(AGE) }
    fake_sleep(Kernel)
    assert_equal AGE, @cron.kernel(AGE)
  end

  def test_fake_sleep_found_when_called
    fake_sleep(@cron)
    assert_equal AGE, @cron.found(AGE)
  end

  def test_fake_sleep_held_as_a_value
    fake_sleep(@cron)
    assert_equal AGE, @cron.held(AGE)
  end

  def test_fake_sleep_by_waiting_for_an_event
    mutex, monitor = Mutex.new, Monitor.new
    fake_sleep do
      mutex.synchronize { mutex.sleep(AGE) }
      monitor.synchronize { monitor.new_cond.wait(8) }
    end
    assert_equal [AGE, 8], sleeps
  end

  def test_fake_sleep_by_waiting_for_a_condition
    mutex, condition = Mutex.new, ConditionVariable.new
    fake_sleep { mutex.synchronize { assert_nil condition.wait(mutex, AGE) } }
    assert_equal [AGE], sleeps
    set = Thread.new { loop { sleep(0.001) && mutex.synchronize { condition.broadcast } } }
    # Another thread sets it; on a busy machine perhaps not within the first moment.
    fake_sleep { assert(50.times.any? { mutex.synchronize { condition.wait(mutex, AGE) } }) }
  ensure
    set&.kill
  end

  def test_fake_sleep_by_waiting_for_a_queue
    skip "Queue#pop(timeout:) came with Ruby 3.2" unless Queue.instance_method(:pop).parameters.include?(%i[key timeout])

    queue, full = Queue.new, SizedQueue.new(1)
    full << 0
    fake_sleep do
      assert_equal [nil, nil, nil], [queue.pop(timeout: 99), SizedQueue.new(1).shift(timeout: 98), full.push(1, timeout: 97)]
      made = Thread.new { queue << "made" }
      assert_equal "made", queue.pop(timeout: 96)
      made.join
      queue << 0
      assert_equal 0, queue.pop(timeout: 95)
    end
    assert_equal [[99, 98, 97], 99 + 98 + 97], [sleeps.first(3), clock.elapsed]
  end

  def test_fake_sleep_by_waiting_for_no_files
    reader, writer = IO.pipe
    fake_sleep do
      assert_nil IO.select(nil, nil, nil, 99)
      assert_nil Kernel.select([], [], [], 98)
      writer << "x"
      assert_equal [reader], IO.select([reader], nil, nil, 97).first
    end
    assert_equal [99, 98], sleeps
  ensure
    [reader, writer].each(&:close)
  end

  def test_fake_sleep_by_waiting_for_work
    fake_sleep do
      # Work that ends in time is not affected, although it takes longer than 20 ms.
      work = Thread.new { sleep(0.05) }
      assert_equal work, work.join(3_600)
      never = Thread.new { Thread.stop }
      assert_nil never.join(99)
      never.kill.join
    end
    assert_equal [3_600, 99], sleeps
    assert_equal 99, clock.elapsed
  end

  def test_fake_sleep_ended_by_a_time_limit
    fake_sleep(threads: :all) do
      assert_equal 50, Timeout.timeout(30) { sleep 50 }
      assert_raises(Timeout::Error) { Timeout.timeout(0.01) { loop { Thread.pass } } }
    end
    assert_equal [[50], 50], [sleeps, clock.elapsed]
  end

  def test_fake_sleep_in_another_thread
    fake_sleep(@cron, threads: :all)
    assert_equal AGE, @cron.threaded(AGE)
  end

  def test_fake_sleep_advances_the_clock
    fake_sleep(@cron)
    fake_time do
      began = Time.now
      @cron.nap(90)
      assert_equal [90, 90], [Time.now - began, clock.elapsed]
    end
  end

  def test_fake_sleep_without_end_is_stopped
    fake_sleep(@cron, limit: 20)
    fake_system(@cron)
    assert_match(/a loop that never ends/, assert_raises(Assay::Testing::UnexpectedCall) { @cron.run("tick", 1) }.message)
  end

  def test_fake_shell_with_scripted_results
    fake_sleep(@cron)
    fake_system(@cron, results: [true, exits(3)])
    assert_raises(RuntimeError) { @cron.run("any", AGE) }
    assert_equal [%w[any any], [AGE], 3], [commands(@cron), sleeps(@cron), $?.exitstatus]
  end

  def test_fake_shell_beyond_its_script
    fake_system(@cron, results: [])
    assert_match(/was not expected: results were scripted for 0.*system\("x"\)/m, assert_raises(Assay::Testing::UnexpectedCall) { @cron.safely("x") }.message)
  end

  def test_fake_program_with_output
    fake_backtick(@cron, results: ["Mon\n"])
    fake_popen(results: %w[one two three four])
    assert_equal "Mon\n", @cron.instance_eval { `date` }
    assert_equal [0, Integer], [$?.exitstatus, $?.pid.class]
    assert_equal "one", Open3.capture2e("date").first
    assert_equal ["two", "", true], Open3.capture3("date", "-u", stdin_data: "x").then { |out, err, status| [out, err, status.success?] }
    assert_equal "three", Object.new.extend(Open3).send(:capture2, "date").first
    assert_equal "four", Open3.popen3("date") { |input, out, _err, thread| input.puts("x") || (thread.value.success? && out.read) }
    assert_equal ["date", %w[date -u], "date", "date"], calls.last(4).map(&:command)
  end

  def test_fake_program_that_fails
    fake_popen(results: [exits(3, "", err: "bad"), Errno::ENOENT])
    assert_equal ["", "bad", 3], Open3.capture3("x").then { |out, err, status| [out, err, status.exitstatus] }
    assert_raises(Errno::ENOENT) { Open3.capture2("x") }
    fake_system(@cron, results: [exits(2), nil])
    assert_match(/exit 2: ls/, assert_raises(RuntimeError) { @cron.send(:system, { "A" => "1" }, "ls", "-l", exception: true) }.message)
    assert_equal [nil, 127], [@cron.send(:system, "none"), $?.exitstatus]
  end

  def test_fake_program_by_a_pipe
    fake_popen(results: ["hi", exits(4, "out"), "both"])
    assert_equal ["hi", 0], [IO.popen("date", &:read), $?.exitstatus]
    pipe = IO.popen(%w[date -u])
    assert_equal ["out", Integer], [pipe.read, pipe.pid.class]
    pipe.close
    assert_equal 4, $?.exitstatus
    IO.popen("cat", "r+") { |both| assert_equal ["both", "x\n"], [both.puts("x") || both.close_write || both.read, both.input] }
  end

  def test_fake_spawned_program_is_waited_for
    fake_spawn(@cron, results: [1, 2, 3, 4, 5].map { |status| exits(status) } << exits(0))
    pids = Array.new(6) { @cron.start("x") }
    assert_equal [pids[1], 2, pids[1]], [Process.waitpid(pids[1]), $?.exitstatus, $?.pid]
    assert_equal [pids[0], 1], Process.wait2.then { |pid, status| [pid, status.exitstatus] }
    assert_equal [pids[2], 3], [Process.wait(-1, Process::WNOHANG), $?.exitstatus]
    assert_equal [pids[3], 4], Process.detach(pids[3]).then { |thread| [thread.pid, thread.value.exitstatus] }
    assert_equal 5, Process::Status.wait(pids[4]).exitstatus
    Process.kill(:TERM, pids[5])
    assert_equal [[pids[5], 15]], Process.waitall.map { |pid, status| [pid, status.termsig] }
    assert_raises(Errno::ECHILD) { Process.wait(pids[0]) }
    real = Process.spawn("exit 9")
    assert_equal [real, 9], Process.wait2(real).then { |pid, status| [pid, status.exitstatus] }
  end

  def test_fake_processes_of_a_group_are_waited_for_and_get_signals
    fake_spawn(@cron, results: [exits(1), exits(2), exits(0)])
    pids = Array.new(3) { @cron.start("x") }
    assert_equal [pids[0], 1], [Process.wait(0), $?.exitstatus]
    assert_equal [pids[1], 2], [Process.waitpid(-pids[1]), $?.exitstatus]
    Process.kill("-KILL", pids[2])
    assert_equal 9, Process.wait2(pids[2]).last.termsig
    assert_raises(TypeError) { Process.wait("x") }
  end

  def test_fake_fork_starts_no_process
    fake_fork(@cron, results: [exits(7)])
    assert_equal 7, Process.wait2(@cron.split).last.exitstatus
  end

  def test_fake_clock_stands_still
    fake_time(monotonic: true) do
      2.times.map { [Time.now, Time.new, Date.today, DateTime.now, *%i[REALTIME MONOTONIC].map { |name| Process.clock_gettime(Process.const_get("CLOCK_#{name}")) }] }
       .then { |first, second| assert_equal first, second }
    end
  end

  def test_fake_clock_dates
    fake_time(at: "2030-01-31 23:59:30.5") do
      assert_equal [Date.new(2030, 1, 31), Time.new(2030, 1, 31, 23, 59, 30.5r)], [Date.today, DateTime.now.to_time]
      clock.advance(30)
      assert_equal ["2030-02-01", 2030], [Date.today.to_s, Time.parse("10:00").year]
      below = Class.new(Time)
      assert_equal [below, below, 2000], [below.now.class, below.new.class, Time.new(2000).year]
      assert_equal "+09:00", Time.new(in: "+09:00").strftime("%:z")
    end
  end

  def test_travel_to_the_past
    [Time.utc(1969, 7, 20), Date.new(1969, 7, 20), DateTime.new(1969, 7, 20), "1969-07-20", Time.utc(1969, 7, 20).to_i].each do |at|
      fake_time(at: at) { assert_equal 1969, Time.now.year }
    end
    fake_time { assert_equal [1969, 1969], [clock.travel_to("1969-07-20").year, Date.today.year] }
    assert_match(/travel_to/, assert_raises(ArgumentError) { clock.advance(-1) }.message)
    assert_raises(ArgumentError) { fake_time(at: "no time") }
  end

  def test_travel_to_the_future
    fake_time(at: "2100-02-28") do
      assert_equal Date.new(2100, 3, 1), Date.today + 1
      fake_time(at: "2200-01-01") { assert_equal 2200, Date.today.year }
      assert_equal 2100, Date.today.year
    end
  end

  def test_travel_moves_on_by_advance
    fake_sleep(@cron)
    fake_time(at: "2030-01-01 00:00", monotonic: true) do
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      clock.travel_to("2040-01-01 00:00")
      assert_equal began, Process.clock_gettime(Process::CLOCK_MONOTONIC)
      @cron.nap(3_600) && clock.advance(60)
      assert_equal [Time.new(2040, 1, 1, 1, 1), 3_660], [Time.now, (Process.clock_gettime(Process::CLOCK_MONOTONIC) - began).round]
    end
  end

  def test_travel_ends_with_the_test
    places = -> { [[Time, :now], [Time, :new], [Date, :today], [DateTime, :now]].map { |owner, name| owner.method(name).source_location } }
    before = places.call
    fake_time(at: "1999-12-31")
    assert_equal 1999, Date.today.year
    assay_teardown
    refute_equal 1999, Date.today.year
    assert_equal before, places.call
  end

  # A separate test: returns its output, or the failure with which it ends.
  def unused(**options, &block)
    test = Class.new { include Assay::Testing; def name = "test_it" }.new
    _, said = capture_io do
      test.fake_sleep(@cron, **options)
      test.instance_exec(@cron, &block) if block
      test.assay_teardown
    end
    said
  end

  def test_unused_fake_is_reported
    assert_match(/test_it: fake_sleep of an object of FakesCasesTest::Cron \(#{__FILE__}:\d+\) was never called/, unused)
    assert_match(/never called/, assert_raises(Assay::Testing::Failed) { unused(unused: :fail) }.message)
    assert_empty unused { |cron| cron.nap(1) }
  end

  def test_unused_fake_is_allowed
    assert_empty unused(unused: :ok)
    assert_match(/:warn, :fail, :ok/, assert_raises(ArgumentError) { unused(unused: :never) }.message)
  end

  def test_fake_ends_after_an_exception
    places = -> { [[Kernel, :sleep], [IO.singleton_class, :popen], [Date.singleton_class, :today]].map { |owner, name| owner.instance_method(name).source_location } }
    before = places.call
    assert_raises(RuntimeError) { fake_sleep(unused: :ok) { fake_popen(unused: :ok) { fake_time(at: "1999-01-01", unused: :ok) { raise "stop" } } } }
    assert_equal before, places.call
    assert_operator clock.now.year, :>, 2000
  end

  def test_fake_over_a_fake
    fake_backtick(@cron, results: %w[outer outer])
    list = -> { @cron.instance_eval { `ls` } }
    assert_equal %w[outer inner outer], [list.call, fake_backtick(@cron, results: ["inner"]) { list.call }, list.call]
  end

  def test_fake_touches_nothing_else
    other = Cron.new
    fake_system(@cron)
    assert_equal [true, false], [@cron.send(:system, "exit 1"), other.send(:system, "exit 1")]
  end

  def test_fake_with_nothing_to_replace_is_refused
    assert_match(/fake_sleep\(object\), or give a block/, assert_raises(ArgumentError) { fake_sleep }.message)
    assert_match(/no method `snooze`/, assert_raises(NameError) { fake(@cron, :snooze) }.message)
    assert_match(/within a block/, assert_raises(Assay::Testing::CannotFake) { fake_sleep(:symbol) }.message)
  end
end
