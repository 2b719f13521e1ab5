# frozen_string_literal: true

# Counts the objects that a block allocates. The virtual machine's count is exact; no time is
# measured, and the `assay` program is not needed.

require "objspace"
require_relative "outcome"

module Assay
  module Testing
    # Counts the allocations of a block. The first run is ignored, since code that runs for the
    # first time also allocates for the virtual machine; then it runs several times, to find out
    # whether the count is stable.
    class Allocations
      RUNS = 3
      COUNT = GC.method(:stat)
      private_constant :RUNS, :COUNT

      # expected:: a whole number, or a Range such as `..3`
      def initialize(expected, &block)
        raise ArgumentError, "assert_allocations takes a block" if block.nil?
        unless (expected.is_a?(Integer) && !expected.negative?) || expected.is_a?(Range)
          raise ArgumentError, "allocations are a whole number or a Range such as ..3, not #{expected.inspect}"
        end

        @expected = expected
        @block = block
      end

      # The outcome of the assertion on the number of allocations.
      def outcome
        counts = count
        sides = counts.map { |count| side(count) }.uniq
        return Outcome.new(:pass, said(counts)) if sides == [:as_expected]
        return Outcome.new(:fail, "#{said(counts)}, expected #{@expected}\n#{sites(counts.min)}") if sides.one?

        Outcome.new(:inconclusive, "#{said(counts)}: not the same in each run, so that nobody can say whether it is #{@expected}")
      end

      private

      # Counts that are too small in one run and too large in another are inconclusive as well.
      def side(count)
        return :as_expected if @expected === count

        least = @expected.is_a?(Range) ? @expected.begin : @expected
        least && count < least ? :too_few : :too_many
      end

      # Objects allocated in each run, including those of concurrent threads.
      def count
        counts = Array.new(RUNS + 1, 0)
        index = 0
        while index <= RUNS
          before = COUNT.call(:total_allocated_objects)
          @block.call
          counts[index] = COUNT.call(:total_allocated_objects) - before
          index += 1
        end
        counts.drop(1)
      end

      def said(counts)
        text = counts.uniq.size == 1 ? counts.first.to_s : counts.join(", ")
        "the block allocates #{text} object#{"s" unless text == "1"}"
      end

      # Locates the allocations by running once more under tracing; `counted` is the number found
      # without it.
      def sites(counted, most = 8)
        found = traced
        return "the objects are the virtual machine's own, or those of methods written in C that leave no trace" if found.empty?

        lines = found.tally.sort_by { |site, times| [-times, site] }.map { |site, times| "  #{times} × #{site}" }
        lines = [*lines.first(most), "  and from #{lines.size - most} places more"] if lines.size > most
        lines << "  and #{counted - found.size} of the virtual machine's own, such as its caches of calls" if counted > found.size
        "allocated by one run:\n#{lines.join("\n")}"
      end

      def traced
        disabled = GC.disable
        ObjectSpace.trace_object_allocations_clear
        generation = GC.count
        ObjectSpace.trace_object_allocations { @block.call }
        ObjectSpace.each_object.filter_map do |object|
          file = ObjectSpace.allocation_sourcefile(object)
          next if file.nil? || ObjectSpace.allocation_generation(object) != generation || file == __FILE__

          "#{Object.instance_method(:class).bind_call(object)} at #{file}:#{ObjectSpace.allocation_sourceline(object)}"
        end
      ensure
        ObjectSpace.trace_object_allocations_clear
        GC.enable unless disabled
      end
    end
  end
end
