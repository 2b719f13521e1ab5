# frozen_string_literal: true

# The clock as it was when this file was loaded. Tests, and libraries such as timecop, may later
# replace `Process.clock_gettime` and `Time.now`; measurements use this one.

module Assay
  # The real clock.
  module RealClock
    READ = Process.method(:clock_gettime)
    NOW = Time.method(:at)
    private_constant :READ, :NOW

    class << self
      # Whole nanoseconds of a Process clock [default: CLOCK_MONOTONIC].
      def nanoseconds(clock = Process::CLOCK_MONOTONIC) = READ.call(clock, :nanosecond)

      # The time of day.
      def time = NOW.call(0, READ.call(Process::CLOCK_REALTIME, :nanosecond), :nanosecond)
    end
  end
  private_constant :RealClock
end
