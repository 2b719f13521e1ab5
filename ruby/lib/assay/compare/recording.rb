# frozen_string_literal: true

# Keeps what was measured, as a sample file: docs/reference/sample-file.md. Blocks are kept, so that each side is held against those that
# were measured beside it. It knows nothing of clocks.

require "etc"
require "json"
require "rbconfig"
require "tempfile"
require "time"
require_relative "../real_clock"

module Assay
  module Compare
    # The samples of one comparison.
    class Recording
      # Seconds for one iteration, and of the process's CPU time.
      WALL = "wall"
      CPU = "cpu"
      # Objects for one iteration; in a pass of their own, as `assay run --alloc` has them.
      ALLOCATIONS = "allocations"

      # Blocks that were recorded with times.
      attr_reader :blocks

      # Sides are the subjects, in their order, the first the reference; with `scan` they are one subject at several values.
      def initialize(sides, plan, scan: nil)
        @sides = sides
        @plan = plan
        @primary = plan.primary == "auto" ? CPU : plan.primary
        @blocks = 0
        @counted = []
        @times = []
        @subjects = sides.each_with_index.map do |side, index|
          { kind: "subject", side: scan || side.name, row: 0, name: side.name,
            parameters: scan && side.parameters.map { |name, value| [name, value.is_a?(Integer) ? value : value.to_s] },
            against: scan && index }.compact
        end
        @facts = {}
        @started = RealClock.time.utc
      end

      # The clock that decides: "wall" or "cpu".
      attr_accessor :primary

      # Says why measuring stopped: "clear", "budget", "blocks" or "interrupted".
      attr_writer :stop

      # Adds facts about the machine or the measurement.
      def know(facts) = @facts.merge!(facts)

      # Adds a block: for each side in the order of measuring its index, and seconds of wall and of CPU time per iteration.
      def block(turns)
        turns.each_with_index do |(side, wall, cpu), position|
          @times << { kind: "obs", subject: side, block: @blocks, pos: position, values: { WALL => wall, CPU => cpu } }
        end
        @blocks += 1
      end

      # Adds a pass that counted: the allocations per iteration of every side.
      def count(allocations) = @counted << allocations

      # What was counted for a side, by its index: one number per pass.
      def counts(side) = @counted.map { |pass| pass[side] }

      # Seconds per iteration of a side, block by block, by the clock that decides.
      def times(side) = @times.filter_map { |turn| turn[:values][@primary] if turn[:subject] == side }

      # The same samples with some of the sides only, in blocks as before.
      def only(sides)
        dup.tap { |copy| copy.keep(sides) }
      end

      # Writes the file.
      def write(file)
        lines = [head, { kind: "environment", **environment }, *declared, *metrics, *@times, *counting, *[stop].compact]
        File.write(file, lines.map { |line| JSON.generate(line) << "\n" }.join)
      end

      # Runs the block with the name of a file that holds the samples and is gone afterwards.
      def with_file
        Tempfile.create(["assay", ".assay"]) do |file|
          file.close
          write(file.path)
          yield file.path
        end
      end

      protected

      def keep(sides)
        place = sides.each_with_index.to_h
        @sides = @sides.values_at(*sides)
        @subjects = sides.each_with_index.map { |side, index| @subjects[side].then { |s| s.key?(:against) ? s.merge(against: index) : s } }
        kept = @times.select { |turn| place.key?(turn[:subject]) }
        @times = kept.group_by { |turn| turn[:block] }.values.flat_map do |turns|
          turns.each_with_index.map { |turn, position| turn.merge(subject: place[turn[:subject]], pos: position) }
        end
        @counted = @counted.map { |pass| pass.values_at(*sides) }
      end

      private

      def head
        { assay: 1, kind: "run", tool: "assay gem #{VERSION}", time: @started.iso8601, seed: @plan.seed, argv: ["ruby", $PROGRAM_NAME],
          plan: @plan.to_h(@primary) }
      end

      def environment
        { ruby: RUBY_DESCRIPTION, os: RbConfig::CONFIG["host_os"], cpus: Etc.nprocessors, **@facts }
      end

      # Sides, the one row, and the subjects with the numbers of their sides.
      def declared
        sides = @subjects.map { |subject| subject[:side] }.uniq
        [*sides.map { |name| { kind: "side", name: name } }, { kind: "row", name: "" },
         *@subjects.map { |subject| subject.merge(side: sides.index(subject[:side])) }]
      end

      def metrics
        clocks = [WALL, CPU].map { |name| { kind: "metric", name: name, unit: "s", better: "lower" } }
        return clocks if @counted.empty?

        [*clocks, { kind: "metric", name: ALLOCATIONS, unit: "1", better: "lower", exact: true }]
      end

      def stop
        { kind: "stop", reason: @stop, blocks: @blocks } if @stop
      end

      def counting
        @counted.each_with_index.flat_map do |pass, index|
          pass.each_with_index.map do |count, side|
            { kind: "obs", subject: side, pass: "allocations", block: index, pos: side, values: { ALLOCATIONS => count } }
          end
        end
      end
    end
  end
end
