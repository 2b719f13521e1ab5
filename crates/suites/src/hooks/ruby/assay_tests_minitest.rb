# frozen_string_literal: true

# Minitest 5 and later: converts its calls to events. Names of tests are those of its JUnit reports:
# class and method.

module AssayTests
  # The hooks of Minitest.
  module OfMinitest
    # None of these methods takes arguments; forwarding arbitrary ones would cost more than the
    # methods themselves.
    RUN = AssayTests.around("run", "::AssayTests::OfMinitest.begin_test(self)", "::AssayTests::OfMinitest.end_test(self)") + <<~'RUBY'
      def after_setup
        super
        ::AssayTests.setup_ended(self)
      end

      def before_teardown
        ::AssayTests::OfMinitest.body_ended(self)
        super
      end
    RUBY

    # For classes: `run` covers all tests of a class, including what the suite's class does around
    # it.
    CLASS_RUN = AssayTests.around("METHOD(...)", "::AssayTests::OfMinitest.begin_group(self)", "::AssayTests::OfMinitest.end_group(self)").freeze

    START = <<~'RUBY'
      def run(...)
        ::AssayTests::OfMinitest.run_begins
        super
      ensure
        ::AssayTests::OfMinitest.run_ended
      end
    RUBY

    SUITES = <<~'RUBY'
      def METHOD(reporter, options)
        ::AssayTests::OfMinitest.suites_begin
        ::AssayTests.only ? ::AssayTests::OfMinitest.run_only(reporter, options) : super
      ensure
        ::AssayTests::OfMinitest.suites_ended
      end
    RUBY

    # For classes of which only some tests run, in this order and without threads.
    CHOSEN = <<~'RUBY'
      def runnable_methods
        ::AssayTests::OfMinitest.chosen(self) || super
      end

      def run_one_method(klass, method_name, reporter)
        return super unless ::AssayTests::OfMinitest.chosen(self)

        reporter.prerecord(klass, method_name)
        reporter.record(::Minitest.run_one_method(klass, method_name))
      end
    RUBY

    # Beneath the methods above, so that their work is not in any test's frame.
    TEST_FRAME = <<~'RUBY'
      def run(*)
        ::AssayTests.framed_test(self) { super }
      end
    RUBY

    # For classes that do something around their tests.
    CLASS_FRAME = <<~'RUBY'
      def METHOD(*)
        ::AssayTests.framed("group", ::AssayTests::OfMinitest.group(self)) { super }
      end
    RUBY

    RUN_FRAME = <<~'RUBY'
      def METHOD(*)
        ::AssayTests.framed("run", nil) { super }
      end
    RUBY

    # Suites may define methods with this name.
    METHOD = Kernel.instance_method(:method)

    @folder = File.dirname(::Minitest::Runnable.method(:runnables).source_location[0])
    @folder = File.join(@folder, "minitest") unless @folder.end_with?("/minitest")
    @group = nil
    @begun_names = {}
    @chosen = {}.compare_by_identity

    class << self
      def install
        suites = %i[__run run_all_suites].find { |name| ::Minitest.respond_to?(name, true) }
        plant_frames(suites) if FRAMES
        AssayTests.plant(::Minitest::Test, RUN, @folder)
        AssayTests.plant(::Minitest.singleton_class, START, @folder)
        AssayTests.plant(::Minitest.singleton_class, SUITES.sub("METHOD", suites.to_s), @folder)
        @class_run = ::Minitest::Runnable.respond_to?(:run_suite) ? :run_suite : :run
      end

      def run_begins
        AssayTests.guarded { AssayTests.run_begins("minitest", ::Minitest::VERSION) }
        @begun = AssayTests.now
      end

      # Plugins are loaded and options are parsed; all classes exist, including those with a `run`
      # of their own.
      def suites_begin
        AssayTests.guarded do
          AssayTests.span("suite_setup", nil, @begun, AssayTests.now) if @begun
          hook_classes unless @classes_hooked
        end
      end

      def suites_ended
        @suites_end = AssayTests.now
      end

      def run_ended
        AssayTests.guarded do
          # Tests in threads end after their classes.
          AssayTests.span("suite_teardown", nil, [@suites_end, AssayTests.last_end].compact.max, AssayTests.now) if @suites_end
          AssayTests.flush
        end
      end

      def begin_test(test)
        AssayTests.guarded do
          group = group(test.class)
          name = "#{group}: #{test.name}"
          group_set_up(test.class)
          file, line = METHOD.bind_call(test, test.name).source_location
          running = AssayTests.begin_test(test, name, group, AssayTests.place(file, line))
          # Method names are unique within a class, so this is a retry, as by minitest-retry.
          running.again = true if running && !(@begun_names[name] ||= test).equal?(test)
          running
        end
      end

      def body_ended(test)
        running = AssayTests.body_ended(test)
        running.faults = test.failures.size if running
      end

      def end_test(test)
        AssayTests.guarded do
          running = AssayTests.tests[test] or next
          status, fault = outcome(test, running)
          AssayTests.end_test(test, status, fault && said(fault))
          @tested = true if @group
        end
      end

      # Returns false for calls of a superclass's method, and if there are no tests to run.
      def begin_group(klass)
        return false if @group

        AssayTests.guarded do
          @group = klass
          @tested = @set_up = false
          @group_begin = AssayTests.now
          AssayCoverage.group_begins if COVERAGE
          AssayTests.span_begins("group_setup", group(klass)) if @own_run.include?(klass)
        end
        true
      end

      def end_group(klass)
        AssayTests.guarded do
          AssayCoverage.group_ends if COVERAGE
          AssayTests.span("group_teardown", klass.name, AssayTests.last_end, AssayTests.now) if @tested && AssayTests.last_end
          AssayTests.flush
        end
        @group = nil
      end

      def chosen(klass)
        @chosen[klass]
      end

      def group(klass)
        klass.name || klass.to_s
      end

      # Runs the chosen tests in order; a class runs as often as the order returns to it.
      def run_only(reporter, options)
        all = ::Minitest::Runnable.runnables.each_with_object({}) do |klass, found|
          klass.runnable_methods.each { |name| found["#{klass.name || klass}: #{name}"] = [klass, name] }
        end
        chosen = AssayTests.chosen(all) { |klass, name| klass.instance_method(name).source_location&.first }
        chosen.chunk_while { |one, next_one| one[0].equal?(next_one[0]) }.map do |tests|
          klass = tests[0][0]
          AssayTests.plant(klass.singleton_class, CHOSEN, @folder) unless @chosen.key?(klass)
          @chosen[klass] = tests.map(&:last)
          klass.public_send(@class_run, reporter, options)
        ensure
          @chosen[klass] = nil
        end
      end

      private

      def plant_frames(suites)
        AssayTests.frames_in(@folder)
        AssayTests.plant(::Minitest::Test, TEST_FRAME, @folder)
        AssayTests.plant(::Minitest.singleton_class, RUN_FRAME.sub("METHOD", suites.to_s), @folder)
      end

      def hook_classes
        @classes_hooked = true
        source = CLASS_RUN.sub("METHOD", @class_run.to_s)
        planted = AssayTests.plant(::Minitest::Runnable.singleton_class, source, @folder)
        @own_run = ::Minitest::Runnable.runnables.reject { |klass| klass.method(@class_run).owner.equal?(planted) }
        @own_run.each do |klass|
          AssayTests.plant(klass.singleton_class, CLASS_FRAME.sub("METHOD", @class_run.to_s), @folder) if FRAMES
          klass.singleton_class.prepend(planted)
        end
        # The method in which libraries install their class hooks.
        @own_run |= ::Minitest::Runnable.runnables.reject { |klass| klass.method(:with_info_handler).owner == ::Minitest::Runnable.singleton_class }
      end

      # Reports the setup of the class before its first test.
      def group_set_up(klass)
        return if @group.nil? || @set_up || !@group.equal?(klass)

        @set_up = true
        AssayTests.span("group_setup", klass.name, @group_begin, AssayTests.now)
      end

      def outcome(test, running)
        fault = test.failures.first
        return ["passed", nil] if fault.nil?
        return ["skipped", fault] if test.skipped?
        return ["error", fault] if running.faults.to_i.zero? && running.body_end || running.setup_end.nil? && running.body_end

        ["failed", fault]
      end

      # Returns the message of a fault, without the backtrace that an error's message includes.
      def said(fault)
        error = fault.respond_to?(:error) ? fault.error : fault
        error.equal?(fault) ? fault.message : "#{error.class}: #{error.message}"
      end
    end

    install
  end
end
