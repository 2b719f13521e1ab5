# frozen_string_literal: true

# The state of one running test: its clock, its recorded calls, and the actions to undo when it
# ends.

module Assay
  module Testing
    # One per test, created on first use.
    class State
      # Created before any fake can interfere.
      attr_reader :clock, :journal, :processes
      # All fakes created by the test.
      attr_reader :fakes

      def initialize
        @clock = Clock.new
        @journal = Journal.new
        @processes = Processes.new
        @fakes = []
        @undo = []
      end

      # Registers an action for the end of the test; they run in reverse order.
      def undo_later(&block) = @undo << block

      # Undoes everything, even if a part of it fails; the first error is raised at the end.
      def undo
        failure = nil
        while (step = @undo.pop)
          begin
            step.call
          rescue StandardError => e
            failure ||= e
          end
        end
        raise failure if failure
      end
    end
  end
end
