# frozen_string_literal: true

# The fake clock of a test. It moves only when a fake sleep or the test moves it; it never measures, and nothing that measures reads it.

module Assay
  module Testing
    # A clock that stands still until it is advanced.
    #
    #   clock.advance(90)
    #   clock.elapsed  # => 90
    #   clock.now      # => the Time of the test's beginning, 90 s later
    class Clock
      # Seconds since the test began, by this clock; exactly the sum of what it was advanced.
      attr_reader :elapsed

      def initialize(start = Time.now, monotonic = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond))
        @start = start
        @monotonic = monotonic
        @elapsed = 0
        @lock = Mutex.new
      end

      # Moves the clock on by so many seconds, and gives what has elapsed. Raises ArgumentError for less than 0: time does not go back.
      def advance(seconds)
        possible = seconds.is_a?(Numeric) && seconds.real? && seconds >= 0
        raise ArgumentError, "a clock is advanced by seconds, 0 or more, not by #{seconds.inspect}" unless possible

        @lock.synchronize { @elapsed += seconds }
      end

      # The time of day, a Time.
      def now = @start + elapsed

      # What CLOCK_MONOTONIC would show, in whole nanoseconds.
      def monotonic_nanoseconds = @monotonic + (elapsed.rationalize(Rational(1, 1_000_000_000)) * 1_000_000_000).to_i
    end
  end
end
