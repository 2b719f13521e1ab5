# frozen_string_literal: true

# The outcome of an assertion: it holds, fails, or is inconclusive. The last is different from both
# others, and its treatment is the user's choice.

require_relative "../plain"

module Assay
  module Testing
    # The outcome of an assertion: `kind` is :pass, :fail or :inconclusive; `message` has the
    # reason.
    Outcome = Struct.new(:kind, :message) do
      include Plain

      # Suggestions if an experiment was inconclusive. CPU time is suggested if it was not the
      # deciding metric.
      def self.advice(experiment)
        return "time: SECONDS for more" if experiment.recording.primary == "cpu"

        waits = experiment.waiting.longest&.then { |name, share| format("; '%s' waits for %.0f %% of its time", name, share * 100) }
        "by wall time: primary: \"cpu\" if waiting does not matter, else time: SECONDS for more#{waits}"
      end
    end

    # Raised by assertions outside of any test framework.
    class Failed < StandardError; end

    # Raised by inconclusive assertions outside of any test framework.
    class Inconclusive < StandardError; end

    # Raised if a budget cannot be checked, since the calls of a loaded library are not counted.
    class CannotCount < StandardError; end

    # Possible treatments of an inconclusive outcome.
    CHOICES = %i[skip fail pass].freeze

    # Possible reactions to a fake that was never called.
    UNUSED = %i[warn fail ok].freeze

    @inconclusive = :skip
    @unused_fakes = :warn

    class << self
      # The treatment of inconclusive outcomes, unless an assertion overrides it: :skip (the test is
      # skipped, with the reason), :fail or :pass.
      attr_reader :inconclusive

      def inconclusive=(choice)
        @inconclusive = checked_choice(choice)
      end

      # The reaction to fakes that were never called, unless a fake overrides it: :warn (a line on
      # standard error), :fail or :ok.
      attr_reader :unused_fakes

      def unused_fakes=(choice)
        @unused_fakes = checked_unused(choice)
      end

      # Returns the choice if it is valid; raises ArgumentError otherwise.
      def checked_unused(choice)
        return choice if UNUSED.include?(choice)

        raise ArgumentError, "unused: is one of #{UNUSED.map(&:inspect).join(", ")}, not #{choice.inspect}"
      end

      # Returns the choice if it is valid; raises ArgumentError otherwise.
      def checked_choice(choice)
        return choice if CHOICES.include?(choice)

        raise ArgumentError, "inconclusive: is one of #{CHOICES.map(&:inspect).join(", ")}, not #{choice.inspect}"
      end
    end
  end
end
