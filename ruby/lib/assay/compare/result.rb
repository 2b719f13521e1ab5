# frozen_string_literal: true

# The outcome of a comparison, for printing, querying and saving. Its numbers and sentences come
# from the program; this file adds only facts known to the measuring process: the cost of the loop
# and the time of the garbage collector.

require "json"
require_relative "../plain"

module Assay
  module Compare
    # The result of Assay.compare.
    class Result
      include Plain

      # Shares of the time below this get no line in the output.
      WORTH_TELLING = 0.05
      private_constant :WORTH_TELLING

      # The samples: an Assay::Compare::Recording.
      attr_reader :recording

      def initialize(sides, experiment, loop_cost:)
        @sides = sides
        @experiment = experiment
        @recording = experiment.recording
        @loop_cost = loop_cost
        @recording.know(loop_nanoseconds: loop_cost.round(2))
        @analysis = Binary.available? ? @recording.with_file { |file| Binary.analysis(file) } : nil
      end

      # The analysis as a Hash with the fields of `assay compare --json` (docs/reference/json.md);
      # facts known only to this process are under "environment". Raises Binary::Missing if there
      # was no program.
      def to_h
        @analysis or raise Binary::Missing, "there is no verdict: the values were handed to the `assay` that measures this process"
      end

      # One Comparison for every side but the first.
      def comparisons = to_h["comparisons"].select { |fields| fields["family"] == "primary" }.map { |fields| Comparison.new(fields) }

      # Returns the Comparison of the side with this name with the first; the name is optional if
      # there are two sides. Raises KeyError if there is no such side.
      def comparison(name = nil)
        return comparisons.first if name.nil? && @sides.size == 2

        comparisons.find { |found| found.of == name.to_s } or
          raise KeyError, "no side #{name.inspect} is compared here, but: #{@sides.drop(1).map(&:name).join(", ")}"
      end

      # "faster", "slower", "equivalent" or "inconclusive"; see #comparison.
      def verdict(name = nil) = comparison(name).verdict

      # Returns the number of objects that the side allocates per iteration; nil if two passes
      # differ by more than rounding.
      def allocations(name)
        index = @sides.index { |side| side.name == name.to_s } or raise KeyError, "no side #{name.inspect}"
        counts = @recording.counts(index).uniq
        counts.first if counts.size == 1
      end

      # Reason for stopping: "clear", "budget", "blocks" or "interrupted".
      def stop = @experiment.stop

      # Writes the samples, including the blocks, to a file for `assay compare`.
      def save(file)
        @recording.write(file)
        self
      end

      # The output of `assay compare`, followed by the facts it cannot know.
      def screen(colour: false)
        to_h
        screen = @recording.with_file { |file| Binary.screen(file, colour: colour) }
        [Words.of(screen, @sides.size), *notes.map { |note| "#{note}\n" }].join
      end

      def to_s = screen

      private

      def notes
        [*collector, *loop_share, *mixed_forms, *unfinished]
      end

      def collector
        shares = @experiment.shares.select { |_, share| share >= WORTH_TELLING }
        return if shares.empty?

        "garbage collection, in the times above: #{shares.map { |name, share| "#{name} #{(share * 100).round} %" }.join(", ")}"
      end

      def loop_share
        called = @sides.each_index.select { |index| @sides[index].form == :block }
        shortest = called.map { |index| @recording.times(index).min }.min
        return if shortest.nil? || @loop_cost * 1e-9 < shortest * WORTH_TELLING

        "note: #{nanoseconds} of every iteration are the loop and the call of the block, so that differences look smaller\n" \
          "  hint: give the blocks the loop, `{ |times| i = 0; while i < times; …; i += 1; end }`, or the code as a text"
      end

      def mixed_forms
        return if @sides.map { |side| side.form == :block }.uniq.size == 1

        "note: some sides are called by a loop and some loop themselves: #{nanoseconds} are in some times only"
      end

      def nanoseconds = format("%.1f ns", @loop_cost)

      def unfinished
        return if !%w[budget blocks].include?(stop) || comparisons.all?(&:settled?)

        "measured as long as it may; for more: x.config(time: SECONDS)"
      end
    end
  end
end
