# frozen_string_literal: true

# What one request came to: the sums of the profiles of its parts (the application; reading the body). It must not format.

module Assay
  class Rack
    # Sums of profiles.
    class Totals
      # calls and errors are numbers, duration seconds.
      Row = Struct.new(:calls, :duration, :errors)

      # {name => Row}, in the order in which they came.
      attr_reader :rows
      # Seconds that the profiles ran.
      attr_reader :duration

      def initialize
        @profiles = []
        @rows = {}
        @duration = 0.0
      end

      # Of these, the seconds that the profiler took by its own calibration.
      def own_cost = @profiles.sum { |profile| profile.overhead.total }

      # Adds an Assay::MethodProfiler::Profile.
      def add(profile)
        @profiles << profile
        @duration += profile.total_duration
        profile.rows.each do |name, row|
          sum = @rows[name] ||= Row.new(0, 0.0, 0)
          sum.calls += row.calls
          sum.duration += row.duration
          sum.errors += row.errors
        end
      end
    end
  end
end
