# frozen_string_literal: true

# The test-case API for RSpec: `require "assay/rspec"` in spec_helper.rb. Every example has the
# methods of Assay::Testing (`fake_sleep`, `sleeps`, `sandbox`, …), undone when it ends, and
# matchers equivalent to the assertions.

begin
  require "rspec/core"
  require "rspec/expectations"
rescue LoadError
  raise LoadError, "assay/rspec needs RSpec, which is not there: gem install rspec"
end
require_relative "testing"

module Assay
  # Matchers and hooks.
  #
  #   expect { list.bsearch { … } }.to be_faster_than { list.find { … } }
  #   expect { new_parser.parse(text) }.to be_no_slower_than { old_parser.parse(text) }.by("5%")
  #   expect { render }.to allocate(..12)
  #   expect { page.render }.to make_calls(Database, :query, 1)
  #   expect { page.render }.to stay_within_budget(max_sql: 10, max_http: 0)
  #   expect { |n| table[n].sort }.to grow(:linearithmic).over([1_000, 2_000, 4_000])
  #
  # An inconclusive outcome skips the example with the reason, unless `.inconclusive(:fail)` or
  # `:pass` is given.
  module RSpec
    # A matcher for one of the questions; chained calls add options.
    class Matcher
      include ::RSpec::Core::Pending # Its `skip` ends the example.

      # `question` is called with the block of `expect` and the options, and returns a
      # Testing::Outcome.
      def initialize(words, **options, &question)
        @words = words
        @options = options
        @question = question
        @inconclusive = Testing.inconclusive
      end

      # The minimum difference, like `by: "5%"` of the assertions.
      def by(amount) = with(by: amount)

      # The sizes of `grow`, and `setup:` for its inputs.
      def over(sizes, **options) = with(sizes: sizes, **options)

      # Any other option of the assertion: `time:`, `warmup:`, `confidence:`, …
      def with(**options)
        @options.merge!(options)
        self
      end

      # The treatment of an inconclusive outcome: :skip, :fail or :pass.
      def inconclusive(choice)
        @inconclusive = Testing.checked_choice(choice)
        self
      end

      def matches?(block)
        @outcome = @question.call(block, @options)
        return @outcome.kind == :pass unless @outcome.kind == :inconclusive

        skip("inconclusive: #{@outcome.message}") if @inconclusive == :skip
        @inconclusive == :pass
      end

      # Not proven is not disproven, so `not_to` cannot be supported.
      def does_not_match?(_block)
        raise ArgumentError, "`not_to #{@words}` is not asked: say the opposite, as in `be_no_slower_than`"
      end

      def failure_message = "expected the block to #{@words}: #{"inconclusive: " if @outcome.kind == :inconclusive}#{@outcome.message}"
      def description = @words
      def supports_block_expectations? = true
      def supports_value_expectations? = false
    end

    # The matchers, available in every example.
    module Matchers
      # The block of `expect` takes less time than this one; `.by("10%")` requires a larger
      # difference.
      def be_faster_than(reference = nil, &block)
        asked_by("be faster than the other", by: 0) { |subject, options| Testing::Speed.new(subject, reference || block, **options).faster }
      end

      # The block of `expect` takes at most 5 % more time than this one; `.by("1%")` allows less.
      def be_no_slower_than(reference = nil, &block)
        asked_by("be no slower than the other", by: "5%") do |subject, options|
          Testing::Speed.new(subject, reference || block, **options).no_slower
        end
      end

      # The block allocates this many objects: a number or a Range.
      def allocate(expected)
        asked_by("allocate #{expected} objects") { |subject, _| Testing::Allocations.new(expected, &subject).outcome }
      end

      # The block calls the method this many times: a number or a Range.
      def make_calls(owner, method, expected)
        asked_by("call #{owner.inspect}##{method} #{expected} times") do |subject, _|
          Testing::CallCount.new(owner, method, expected, &subject).outcome
        end
      end

      # The block does not exceed these limits: `max_sql:`, `max_log_lines:`, `max_sleep:`, … (see
      # Testing#assert_budget). For whole examples and groups, use metadata: `it "renders", budget:
      # { max_sql: 10 }`.
      def stay_within_budget(**limits)
        budget = Testing::Budget.new(**limits)
        asked_by("stay within its budget") { |subject, _| budget.outcome(&subject) }
      end

      # The time of the block, which is called with a size, grows no faster than the model; the
      # sizes are given by `.over(sizes, setup: …)`.
      def grow(model)
        asked_by("grow no faster than #{model}") do |subject, options|
          sizes = options[:sizes] or raise ArgumentError, "grow(#{model.inspect}) needs sizes: .over([1_000, 2_000, 4_000])"
          Testing::Complexity.new(model, sizes, **options.reject { |name, _| name == :sizes }, &subject).outcome
        end
      end

      private

      def asked_by(words, **options, &question) = Matcher.new(words, **options, &question)
    end
  end

  # RSpec counts no assertions and has its own way to fail.
  module RSpecTesting
    include Testing

    private

    def assay_pass; end

    def assay_fail(message) = ::RSpec::Expectations.fail_with(message)
  end
end

RSpec.configure do |config|
  config.include(Assay::RSpecTesting)
  config.include(Assay::RSpec::Matchers)
  config.prepend_before(:each) { |example| assay_begin_budget(example.metadata[:budget]) }
  config.prepend_after(:each) { |example| assay_check_budget unless example.exception }
  config.append_after(:each) { |example| assay_teardown(failed: !example.exception.nil?) }
  # Backtraces of failures start in the spec, not in this file.
  config.backtrace_exclusion_patterns << /\A#{Regexp.escape(__dir__)}\//
end
