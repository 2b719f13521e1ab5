# frozen_string_literal: true

# test-unit 3: converts its calls to events. Names of tests are class and method, with the label of
# the data.

module AssayTests
  # The hooks of test-unit.
  module OfTestUnit
    TEST = AssayTests.around("run(result, *others, **options, &block)", "::AssayTests::OfTestUnit.begin_test(self, result)",
                             "::AssayTests::OfTestUnit.end_test(self, result)") + <<~'RUBY'
      private

      def run_test(...)
        ::AssayTests.setup_ended(self)
        returned = false
        super
        returned = true
      ensure
        ::AssayTests::OfTestUnit.body_ended(self, returned)
      end
    RUBY

    SUITE = "private\n" + %w[startup setup shutdown teardown].each_slice(2).map do |hook, kind|
      AssayTests.spanning("run_#{hook}(...)", "::AssayTests::OfTestUnit.group_begins(self, 'group_#{kind}', :#{hook})")
    end.join

    FAULTS = "private\n" + %w[startup shutdown].map { |hook| <<~RUBY }.join
      def run_#{hook}(given)
        result = given.respond_to?(:result) ? given.result : given
        faults = result.faults.size
        super
      ensure
        ::AssayTests::OfTestUnit.beside(self, "#{hook}", result, faults) if faults
      end
    RUBY

    MEDIATOR = <<~'RUBY'
      def run(...)
        @suite = ::AssayTests::OfTestUnit.run_begins(@suite)
        super
      ensure
        ::AssayTests.flush
      end
    RUBY

    HOOKS = %w[start setup exit teardown].each_slice(2).map do |hook, kind|
      AssayTests.spanning("run_at_#{hook}_hooks(...)", "::AssayTests.span_begins('suite_#{kind}', nil, announce: false)")
    end.join.freeze

    # Beneath the methods above, so that their work is not in any frame.
    TEST_FRAME = <<~'RUBY'
      def run(result, *others, **options, &block)
        ::AssayTests.framed_test(self) { super }
      end
    RUBY

    SUITE_FRAME = <<~'RUBY'
      private

      def run_startup(*)
        ::AssayTests.framed(*::AssayTests::OfTestUnit.group_frame("group_setup", self)) { super }
      end

      def run_shutdown(*)
        ::AssayTests.framed(*::AssayTests::OfTestUnit.group_frame("group_teardown", self)) { super }
      end
    RUBY

    RUN_FRAME = <<~'RUBY'
      def run(*)
        ::AssayTests.framed("run", nil) { super }
      end
    RUBY

    METHOD = Kernel.instance_method(:method)

    @folder = File.dirname(::Test::Unit::TestCase.instance_method(:run).source_location[0])

    class << self
      def install
        plant_frames if FRAMES
        # Methods with fewer parameters are called with fewer arguments: each kind of argument
        # allocates objects, which suites of quick tests have to collect.
        test = TEST
        test = test.sub("(...)", "") if ::Test::Unit::TestCase.instance_method(:run_test).arity.zero?
        test = test.sub(", *others, **options, &block", "") if ::Test::Unit::TestCase.instance_method(:run).arity == 1
        AssayTests.plant(::Test::Unit::TestCase, test, @folder)
        AssayTests.plant(::Test::Unit::TestSuite, SUITE, @folder)
        AssayTests.plant(::Test::Unit::TestSuite, FAULTS, @folder)
        AssayTests.plant(::Test::Unit::UI::TestRunnerMediator, MEDIATOR, @folder)
        AssayTests.plant(::Test::Unit.singleton_class, HOOKS, @folder) if ::Test::Unit.respond_to?(:run_at_start_hooks)
      end

      # Returns the suite to run.
      def run_begins(suite)
        AssayTests.guarded do
          require "test/unit/version"
          AssayTests.run_begins("test-unit", ::Test::Unit::VERSION)
          next chosen(suite) if AssayTests.only

          shuffle(suite, Random.new(AssayTests.order)) if AssayTests.order
          nil
        end || suite
      end

      def begin_test(test, result)
        AssayTests.guarded do
          group = test.class.name || test.class.to_s
          file, line = METHOD.bind_call(test, test.method_name).source_location if test.respond_to?(test.method_name, true)
          running = AssayTests.begin_test(test, name(test), group, AssayTests.place(file, line))
          running.faults = result.faults.size if running
          running
        end
      end

      def body_ended(test, returned)
        running = AssayTests.body_ended(test)
        running.returned = returned if running
      end

      def end_test(test, result)
        AssayTests.guarded do
          running = AssayTests.tests[test] or next
          next AssayTests.end_test(test, "passed", nil) if result.faults.size == running.faults

          faults = result.faults.drop(running.faults).reject { |fault| fault.is_a?(::Test::Unit::Notification) }
          failed = faults.find { |fault| fault.is_a?(::Test::Unit::Failure) || fault.is_a?(::Test::Unit::Error) }
          status = if failed then running.returned == false ? "failed" : "error"
                   elsif faults.empty? then "passed"
                   else "skipped"
                   end
          fault = failed || faults.first
          AssayTests.end_test(test, status, fault && fault.message)
        end
      end

      # A failed hook of a class.
      def beside(suite, hook, result, before)
        AssayTests.guarded do
          name = suite.test_case ? suite.test_case.name || suite.test_case.to_s : suite.name
          result.faults.drop(before).each { |fault| AssayTests.beside("#{name}: #{hook}", name, fault.message) }
        end
      end

      def group_begins(suite, kind, hook)
        AssayTests.guarded do
          klass = suite.test_case if suite.respond_to?(:test_case)
          own = klass.respond_to?(hook) && klass.method(hook).owner != ::Test::Unit::TestCase.singleton_class
          AssayTests.span_begins(kind, klass && (klass.name || klass.to_s), announce: own)
        end
      end

      # Returns the kind and name of the frame.
      def group_frame(kind, suite)
        klass = suite.test_case if suite.respond_to?(:test_case)
        klass ? [kind, klass.name || klass.to_s] : [nil, nil]
      end

      private

      def plant_frames
        AssayTests.frames_in(@folder)
        AssayTests.plant(::Test::Unit::TestCase, TEST_FRAME, @folder)
        AssayTests.plant(::Test::Unit::TestSuite, SUITE_FRAME, @folder)
        AssayTests.plant(::Test::Unit::UI::TestRunnerMediator, RUN_FRAME, @folder)
      end

      def name(test)
        "#{test.class.name || test.class}: #{test.local_name}"
      end

      # Groups stay together, as in the framework's own random order.
      def shuffle(suite, random)
        suite.tests.shuffle!(random: random)
        suite.tests.each { |test| shuffle(test, random) if test.respond_to?(:tests) }
      end

      # Returns a suite of the chosen tests in order; a class begins as often as the order returns to
      # it.
      def chosen(suite)
        all = {}
        collect(suite, [], all)
        root = ::Test::Unit::TestSuite.new(suite.name)
        chosen = AssayTests.chosen(all) { |test, _| test.method(test.method_name).source_location&.first }
        chosen.chunk_while { |one, next_one| one[1] == next_one[1] }.each do |tests|
          inner = tests[0][1].inject(root) do |outer, of|
            ::Test::Unit::TestSuite.new(of.name, of.test_case).tap { |made| outer << made }
          end
          tests.each { |test, _| inner << test }
        end
        root
      end

      def collect(suite, around, all)
        suite.tests.each do |test|
          test.respond_to?(:tests) ? collect(test, [*around, test], all) : all[name(test)] = [test, around]
        end
      end
    end

    install
  end
end
