# frozen_string_literal: true

# RSpec 3: converts its calls to events. Names of examples are those of its JSON report: file and
# full description, if they have a description of their own.

module AssayTests
  # The hooks of RSpec.
  module OfRspec
    RUNNER = <<~'RUBY'
      def run_specs(groups)
        super(::AssayTests::OfRspec.run_begins(groups))
      ensure
        ::AssayTests.flush
      end
    RUBY

    CONFIGURATION = <<~'RUBY'
      private

      def run_suite_hooks(description, hooks)
        return super if hooks.empty?

        begin
          span = ::AssayTests.span_begins(description.include?("before") ? "suite_setup" : "suite_teardown", nil)
          super
        ensure
          ::AssayTests.span_ended(span)
        end
      end
    RUBY

    GROUP = %w[before setup after teardown].each_slice(2).map do |hook, kind|
      AssayTests.spanning("run_#{hook}_context_hooks(...)", "::AssayTests::OfRspec.group_begins(self, 'group_#{kind}', :@#{hook}_context_hooks)")
    end.join.freeze

    EXAMPLE = AssayTests.around("run(...)", "::AssayTests::OfRspec.begin_test(self)", "::AssayTests::OfRspec.end_test(self)") + <<~'RUBY'
      def fail_with_exception(reporter, exception)
        super
      ensure
        ::AssayTests::OfRspec.not_run(self, "error", exception.message)
      end

      def skip_with_exception(reporter, exception)
        super
      ensure
        ::AssayTests::OfRspec.not_run(self, "skipped", exception.argument)
      end

      private

      def run_before_example
        super
        ::AssayTests.setup_ended(self)
      end

      def run_after_example
        ::AssayTests::OfRspec.body_ended(self)
        super
      end
    RUBY

    REPORTER = <<~'RUBY'
      def notify_non_example_exception(exception, description)
        super
      ensure
        ::AssayTests::OfRspec.beside(exception, description)
      end
    RUBY

    # Beneath the methods above, so that their work is not in any frame.
    RUN_FRAME = <<~'RUBY'
      def run_specs(*)
        ::AssayTests.framed("run", nil) { super }
      end
    RUBY

    CONFIGURATION_FRAME = <<~'RUBY'
      private

      def run_suite_hooks(description, *)
        ::AssayTests.framed(description.include?("before") ? "suite_setup" : "suite_teardown", nil) { super }
      end
    RUBY

    GROUP_FRAME = <<~'RUBY'
      def run_before_context_hooks(*)
        ::AssayTests.framed(*::AssayTests::OfRspec.group_frame("group_setup", self)) { super }
      end

      def run_after_context_hooks(*)
        ::AssayTests.framed(*::AssayTests::OfRspec.group_frame("group_teardown", self)) { super }
      end
    RUBY

    TEST_FRAME = <<~'RUBY'
      def run(*)
        ::AssayTests.framed_test(self) { super }
      end
    RUBY

    # For groups of which only some examples run, in this order.
    CHOSEN = <<~'RUBY'
      def filtered_examples
        ::AssayTests::OfRspec.chosen(self) || super
      end

      def descendant_filtered_examples
        ::AssayTests::OfRspec.chosen_below(self) || super
      end

      def ordering_strategy
        ::AssayTests::OfRspec.as_chosen || super
      end
    RUBY

    # Consecutive examples in one group, which the runner treats as a group.
    Chunk = Struct.new(:examples) do
      def run(reporter)
        OfRspec.choose(self) { examples[0].example_group.parent_groups.last.run(reporter) }
      end

      def descendants
        [self]
      end

      def filtered_examples
        examples
      end

      # RSpec asks a strategy for the order of examples and of groups; this one keeps only the
      # groups that lead to the chosen examples.
      def order(items)
        items.select { |item| !item.is_a?(Class) || path.include?(item) }
      end

      def path
        @path ||= examples[0].example_group.parent_groups
      end
    end

    @folder = File.dirname(::RSpec::Core::Example.instance_method(:run).source_location[0])
    @chunk = nil
    @numbered = {}.compare_by_identity
    @described = {}.compare_by_identity
    @seen = Hash.new(0)

    class << self
      def install
        with_suite_hooks = ::RSpec::Core::Configuration.private_method_defined?(:run_suite_hooks)
        plant_frames(with_suite_hooks) if FRAMES
        AssayTests.plant(::RSpec::Core::Runner, RUNNER, @folder)
        AssayTests.plant(::RSpec::Core::Configuration, CONFIGURATION, @folder) if with_suite_hooks
        AssayTests.plant(::RSpec::Core::ExampleGroup.singleton_class, GROUP, @folder)
        AssayTests.plant(::RSpec::Core::Example, EXAMPLE, @folder)
        reporter = ::RSpec::Core::Reporter
        AssayTests.plant(reporter, REPORTER, @folder) if reporter.method_defined?(:notify_non_example_exception)
      end

      # Returns the groups to run.
      def run_begins(groups)
        @begun = true
        AssayTests.guarded do
          AssayTests.run_begins("rspec", ::RSpec::Core::Version::STRING)
          number(::RSpec.world.all_example_groups.flat_map(&:examples))
          chunks(groups) if AssayTests.only
        end || groups
      end

      def begin_test(example)
        AssayTests.guarded { AssayTests.begin_test(example, name(example), group(example), place(example)) }
      end

      def body_ended(example)
        running = AssayTests.body_ended(example)
        running.faults = example.exception ? 1 : 0 if running
      end

      def end_test(example)
        AssayTests.guarded do
          running = AssayTests.tests[example] or next
          status, message = outcome(example, running)
          # From rspec-retry.
          tried = example.metadata[:retry_exceptions]
          if tried.is_a?(Array) && !tried.empty?
            running.retries = status == "passed" ? tried.size : tried.size - 1
            message ||= "#{tried[0].class}: #{tried[0].message}"
          end
          AssayTests.end_test(example, status, message, name(example), example.id)
        end
      end

      def not_run(example, status, message)
        AssayTests.guarded { AssayTests.no_test(name(example), group(example), place(example), status, message) }
      end

      # A failed hook of a group or of the suite. Loading errors come earlier, and then no example
      # runs.
      def beside(exception, description)
        AssayTests.guarded do
          # The other lines guess at another file.
          what = description.strip.lines.first.to_s.sub(/\.?( - Did you mean\?)?\s*\z/, "")
          why = "#{exception.class}: #{exception.message}"
          next AssayTests.beside(what, nil, why) if @begun

          AssayTests.run_begins("rspec", ::RSpec::Core::Version::STRING)
          AssayTests.fault("#{what}: #{why}")
        end
      end

      # Every example also has a singleton group of its own, which is ignored.
      def group_begins(klass, kind, hooks)
        return if klass.singleton_class?

        AssayTests.guarded do
          has_hooks = klass.hooks.instance_variable_get(hooks)
          AssayTests.span_begins(kind, klass.metadata[:full_description], announce: has_hooks)
        end
      end

      # Returns the kind and name of the frame.
      def group_frame(kind, klass)
        klass.singleton_class? ? [nil, nil] : [kind, klass.metadata[:full_description]]
      end

      # Selects the examples of this chunk during the block.
      def choose(chunk)
        @chunk = chunk
        yield
      ensure
        @chunk = nil
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

      def plant_frames(with_suite_hooks)
        AssayTests.frames_in(@folder)
        AssayTests.plant(::RSpec::Core::Runner, RUN_FRAME, @folder)
        AssayTests.plant(::RSpec::Core::Configuration, CONFIGURATION_FRAME, @folder) if with_suite_hooks
        AssayTests.plant(::RSpec::Core::ExampleGroup.singleton_class, GROUP_FRAME, @folder)
        AssayTests.plant(::RSpec::Core::Example, TEST_FRAME, @folder)
      end

      def group(example)
        example.example_group.metadata[:full_description]
      end

      def place(example)
        AssayTests.place(example.metadata[:file_path], example.metadata[:line_number])
      end

      def name(example)
        described = @described[example] || example.full_description
        "#{example.metadata[:file_path].delete_prefix("./")}: #{described}#{@numbered[example]}"
      end

      # Numbers examples with the same name in the order of their files, not of their execution.
      # RSpec derives the name of an example without a description from its matcher if it passes,
      # and has none if it fails; such examples are named by their position in the group so that the
      # name does not depend on the outcome.
      def number(examples)
        without = Hash.new(0).compare_by_identity
        examples.each do |example|
          if example.metadata[:description].to_s.empty?
            @described[example] = "#{group(example)} (example #{without[example.example_group] += 1})".lstrip
          end
          known = name(example)
          times = @seen[known] += 1
          @numbered[example] = " ##{times}" if times > 1
        end
      end

      def chunks(groups)
        below = groups.flat_map(&:descendants)
        all = {}
        below.each { |group| group.filtered_examples.each { |example| all[name(example)] = all[example.id] = example } }
        AssayTests.plant(::RSpec::Core::ExampleGroup.singleton_class, CHOSEN, @folder)
        chosen = AssayTests.chosen(all) { |example| example.metadata[:absolute_file_path] }
        chosen.chunk_while { |one, next_one| one.example_group.equal?(next_one.example_group) }.map { |examples| Chunk.new(examples) }
      end

      def outcome(example, running)
        result = example.execution_result
        case result.status
        when :passed then ["passed", nil]
        when :pending then ["skipped", result.pending_message]
        else
          message = result.exception && "#{result.exception.class}: #{result.exception.message}"
          in_body = running.setup_end && running.faults == 1
          [in_body || result.status.nil? ? "failed" : "error", message]
        end
      end
    end

    install
  end
end
