# frozen_string_literal: true

# The totals of one request: the sums of the profiles of its parts (the application; reading the
# body). It must not format.

module Assay
  class Rack
    # Sums of profiles.
    class Totals
      # `calls` and `errors` are numbers, `duration` is in seconds.
      Row = Struct.new(:calls, :duration, :errors)

      # {name => Row}, in order of first appearance.
      attr_reader :rows
      # Total running time of the profiles in seconds.
      attr_reader :duration

      def initialize
        @profiles = []
        @rows = {}
        @duration = 0.0
      end

      # The profiler's own part of these seconds, by its calibration.
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
