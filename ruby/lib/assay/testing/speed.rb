# frozen_string_literal: true

# Assertions on whether one piece of Ruby code is faster than another, or not slower than allowed.
# Measured by Assay::Compare; the interval is computed by the `assay` program, and this file only
# compares it with the bound of the test.

require_relative "outcome"

module Assay
  module Testing
    # A question about the speed of two pieces of Ruby code: `subject` and `reference`. Both are
    # Procs or Methods; one that takes an argument is called with the number of iterations and loops
    # itself.
    class Speed
      # time:: maximum measuring time per side in seconds; options are those of Compare::Plan. The
      #        threshold defaults to the bound: otherwise the program could report that a difference
      #        does not matter although the test asks for a smaller one
      def initialize(subject, reference, by:, time: 2, warmup: 0.1, primary: "auto", threshold: nil, **options)
        @bound = Compare::Plan.amount("by", by, limit: Float::INFINITY)
        @by = by
        names = name_apart(subject, reference)
        @sides = [Compare::Side.new(names.last, &callable(reference)), Compare::Side.new(names.first, &callable(subject))]
        @plan = Compare::Plan.new(time: time, warmup: warmup, primary: primary, threshold: threshold || matters, **options)
      end

      # The outcome of the assertion that the subject is faster by at least the bound.
      def faster
        raise ArgumentError, "nothing takes 100 % less time: by: is below that, not #{@by.inspect}" if @bound[:relative]&.>=(1)

        decide(zero? ? "faster" : "at least #{said} faster") { |found| faster_than(found) }
      end

      # The outcome of the assertion that the subject is not slower by more than the bound.
      def no_slower = decide("at most #{said} slower") { |found| no_slower_than(found) }

      private

      def decide(expected)
        Binary.path
        outcome = nil
        experiment = Compare::Experiment.new(@sides, @plan)
        experiment.run do |analysis|
          comparison = Compare::Comparison.new(analysis["comparisons"].first)
          outcome = Outcome.new(yield(comparison), comparison.sentence)
          outcome.kind != :inconclusive
        end
        return outcome if outcome.kind == :pass

        subject, reference = @sides.last.name, @sides.first.name
        return Outcome.new(:fail, "#{outcome.message}; expected '#{subject}' to be #{expected}") if outcome.kind == :fail

        Outcome.new(:inconclusive, "not known whether '#{subject}' is #{expected} than '#{reference}' after #{@plan.time} s each: " \
                                   "#{outcome.message} (#{Outcome.advice(experiment)})")
      end

      # The smallest difference that matters: the bound, if it is a valid threshold.
      def matters = zero? || @bound[:relative]&.>=(1) ? "1%" : @by

      # The bound for messages: both 0.05 and "5%" are shares.
      def said = @bound[:relative] ? format("%.4g %%", @bound[:relative] * 100) : @by

      def faster_than(found)
        return held(found) { |interval, bound| within(interval, -bound) } unless zero?
        return :pass if found.faster?

        found.inconclusive? ? :inconclusive : :fail
      end

      def no_slower_than(found) = held(found) { |interval, bound| within(interval, bound) }

      def zero? = @bound == { relative: 0.0 }

      # By ratio if the bound is a share, by shift if it is an amount of time.
      def held(found)
        interval, bound =
          if @bound[:relative]
            [found.ratio && Compare::Interval.new(*found.ratio.to_a.map { |end_| end_ && end_ - 1 }), @bound[:relative]]
          else
            [found.shift, @bound[:absolute][:value]]
          end
        interval ? yield(interval, bound) : :inconclusive
      end

      def within(interval, bound)
        return :pass if interval.below?(bound)

        interval.above?(bound) ? :fail : :inconclusive
      end

      def callable(given)
        return given if given.is_a?(Proc)
        return given.to_proc if given.respond_to?(:to_proc) && !given.is_a?(Symbol)

        raise ArgumentError, "what is compared is a Proc, such as -> { … }, or a Method, not #{given.inspect[0, 80]}"
      end

      # The source location, since Procs have no names.
      def name_apart(*given)
        names = given.map { |one| name(one) }
        names.uniq.size == names.size ? names : names.each_with_index.map { |name, index| "#{name} (#{%w[first second][index]})" }
      end

      def name(given)
        return "#{given.receiver.class}##{given.name}" if given.is_a?(Method)

        place = given.respond_to?(:source_location) && given.source_location
        place ? "#{File.basename(place.first)}:#{place.last}" : "block"
      end
    end
  end
end
