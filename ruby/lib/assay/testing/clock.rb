# frozen_string_literal: true

# The fake clock of a test. It moves only when a fake sleep or the test advances it; it never
# measures, and is never used for measurements.

require "time"

module Assay
  module Testing
    # A clock that is frozen until it is advanced.
    #
    #   clock.advance(90)
    #   clock.elapsed  # => 90
    #   clock.now      # => the Time of the test's beginning, 90 s later
    #   clock.travel_to("2030-01-31 09:00")
    class Clock
      # Seconds since the test began, by this clock: exactly the sum of all advances.
      attr_reader :elapsed

      def initialize(start = Time.now, monotonic = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond))
        @start = start
        @monotonic = monotonic
        @elapsed = 0
        @lock = Mutex.new
      end

      # Advances the clock by `seconds`, and returns the elapsed time. Raises ArgumentError for negative numbers; use `travel_to` for the past.
      def advance(seconds)
        possible = seconds.is_a?(Numeric) && seconds.real? && seconds >= 0
        unless possible
          raise ArgumentError, "a clock is advanced by seconds, 0 or more, not by #{seconds.inspect}: into the past by `clock.travel_to`"
        end

        @lock.synchronize { @elapsed += seconds }
      end

      # Sets the time of day, in the past or the future, and returns it: a Time, Date or DateTime, a
      # text such as "2030-01-31 09:00" (local time unless it has a zone), or seconds since 1970.
      # The elapsed time does not change, and neither do monotonic clocks.
      def travel_to(time)
        there = Clock.time(time)
        @lock.synchronize { @start = there - @elapsed }
        now
      end

      # The time of day, a Time.
      def now = @start + elapsed

      # Converts to a local Time. Raises ArgumentError for anything else.
      def self.time(given)
        found =
          case given
          when String then Time.parse(given)
          when Numeric then Time.at(given)
          else given.to_time if given.respond_to?(:to_time)
          end
        return found.getlocal if found.is_a?(Time)

        raise ArgumentError, "not a kind of time"
      rescue ArgumentError => e
        raise ArgumentError, "a time is a Time, a Date, a DateTime, a text such as \"2030-01-31 09:00\" or seconds since 1970, " \
                             "not #{given.inspect} (#{e.message})"
      end

      # The value of CLOCK_MONOTONIC, in whole nanoseconds.
      def monotonic_nanoseconds = @monotonic + (elapsed.rationalize(Rational(1, 1_000_000_000)) * 1_000_000_000).to_i
    end
  end
end
