# frozen_string_literal: true

# For each framework: where it starts to run its tests, the names of the tests, and running some of
# them in a child, in a given order, with the results reported only to the driver.

module AssayMutants
  # RSpec 3.
  module OfRspec
    RUNNER = <<~'RUBY'
      def run_specs(groups)
        ::AssayMutants.serves? ? super : ::AssayMutants::OfRspec.serve(groups)
      end
    RUBY

    # Overrides for groups while only some examples run, in this order.
    CHOSEN = <<~'RUBY'
      def filtered_examples
        ::AssayMutants::OfRspec.chosen(self) || super
      end

      def descendant_filtered_examples
        ::AssayMutants::OfRspec.chosen_below(self) || super
      end

      def ordering_strategy
        ::AssayMutants::OfRspec.as_chosen || super
      end
    RUBY

    # Consecutive examples of one group.
    Chunk = Struct.new(:examples) do
      # RSpec uses a strategy to order examples and groups: selects only those that lead to the
      # chosen ones.
      def order(items)
        items.select { |item| !item.is_a?(Class) || path.include?(item) }
      end

      def path
        @path ||= examples[0].example_group.parent_groups
      end
    end

    # Receives the results of examples.
    class Reporter
      def initialize(names)
        @names = names
      end

      def example_passed(_example)
        ::AssayMutants.ended
      end
      alias example_pending example_passed

      def example_failed(example)
        ::AssayMutants.failed(@names.fetch(example))
      end

      def notify_non_example_exception(exception, context)
        ::AssayMutants.broken("#{context} #{exception.class}")
      end

      # All other messages are for users.
      def method_missing(*) end

      def respond_to_missing?(*)
        true
      end
    end

    @chunk = nil

    class << self
      def install
        folder = File.dirname(::RSpec::Core::Example.instance_method(:run).source_location[0])
        ::AssayMutants.plant(::RSpec::Core::Runner, RUNNER, folder)
        @folder = folder
        true
      end

      def serve(groups)
        fail_once if defined?(::RSpec::Expectations)
        ::AssayMutants.plant(::RSpec::Core::ExampleGroup.singleton_class, CHOSEN, @folder)
        forced = ::RSpec.configuration.ordering_manager.instance_variable_get(:@seed_forced)
        ::AssayMutants.serve(tests(groups), seeded: forced) { |chosen| run(chosen) }
      end

      def chosen(group)
        @chunk && (@chunk.path[0].equal?(group) ? @chunk.examples : [])
      end

      def chosen_below(group)
        @chunk && (@chunk.path.include?(group) ? @chunk.examples : [])
      end

      def as_chosen
        @chunk
      end

      private

      # The formatter of differences is loaded at the first failure, which would otherwise happen in
      # each child.
      def fail_once
        ::RSpec::Expectations.fail_with("", "a", "b")
      rescue Exception # rubocop:disable Lint/RescueException -- its failures are no standard errors.
        nil
      end

      # Names as in assay_tests_rspec.rb.
      def tests(groups)
        seen = Hash.new(0)
        without = Hash.new(0).compare_by_identity
        numbered = {}.compare_by_identity
        ::RSpec.world.all_example_groups.flat_map(&:examples).each do |example|
          described = example.full_description
          if example.metadata[:description].to_s.empty?
            described = "#{example.example_group.metadata[:full_description]} (example #{without[example.example_group] += 1})".lstrip
          end
          name = "#{example.metadata[:file_path].delete_prefix("./")}: #{described}"
          times = seen[name] += 1
          numbered[example] = times > 1 ? "#{name} ##{times}" : name
        end
        groups.flat_map(&:descendants).flat_map(&:filtered_examples).each_with_object({}) do |example, all|
          all[numbered[example]] = all[example.id] = example
        end
      end

      def run(chosen)
        reporter = Reporter.new(chosen)
        chunks = chosen.keys.chunk_while { |one, next_one| one.example_group.equal?(next_one.example_group) }
        ::RSpec.configuration.with_suite_hooks do
          chunks.each do |examples|
            @chunk = Chunk.new(examples)
            examples[0].example_group.parent_groups.last.run(reporter)
          end
          @chunk = nil
        end
      end
    end
  end

  # Minitest 5 and later.
  module OfMinitest
    START = <<~'RUBY'
      def run(*)
        ::Minitest.parallel_executor = ::AssayMutants::OfMinitest::Executor.new unless ::AssayMutants.serves?
        super
      end
    RUBY

    SUITES = <<~'RUBY'
      def METHOD(reporter, options)
        ::AssayMutants.serves? ? super : ::AssayMutants::OfMinitest.serve(options)
      end
    RUBY

    # Overrides for a class while only some tests run, in this order.
    CHOSEN = <<~'RUBY'
      def runnable_methods
        ::AssayMutants::OfMinitest.chosen(self) || super
      end
    RUBY

    # Replaces the executors with threads or processes.
    class Executor
      def start; end

      def shutdown; end

      def size
        1
      end

      def <<(work)
        klass, name, reporter = work
        reporter.prerecord(klass, name)
        reporter.record(::Minitest.run_one_method(klass, name))
      end
    end

    # Receives the results of tests.
    class Reporter
      def initialize(names)
        @names = names
      end

      def prerecord(klass, name)
        @running = [klass, name]
      end

      def record(result)
        return ::AssayMutants.ended if result.failures.empty? || result.skipped?

        ::AssayMutants.failed(@names.fetch(@running) { @names.values[0] })
      end

      # All other messages are for users.
      def method_missing(*) end

      def respond_to_missing?(*)
        true
      end
    end

    @chosen = {}.compare_by_identity

    class << self
      def install
        @folder = File.dirname(::Minitest::Runnable.method(:runnables).source_location[0])
        suites = %i[__run run_all_suites].find { |name| ::Minitest.respond_to?(name, true) }
        ::AssayMutants.plant(::Minitest.singleton_class, START, @folder)
        ::AssayMutants.plant(::Minitest.singleton_class, SUITES.sub("METHOD", suites.to_s), @folder)
        @class_run = ::Minitest::Runnable.respond_to?(:run_suite) ? :run_suite : :run
        true
      end

      def serve(options)
        tests = ::Minitest::Runnable.runnables.each_with_object({}) do |klass, all|
          klass.runnable_methods.each { |name| all["#{klass.name || klass}: #{name}"] = [klass, name] }
        end
        seeded = options[:args].to_s.match?(/--seed|(?:\A|\s)-s/) || ENV.key?("SEED")
        ::AssayMutants.serve(tests, seeded: seeded) { |chosen| run(chosen, options) }
      end

      def chosen(klass)
        @chosen[klass]
      end

      private

      def run(chosen, options)
        reporter = Reporter.new(chosen.keys.to_h { |test| [test, chosen[test]] })
        chosen.keys.chunk_while { |one, next_one| one[0].equal?(next_one[0]) }.each do |tests|
          klass = tests[0][0]
          ::AssayMutants.plant(klass.singleton_class, CHOSEN, @folder) unless @chosen.key?(klass)
          @chosen[klass] = tests.map(&:last)
          klass.public_send(@class_run, reporter, options)
          @chosen[klass] = nil
        end
      end
    end
  end

  # test-unit 3.
  module OfTestUnit
    MEDIATOR = <<~'RUBY'
      def run(...)
        return super if ::AssayMutants.serves?

        ::AssayMutants::OfTestUnit.serve(@suite) do |suite, failed, ended|
          @suite = suite
          channels.clear
          add_listener(::Test::Unit::TestResult::FAULT, &failed)
          add_listener(::Test::Unit::TestCase::FINISHED_OBJECT, &ended)
          super
        end
      end
    RUBY

    class << self
      def install
        folder = File.dirname(::Test::Unit::TestCase.instance_method(:run).source_location[0])
        ::AssayMutants.plant(::Test::Unit::UI::TestRunnerMediator, MEDIATOR, folder)
        true
      end

      def serve(suite, &runs)
        tests = {}
        collect(suite, [], tests)
        ::AssayMutants.serve(tests, seeded: false) { |chosen| run(suite, chosen, runs) }
      end

      private

      def run(suite, chosen, runs)
        names = chosen.values
        done = 0
        failed = lambda do |fault|
          next unless fault.is_a?(::Test::Unit::Failure) || fault.is_a?(::Test::Unit::Error)

          # Tests that have ended are not the cause; the setup of a class is not a test, so the next
          # test, which needs it, failed.
          ::AssayMutants.failed(names[done] || names[-1])
        end
        ended = lambda do |_test|
          done += 1
          ::AssayMutants.ended
        end
        runs.call(rooted(suite, chosen.keys), failed, ended)
      end

      # The chosen tests in order: a class begins again each time the order returns to it.
      def rooted(suite, chosen)
        root = ::Test::Unit::TestSuite.new(suite.name)
        chosen.chunk_while { |one, next_one| one[1] == next_one[1] }.each do |tests|
          inner = tests[0][1].inject(root) do |outer, of|
            ::Test::Unit::TestSuite.new(of.name, of.test_case).tap { |made| outer << made }
          end
          tests.each { |test, _| inner << test }
        end
        root
      end

      # Names as in assay_tests_test_unit.rb.
      def collect(suite, around, all)
        suite.tests.each do |test|
          if test.respond_to?(:tests) then collect(test, [*around, test], all)
          else all["#{test.class.name || test.class}: #{test.local_name}"] = [test, around]
          end
        end
      end
    end
  end
end
