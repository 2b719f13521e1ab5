# frozen_string_literal: true

# Stores the measurements as a sample file (docs/reference/sample-file.md). Blocks are preserved, so
# that each side is compared with measurements from the same block. Reads no clocks.

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
      # Metrics: wall time and CPU time of the process, in seconds per iteration.
      WALL = "wall"
      CPU = "cpu"
      # Metric: objects allocated per iteration, counted in a separate pass as in `assay run
      # --alloc`.
      ALLOCATIONS = "allocations"

      # Number of recorded blocks with times.
      attr_reader :blocks

      # The sides become the subjects in the same order, the first being the reference; with `scan`
      # they are one subject at several values.
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

      # The clock of the deciding metric: "wall" or "cpu".
      attr_accessor :primary

      # Sets the reason for stopping: "clear", "budget", "blocks" or "interrupted".
      attr_writer :stop

      # Adds facts about the machine or the measurement.
      def know(facts) = @facts.merge!(facts)

      # Adds a block: for each side, in the order of measuring, its index and its wall and CPU time
      # per iteration in seconds.
      def block(turns)
        turns.each_with_index do |(side, wall, cpu), position|
          @times << { kind: "obs", subject: side, block: @blocks, pos: position, values: { WALL => wall, CPU => cpu } }
        end
        @blocks += 1
      end

      # Adds a counting pass: the allocations per iteration of every side.
      def count(allocations) = @counted << allocations

      # Returns the allocation counts of a side by its index: one number per pass.
      def counts(side) = @counted.map { |pass| pass[side] }

      # Returns the seconds per iteration of a side, one per block, by the deciding clock.
      def times(side) = @times.filter_map { |turn| turn[:values][@primary] if turn[:subject] == side }

      # Returns a recording of only some of the sides, in the same blocks.
      def only(sides)
        dup.tap { |copy| copy.keep(sides) }
      end

      # Writes the file.
      def write(file)
        lines = [head, { kind: "environment", **environment }, *declared, *metrics, *@times, *counting, *[stop].compact]
        File.write(file, lines.map { |line| JSON.generate(line) << "\n" }.join)
      end

      # Calls the block with the path of a temporary file that holds the samples.
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

      # The sides, the single row, and the subjects with the indexes of their sides.
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
