# frozen_string_literal: true

# Cases of ruby/test/cases/README.md: clocks stopped by other code, comparisons and assertions,
# budgets.

require "support/cases"
require "support/front_end"
require "assay/testing"
require "logger"
require "minitest/mock"

class ClocksCasesTest < Minitest::Test
  include Cases
  include FrontEnd
  include Assay::Testing

  class Worker
    def work = sleep(0.003)
    def fail = raise(ArgumentError, "as asked")
  end

  # Ways to stop the clock: a stub of the functions, this library's own fake, and timecop, if it is
  # installed.
  def stopped
    yield_with = { "stub" => ->(&block) { Process.stub(:clock_gettime, 0) { Time.stub(:now, Time.at(0), &block) } },
                   "fake_time" => ->(&block) { fake_time(monotonic: true, unused: :ok, &block) } }
    begin
      require "timecop"
      Timecop.mock_process_clock = true if Timecop.respond_to?(:mock_process_clock=)
      yield_with["timecop"] = ->(&block) { Timecop.freeze(Time.at(0), &block) }
    rescue LoadError
      nil # Debian: ruby-timecop.
    end
    yield_with.each { |name, way| way.call { yield name } }
  end

  def test_frozen_clock_profile
    patch(Worker, :work)
    stopped do |way|
      profile = MethodProfiler.profile { Worker.new.work }
      assert_operator profile[:work][:duration], :>, 0.002, way
      assert_operator profile.total_duration, :>=, profile[:work][:duration], way
      assert_operator profile.overhead.per_call, :>=, 0
    end
  end

  def test_frozen_clock_compare
    need_program
    stopped do |way|
      verdict = Assay.compare(time: 0.02, warmup: 0.01, quiet: true) { |x| x.report("a") { 1 + 1 } && x.report("b") { 50.times { 1 + 1 } } }.verdict
      assert_includes %w[slower inconclusive], verdict, way
    end
  end

  def test_frozen_clock_assertion
    need_program
    stopped { |way| refute_equal :fail, assert_faster(-> { 1 + 1 }, -> { 50.times { 1 + 1 } }, time: 0.05, warmup: 0.01, inconclusive: :pass).kind, way }
  end

  def test_frozen_clock_budget_of_sleep
    stopped { |way| assert_match(/seconds of sleep/, failure(max_sleep: 0.001) { sleep 0.005 }, way) }
  end

  def test_clock_set_back_within_a_profile
    patch(Worker, :work)
    now = 10_000
    profile = Process.stub(:clock_gettime, ->(*) { now -= 1_000 }) { MethodProfiler.profile { Worker.new.work } }
    assert_operator profile[:work][:duration], :>, 0.002
  end

  def test_stubbed_clock_functions
    patch(Worker, :work)
    profile = Process.stub(:clock_gettime, 0) { Time.stub(:now, 0) { MethodProfiler.profile { Worker.new.work } } }
    assert_operator profile[:work][:duration], :>, 0.002
  end

  # Comparisons and assertions.

  VERDICTS = %w[equivalent inconclusive faster slower].freeze

  def compared(**options, &block) = Assay.compare(time: 0.05, warmup: 0.01, quiet: true, **options, &block)

  def test_compared_work_is_done
    need_program
    done = 0
    result = compared { |x| x.report("a") { done += 1 } && x.report("b") { 1 } }
    assert_operator done, :>=, result.recording.blocks
  end

  # Refused, since draining would be part of the measurement; see the page.
  def test_lazy_results_are_drained
    [-> { [1].lazy.map { |n| n } }, -> { [1].each }].each do |lazy|
      assert_match(/`\.to_a`/, assert_raises(ArgumentError) { compared { |x| x.report("a", &lazy) && x.report("b") { 1 } } }.message)
    end
  end

  def test_coroutines_are_run
    need_program
    result = compared { |x| x.report("fiber") { Fiber.new { sleep(0.002) }.resume } && x.report("b") { 1 } }
    assert_operator result.recording.times(0).min, :>=, 0.002
  end

  def test_awaitable_of_a_plain_function_is_refused
    threads = []
    [[/\.join/, -> { Thread.new { sleep }.tap { |thread| threads << thread } }], [/resume/, -> { Fiber.new { 1 } }]].each do |words, promise|
      assert_match(words, assert_raises(ArgumentError) { compared { |x| x.report("a", &promise) && x.report("b") { 1 } } }.message)
    end
  ensure
    threads.each(&:kill)
  end

  def test_exception_in_a_side_passes
    need_program
    error = assert_raises(ArgumentError) { compared { |x| x.report("a") { Worker.new.fail } && x.report("b") { 1 } } }
    assert(error.backtrace.any? { |line| line.start_with?(__FILE__) })
  end

  def test_unknown_option_is_refused
    assert_match(/no setting tiem/, assert_raises(ArgumentError) { Assay.compare(tiem: 1) { nil } }.message)
  end

  def test_one_side_is_refused = assert_match(/two reports/, assert_raises(ArgumentError) { compared { |x| x.report("a") { 1 } } }.message)

  def test_share_that_is_none_is_refused
    ["5", 5, "-1%", Float::NAN, "much", nil].each do |share|
      assert_match(/by: is a share/, assert_raises(ArgumentError, share.inspect) { assert_faster(-> { 1 }, -> { 2 }, by: share) }.message)
      assert_match(/threshold: is a share/, assert_raises(ArgumentError, share.inspect) { compared(threshold: share) { |x| 2.times { |n| x.report(n) { 1 } } } }.message)
    end
  end

  def test_messages_name_arguments_of_the_library
    need_program
    result = compared(threshold: "0.001%") { |x| 2.times { |n| x.report(n) { 30.times { 1 + 1 } } } }
    refute_match(/--[a-z]/, result.screen)
    refute_match(/--[a-z]/, result.comparison.sentence)
    said = Assay::Compare.const_get(:Words).of("Give it that time: --time\n  20s. 3 % is feasible: --threshold 3%; an amount (--threshold)", 2)
    assert_equal "Give it that time: time:\n  10. 3 % is feasible: threshold: \"3%\"; an amount (threshold:)", said
  rescue NameError
    said = Assay::Compare.class_eval("Words", __FILE__, __LINE__).of("--time 20s", 2)
    assert_equal "time: 10", said
  end

  def test_clock_by_default_is_the_same
    assert_equal "auto", Assay::Testing::Speed.new(-> { 1 }, -> { 2 }, by: 0).instance_variable_get(:@plan).primary
  end

  def test_side_that_takes_no_time_has_an_end
    need_program
    assert_includes VERDICTS, compared { |x| 2.times { |n| x.report(n) { nil } } }.verdict
  end

  def test_side_that_takes_long_has_an_end
    need_program
    calls = 0
    verdict = compared { |x| x.report("a") { 1 } && x.report("long") { (calls += 1) && sleep(0.03) } }.verdict
    assert_includes VERDICTS, verdict
    assert_operator calls, :<, 100
  end

  # Budgets.

  def failure(**limits, &block) = assert_raises(Minitest::Assertion) { assert_budget(**limits, &block) }.message

  def database
    require "sqlite3"
    SQLite3::Database.new(":memory:")
  rescue LoadError
    skip("needs the gem sqlite3: apt-get install ruby-sqlite3")
  end

  def test_budget_counts_sql
    database = self.database
    assert_match(/3 SQL statements/, failure(max_sql: 2) { 3.times { |n| database.execute("SELECT #{n}") } })
    assert_budget(max_sql: 1) { database.execute("SELECT 1") }
  end

  def test_budget_of_sql_with_an_unknown_driver_is_refused
    driver = Class.new { def execute(text) = text }
    Object.const_set(:TinyTds, Module.new { const_set(:Client, driver) })
    error = assert_raises(Assay::Testing::CannotCount) { assert_budget(max_sql: 0) { flunk "it ran" } }
    assert_match(/tiny_tds is loaded.*MethodProfiler.patch\(TinyTds::Client, :METHOD, :sql\).*uncounted: :ok/, error.message)
    assert_budget(max_sql: 0, uncounted: :ok) { nil }
    patch(driver, :execute, :sql)
    assert_match(/2 SQL statements.*2 × SELECT \?/m, failure(max_sql: 1) { 2.times { |n| driver.new.execute("SELECT #{n}") } })
  ensure
    Object.send(:remove_const, :TinyTds)
  end

  def test_budget_counts_sleep
    mutex, condition, monitor = Mutex.new, ConditionVariable.new, Monitor.new
    { sleep: -> { sleep 0.004 }, kernel: -> { Kernel.sleep 0.004 }, mutex: -> { mutex.synchronize { mutex.sleep(0.004) } },
      condition: -> { mutex.synchronize { condition.wait(mutex, 0.004) } }, select: -> { IO.select(nil, nil, nil, 0.004) },
      monitor: -> { monitor.synchronize { monitor.new_cond.wait(0.004) } } }.each do |way, work|
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      said = failure(max_sleep: 0, &work)
      assert_match(/\d+\.?\d* seconds of sleep/, said, way)
      # Printed with three digits.
      assert_includes 0.003..(Process.clock_gettime(Process::CLOCK_MONOTONIC) - began) * 1.01, said[/[\d.]+/].to_f, way
    end
    assert_budget(max_sleep: 0) { IO.pipe.each(&:close) && IO.select(nil, [$stderr], nil, 0) }
  end

  def test_budget_counts_programs
    [-> { system("true") }, -> { `true` }, -> { Process.wait(spawn("true")) }, -> { IO.popen("true", &:read) }, -> { Open3.capture2("true") },
     -> { Process.wait(fork { exit!(0) }) }].each { |work| assert_match(/1 started program/, failure(max_processes: 0, &work)) }
  end

  def test_budget_counts_log_lines
    log = Logger.new(StringIO.new)
    assert_match(/2 lines of log/, failure(max_log_lines: 1) { 2.times { |n| log.info("request #{n}") } })
  end

  def test_budget_counts_other_threads = assert_match(/1 started program/, failure(max_processes: 0) { Thread.new { system("true") }.join })

  def test_budget_is_not_asserted_after_an_exception
    assert_equal "as asked", assert_raises(ArgumentError) { assert_budget(max_processes: 0) { system("true") && Worker.new.fail } }.message
  end

  def test_budget_lists_what_was_done
    database = self.database
    said = failure(max_sql: 0) { 2.times { |n| database.execute("SELECT #{n}, 'secret'") } && database.execute("SELECT 1") }
    assert_match(/2 × SELECT \?, \?\n\s+1 × SELECT \?/, said)
    refute_match(/secret/, said)
  end

  def test_budget_without_a_limit_is_refused = assert_match(/max_sql, max_redis/, assert_raises(ArgumentError) { assert_budget { nil } }.message)
end
