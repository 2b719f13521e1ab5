# frozen_string_literal: true

# Minitest 5 and later: what it calls when, as events. Names of tests are those of its JUnit reports: class and method.

module AssayTests
  # The hooks of Minitest.
  module OfMinitest
    # None of these takes anything, and to hand on whatever there might be costs more than all that they do.
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

    # Of classes: `run` is that of all of a class's tests, whatever a class of the suite does around it.
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

    # Of a class of which only some tests run, in this order, and not by threads.
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

    # Beneath the methods above, so that what they do is in no test's frame.
    TEST_FRAME = <<~'RUBY'
      def run(*)
        ::AssayTests.framed_test(self) { super }
      end
    RUBY

    # Of classes that do something around their tests.
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

    # Suites have methods of that name.
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

      # Plugins are loaded and options read: all classes are there, those with a `run` of their own, too.
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
          # A class has but one method of a name: it is tried again, as minitest-retry does.
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

      # False where this is the call of a superclass's method, or there are no tests to be run.
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

      # The chosen tests in their order: classes run as often as the order comes back to them.
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
        # Where libraries have their hooks of classes.
        @own_run |= ::Minitest::Runnable.runnables.reject { |klass| klass.method(:with_info_handler).owner == ::Minitest::Runnable.singleton_class }
      end

      # What was done for the class before its first test.
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

      # Without the backtrace that an error's message holds.
      def said(fault)
        error = fault.respond_to?(:error) ? fault.error : fault
        error.equal?(fault) ? fault.message : "#{error.class}: #{error.message}"
      end
    end

    install
  end
end
