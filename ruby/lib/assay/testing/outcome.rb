# frozen_string_literal: true

# How an assertion can end: it holds, it does not, or nobody can tell. The last is neither of the others, and what becomes of it is the
# user's choice.

require_relative "../plain"

module Assay
  module Testing
    # The end of an assertion: `kind` is :pass, :fail or :inconclusive; `message` says why.
    Outcome = Struct.new(:kind, :message) do
      include Plain

      # What may help where an experiment did not settle it. CPU time is named where it was not what decided.
      def self.advice(experiment)
        return "time: SECONDS for more" if experiment.recording.primary == "cpu"

        waits = experiment.waiting.longest&.then { |name, share| format("; '%s' waits for %.0f %% of its time", name, share * 100) }
        "by wall time: primary: \"cpu\" if waiting does not matter, else time: SECONDS for more#{waits}"
      end
    end

    # Raised by assertions outside of any test framework.
    class Failed < StandardError; end

    # Raised by assertions that can't tell, outside of any test framework.
    class Inconclusive < StandardError; end

    # A budget that can't be kept watch over, since a library is loaded whose calls are not counted.
    class CannotCount < StandardError; end

    # What may become of an inconclusive outcome.
    CHOICES = %i[skip fail pass].freeze

    # Possible reactions to a fake that was never called.
    UNUSED = %i[warn fail ok].freeze

    @inconclusive = :skip
    @unused_fakes = :warn

    class << self
      # What becomes of outcomes that are inconclusive, where an assertion does not say: :skip (the test is skipped, with the reason),
      # :fail or :pass.
      attr_reader :inconclusive

      def inconclusive=(choice)
        @inconclusive = checked_choice(choice)
      end

      # The reaction to fakes that were never called, unless given for the fake: :warn (a line on standard error), :fail or :ok.
      attr_reader :unused_fakes

      def unused_fakes=(choice)
        @unused_fakes = checked_unused(choice)
      end

      # The choice, if it is one; raises ArgumentError otherwise.
      def checked_unused(choice)
        return choice if UNUSED.include?(choice)

        raise ArgumentError, "unused: is one of #{UNUSED.map(&:inspect).join(", ")}, not #{choice.inspect}"
      end

      # The choice, if it is one; raises ArgumentError otherwise.
      def checked_choice(choice)
        return choice if CHOICES.include?(choice)

        raise ArgumentError, "inconclusive: is one of #{CHOICES.map(&:inspect).join(", ")}, not #{choice.inspect}"
      end
    end
  end
end
