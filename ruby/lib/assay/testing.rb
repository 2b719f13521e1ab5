# frozen_string_literal: true

# The test-case API: helpers for tests of performance, and of programs that sleep and start other
# programs. A module for Minitest and Test::Unit (`include Assay::Testing`); for RSpec, `require
# "assay/rspec"`. This file combines the parts and integrates with the frameworks; the assertions
# are implemented in testing/.

require_relative "../assay"
require_relative "binary"
require_relative "compare"
require_relative "testing/outcome"
require_relative "testing/allocations"
require_relative "testing/budget"
require_relative "testing/call"
require_relative "testing/call_count"
require_relative "testing/clock"
require_relative "testing/complexity"
require_relative "testing/seam"
require_relative "testing/kind"
require_relative "testing/piping"
require_relative "testing/fake"
require_relative "testing/fakes"
require_relative "testing/sandbox"
require_relative "testing/speed"
require_relative "testing/state"

module Assay
  # Assertions decided by statistics, fakes, and a sandbox, for tests in any framework.
  #
  #   class CronTest < Minitest::Test
  #     include Assay::Testing
  #
  #     def test_it_sleeps_between_runs
  #       cron = Cron.new
  #       fake_sleep(cron)
  #       fake_system(cron, results: [true, false])
  #       assert_raises(RuntimeError) { cron.run("backup", 3600) }
  #       assert_equal [3600], sleeps(cron)
  #     end
  #   end
  #
  # Everything is undone when the test ends. There are three outcomes: an assertion holds, fails, or
  # is inconclusive; in the last case the test is skipped with the reason, unless `inconclusive:
  # :fail` or `:pass` is given (for all tests: `Assay::Testing.inconclusive = :fail`).
  module Testing
    include Fakes

    def self.included(base)
      super
      # Minitest calls `after_teardown`; Test::Unit needs a registration.
      test_unit = defined?(::Test::Unit::TestCase) && base.is_a?(Class) && base <= ::Test::Unit::TestCase
      if test_unit
        base.setup(:assay_begin_budget, before: :prepend)
        base.cleanup(:assay_check_budget)
        base.teardown(:assay_teardown)
      end
      base.extend(Budgets) if base.is_a?(Class)
    end

    # Class methods of test classes.
    module Budgets
      # Limits for the setup and body of each test of this class and its subclasses; with names
      # first, of only these tests.
      #
      #   budget max_sql: 20, max_sleep: 0
      #   budget :test_the_whole_year, max_sql: 200
      def budget(*names, **limits)
        Budget.new(**limits)
        (@assay_budgets ||= {}).update((names.empty? ? [nil] : names.map(&:to_sym)).to_h { |name| [name, limits] })
      end

      # Returns the limits of a test, or nil.
      def assay_budget(name)
        own = @assay_budgets || {}
        own[name.to_sym] || own[nil] || (superclass.assay_budget(name) if superclass.respond_to?(:assay_budget))
      end
    end

    # Asserts that `subject` takes less time than `reference`, by at least `by` ("10%", 0.1,
    # "50ns"). Both are Procs or Methods.
    #
    #   assert_faster -> { list.bsearch { |x| x >= 9 } }, -> { list.find { |x| x >= 9 } }
    #
    # time::    maximum measuring time per side in seconds (2)
    # primary:: the deciding metric: "cpu" (the process's CPU time, least affected by other
    #           programs), "wall", or "auto": CPU time if neither side waits for more than 1 % of
    #           its time, wall time otherwise ("auto")
    #
    # Other options: `warmup:`, `confidence:`, `threshold:`, `seed:`
    def assert_faster(subject, reference, by: 0, inconclusive: Testing.inconclusive, **options)
      assay_conclude(inconclusive) { Speed.new(subject, reference, by: by, **options).faster }
    end

    # Asserts that `subject` takes at most `by` more time than `reference`. Passes only if that is
    # established, not for a lack of data.
    #
    #   assert_no_slower new_parser, old_parser, by: "5%"
    def assert_no_slower(subject, reference, by: "5%", inconclusive: Testing.inconclusive, **options)
      assay_conclude(inconclusive) { Speed.new(subject, reference, by: by, **options).no_slower }
    end

    # Asserts the number of objects that the block allocates: a number, or a Range (`..3`). Runs the
    # block four times, and once more to locate the allocations if there are others than expected.
    # Inconclusive if the runs fall on both sides of the bound.
    def assert_allocations(expected, inconclusive: Testing.inconclusive, &block)
      assay_conclude(inconclusive) { Allocations.new(expected, &block).outcome }
    end

    # Asserts how often the block calls an instance method of a class or module: a number, or a
    # Range (`1..`). The method works as usual. Calls in other threads are not counted.
    #
    #   assert_calls(Database, :query, 1) { page.render }
    def assert_calls(owner, method, expected, &block)
      assay_conclude(:fail) { CallCount.new(owner, method, expected, &block).outcome }
    end

    # Asserts limits for the block, in all threads of the process: `max_sql:` statements,
    # `max_redis:` commands, `max_log_lines:`, `max_http:` requests, `max_processes:` started
    # programs, `max_sleep:` seconds, `max_allocations:` objects. Faked calls do not count. A
    # failure lists the most frequent statements, lines or programs, with their values replaced.
    #
    #   assert_budget(max_sql: 10, max_http: 0) { page.render }
    #
    # For whole tests: `budget max_sql: 10` in their class.
    def assert_budget(**limits, &block)
      assay_conclude(:fail) { Budget.new(**limits).outcome(&block) }
    end

    # Asserts that the time of the block grows no faster with its input than :constant,
    # :logarithmic, :linear, :linearithmic, :quadratic or :cubic, or a custom model (`->(n) { n *
    # Math.sqrt(n) }`).
    #
    #   assert_complexity(:linear, [1_000, 2_000, 4_000, 8_000], setup: ->(n) { Array.new(n) { rand } }) { |list| list.sum }
    #
    # The exponent of the growth has an interval; the assertion holds if its upper end is at most
    # the model's exponent plus a `tolerance:` of 0.25. If the growth accelerates, the larger half
    # of the sizes decides.
    #
    # setup:: creates the input of each size, untimed. time:: maximum seconds per size (2)
    def assert_complexity(model, sizes, inconclusive: Testing.inconclusive, **options, &block)
      assay_conclude(inconclusive) { Complexity.new(model, sizes, **options, &block).outcome }
    end

    # Gives the test an empty directory, which is its working directory, HOME and TMPDIR, and sets
    # the variables of `env` (removes those that are nil); returns its path. Lasts for the block,
    # which is called with the path, or without a block until the test ends.
    #
    # Both are process-wide: raises ThreadError while another thread has a sandbox.
    def sandbox(env: {})
      box = Sandbox.new(env)
      unless block_given?
        assay_test.undo_later { box.undo }
        return box.directory
      end

      begin
        yield box.directory
      ensure
        box.undo
      end
    end

    # Called by Minitest around setup, and when the test has ended.
    def before_setup
      assay_begin_budget
      super if defined?(super)
    end

    def before_teardown
      super if defined?(super)
    ensure
      assay_check_budget
    end

    # Called by frameworks; in RSpec the limits are metadata of the example.
    def assay_begin_budget(limits = assay_limits)
      return unless limits

      budget = @assay_budget = Budget.new(**limits).start
      assay_test.undo_later { budget.stop }
    end

    def assay_check_budget
      budget = @assay_budget or return
      @assay_budget = nil
      budget.stop
      # A test that has already failed needs no second reason.
      return if respond_to?(:failures) && !failures.empty?

      assay_conclude(:fail) { budget.result }
    end

    # Called by Minitest after a test and its own `teardown`, regardless of the result.
    def after_teardown
      super if defined?(super)
    ensure
      assay_teardown
    end

    # Undoes all fakes and setup of the test, and reports fakes that were never called, unless the
    # test has failed anyway. Called by frameworks; scripts without one call it themselves.
    def assay_teardown(failed: assay_failed?)
      state = @assay_test or return
      @assay_test = nil
      state.undo
      assay_report_unused(state.fakes) unless failed
    end

    private

    def assay_failed?
      return !failures.empty? if respond_to?(:failures)

      respond_to?(:passed?) && !passed?
    end

    def assay_report_unused(fakes)
      unused = fakes.reject { |fake| fake.used? || fake.unused == :ok }
      return if unused.empty?

      lines = unused.map { |fake| "#{fake.label} (#{fake.place ? "#{fake.place.path}:#{fake.place.lineno}" : "no file"}) was never called" }
      message = "#{lines.join("\n")}\n  the code under test may have done it for real, in another way. Without an object, as in fake_sleep { … }, " \
                "a fake stands for every call of the thread; `unused: :ok` allows a fake that is not called"
      return assay_fail(message) if unused.any? { |fake| fake.unused == :fail }

      warn("assay: #{"#{self.class}##{name}: " if respond_to?(:name)}#{message}")
    end

    def assay_test = (@assay_test ||= State.new)

    def assay_limits
      name = respond_to?(:method_name) ? method_name : (self.name if respond_to?(:name))
      self.class.assay_budget(name) if name && self.class.respond_to?(:assay_budget)
    end

    # Reports the outcome of an assertion to the framework.
    def assay_conclude(inconclusive)
      Testing.checked_choice(inconclusive)
      outcome = yield
      kind = outcome.kind == :inconclusive ? inconclusive : outcome.kind
      case kind
      when :pass then assay_pass
      when :fail then assay_fail("#{"inconclusive: " if outcome.kind == :inconclusive}#{outcome.message}")
      when :skip then assay_skip("inconclusive: #{outcome.message}")
      end
      outcome
    end

    # Counts an assertion that held, if the framework counts them.
    def assay_pass
      assert(true) if respond_to?(:assert, true)
    end

    def assay_fail(message)
      respond_to?(:flunk, true) ? flunk(message) : raise(Failed, message)
    end

    # Named `omit` in Test::Unit, `skip` in Minitest.
    def assay_skip(reason)
      return omit(reason) if respond_to?(:omit, true)

      respond_to?(:skip, true) ? skip(reason) : raise(Inconclusive, reason)
    end
  end
end
