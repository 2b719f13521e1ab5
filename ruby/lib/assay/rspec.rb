# frozen_string_literal: true

# The test-case API for RSpec: `require "assay/rspec"` in spec_helper.rb. Every example has the methods of Assay::Testing (`fake_sleep`,
# `sleeps`, `sandbox`, …), undone when it ends, and there are matchers that ask the same questions as the assertions.

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
  # An inconclusive outcome skips the example with the reason, or does what `.inconclusive(:fail)` or `:pass` says.
  module RSpec
    # A matcher for one of the questions; chained calls add to its options.
    class Matcher
      include ::RSpec::Core::Pending # Its `skip` ends the example.

      # `question` is given the block of `expect` and the options, and gives a Testing::Outcome.
      def initialize(words, **options, &question)
        @words = words
        @options = options
        @question = question
        @inconclusive = Testing.inconclusive
      end

      # By how much, as in `by: "5%"` of the assertions.
      def by(amount) = with(by: amount)

      # The sizes of `grow`, and `setup:` for its inputs.
      def over(sizes, **options) = with(sizes: sizes, **options)

      # Any further option of the assertion: `time:`, `warmup:`, `confidence:`, …
      def with(**options)
        @options.merge!(options)
        self
      end

      # What becomes of an inconclusive outcome: :skip, :fail or :pass.
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

      # Not proven is not disproven, so there is nothing that `not_to` could rest on.
      def does_not_match?(_block)
        raise ArgumentError, "`not_to #{@words}` is not asked: say the opposite, as in `be_no_slower_than`"
      end

      def failure_message = "expected the block to #{@words}: #{"inconclusive: " if @outcome.kind == :inconclusive}#{@outcome.message}"
      def description = @words
      def supports_block_expectations? = true
      def supports_value_expectations? = false
    end

    # The matchers, for every example.
    module Matchers
      # The block of `expect` takes less time than this one; `.by("10%")` asks for more.
      def be_faster_than(reference = nil, &block)
        asked_by("be faster than the other", by: 0) { |subject, options| Testing::Speed.new(subject, reference || block, **options).faster }
      end

      # The block of `expect` takes no more time than this one, and 5 % more; `.by("1%")` allows less.
      def be_no_slower_than(reference = nil, &block)
        asked_by("be no slower than the other", by: "5%") do |subject, options|
          Testing::Speed.new(subject, reference || block, **options).no_slower
        end
      end

      # The block allocates so many objects: a number or a Range.
      def allocate(expected)
        asked_by("allocate #{expected} objects") { |subject, _| Testing::Allocations.new(expected, &subject).outcome }
      end

      # The block calls the method so often: a number or a Range.
      def make_calls(owner, method, expected)
        asked_by("call #{owner.inspect}##{method} #{expected} times") do |subject, _|
          Testing::CallCount.new(owner, method, expected, &subject).outcome
        end
      end

      # The block does no more than this: `max_sql:`, `max_log_lines:`, `max_sleep:`, … (see Testing#assert_budget). For whole examples it is
      # metadata: `it "renders", budget: { max_sql: 10 }`, also of groups.
      def stay_within_budget(**limits)
        budget = Testing::Budget.new(**limits)
        asked_by("stay within its budget") { |subject, _| budget.outcome(&subject) }
      end

      # The time of the block, which is given a size, grows no faster than the model; the sizes follow with `.over(sizes, setup: …)`.
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

  # RSpec counts no assertions and has a way of its own to fail.
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
  # What failed stands in the spec, not in here.
  config.backtrace_exclusion_patterns << /\A#{Regexp.escape(__dir__)}\//
end
