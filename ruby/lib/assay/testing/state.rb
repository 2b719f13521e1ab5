# frozen_string_literal: true

# What one running test has: its clock, its recorded calls, and what must be undone when it ends.

module Assay
  module Testing
    # One per test, made when it is first needed.
    class State
      # Made before any fake can stand in the way.
      attr_reader :clock, :journal, :processes
      # All fakes that the test made.
      attr_reader :fakes

      def initialize
        @clock = Clock.new
        @journal = Journal.new
        @processes = Processes.new
        @fakes = []
        @undo = []
      end

      # Does this when the test ends; what came last is undone first.
      def undo_later(&block) = @undo << block

      # Undoes everything, also where a part of it fails; the first failure is raised at the end.
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
