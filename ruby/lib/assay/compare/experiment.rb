# frozen_string_literal: true

# The experiment: sides are warmed up and calibrated, then measured in blocks (each side once per
# block, in random order) until the answer is known or the time is up. The `assay` program decides
# whether the answer is known; this file only measures.
#
# The garbage collector stays enabled, since its time is part of a program's cost. Garbage from the
# warm-up and from running `assay` is collected outside the timed section. Within the blocks every
# side pays for its own: collections are triggered only by allocating, so batches of a side that
# allocates are made long enough for several collections, and none is pushed out of the timed
# section.

module Assay
  module Compare
    # A running comparison.
    class Experiment
      # Shortest batch, in nanoseconds: long compared to reading the clock, short compared to the
      # scheduler's time slices on a busy machine.
      BATCH = 1_000_000
      # Number of collections that a batch of an allocating side should contain, and the limit up to
      # which it is lengthened for them.
      COLLECTIONS = 4
      LONGEST_BATCH = 50_000_000
      # Sides whose iteration times differ by at most this factor run the same number of iterations.
      ALIKE = 1.1
      # Factor by which the time limit may be exceeded to complete ten blocks, since fewer cannot
      # give a verdict.
      STRETCH = 10
      private_constant :BATCH, :COLLECTIONS, :LONGEST_BATCH, :ALIKE, :STRETCH

      # Reason for stopping: "clear", "budget", "blocks" or "interrupted", as in a sample file.
      attr_reader :stop
      # The recorded samples.
      attr_reader :recording
      # The program's latest analysis; nil if it never ran.
      attr_reader :analysis
      # Share of time that the sides spend waiting: a Waiting.
      attr_reader :waiting

      def initialize(sides, plan, scan: nil, progress: nil)
        @progress = progress
        @sides = sides
        @plan = plan
        @random = Random.new(plan.seed)
        @recording = Recording.new(sides, plan, scan: scan)
        @waiting = Waiting.new(sides)
        @collecting = Array.new(sides.size, 0)
        @measured = Array.new(sides.size, 0)
      end

      # Measures until the block, given the program's analysis, returns true, or until the plan's
      # time is up; without a block, until the time is up. Returns the last analysis. After an
      # exception or an Interrupt, the recording has only complete blocks.
      def run(&settled)
        @sides.each(&:check_whole)
        calibrate
        @recording.know(facts)
        count
        GC.start
        measure(&settled)
        @analysis
      rescue Interrupt
        @stop = "interrupted"
        raise
      ensure
        @progress&.clear
        choose_clock
        @recording.stop = @stop
        @recording.know(collecting: shares, waiting: @waiting.shares)
      end

      # Share of the garbage collector in each side's measured time, by name.
      def shares
        @sides.each_with_index.to_h { |side, index| [side.name, @measured[index].zero? ? 0.0 : @collecting[index].fdiv(@measured[index])] }
      end

      # Nanoseconds per iteration for the loop and the call of an empty block, the minimum of
      # several batches. This is included in the time of every side whose block does not loop
      # itself.
      def self.loop_cost
        empty = Side.new("nothing") {}
        10.times.map { Stopwatch.read(empty, 20_000).nanoseconds }.min / 20_000.0
      end

      private

      # Two passes, after one for the objects that the virtual machine allocates when code first
      # runs.
      def count
        passes = Array.new(3) { @sides.map { |side| Stopwatch.allocations(side, side.iterations) } }
        passes.drop(1).each { |pass| @recording.count(pass) }
      end

      def measure(&settled)
        budget = @plan.time * @sides.size * 1e9
        measured = block
        look = measured > Plan::LONG_BLOCK * 1e9 ? Plan::FEWEST_BLOCKS : Plan.look_after(0)
        loop do
          measured += block
          blocks = @recording.blocks
          @progress&.tell(blocks, measured, budget)
          over = end_of(blocks, measured, budget)
          if settled && (over || blocks >= look)
            look = Plan.look_after(blocks)
            # The program uses a separate confidence level for the final look.
            @recording.stop = @stop = over || "clear"
            return if settled.call(ask)
          end
          return @stop = over if over
        end
      end

      # The reason to stop regardless of the analysis; nil to go on.
      def end_of(blocks, measured, budget)
        return "blocks" if blocks >= Plan::MOST_BLOCKS

        "budget" if measured >= budget * (blocks < Plan::FEWEST_BLOCKS ? STRETCH : 1)
      end

      # Measures one block and returns its duration in nanoseconds.
      def block
        began = Stopwatch.now
        turns = @sides.each_index.to_a.shuffle(random: @random).map do |index|
          side = @sides[index]
          reading = @waiting.watch(side) { Stopwatch.read(side, side.iterations) }
          @measured[index] += reading.nanoseconds
          @collecting[index] += reading.collecting
          [index, *[reading.nanoseconds, reading.cpu].map { |nanoseconds| nanoseconds.fdiv(side.iterations) * 1e-9 }]
        end
        @recording.block(turns)
        Stopwatch.now - began
      end

      def ask
        choose_clock
        @analysis = @recording.with_file { |file| Binary.analysis(file) }
        GC.start # Garbage from asking must not be collected during a side's batch.
        @analysis
      end

      # This rule must not depend on the difference: wall time decides if a side waited in the
      # samples so far.
      def choose_clock
        @recording.primary = @waiting.longest ? Recording::WALL : Recording::CPU if @plan.primary == "auto"
      end

      # Batches of all sides take equally long. With equal iteration counts the slower side's
      # batches would be longer, more of them would be interrupted on a busy machine, and a factor
      # of 2 would be reported as 5.
      def calibrate
        costs, batches = @sides.map { |side| warm_up(side) }.transpose
        fastest, slowest = costs.minmax
        length = [*batches, [slowest, LONGEST_BATCH].min].max
        @sides.zip(costs) do |side, cost|
          side.iterations = (length / (slowest <= fastest * ALIKE ? slowest : cost)).ceil.clamp(1, 1 << 40)
        end
      end

      # Runs the side for the warm-up time in batches of doubling size. Returns the minimum time per
      # iteration and the target length of a batch, both in nanoseconds.
      def warm_up(side)
        times = 1
        spent = 0
        long = 0 # Two in a row, since a short batch that was interrupted is not a long one.
        until long >= 2 && spent >= @plan.warmup * 1e9
          taken = undisturbed(side, times).nanoseconds
          spent += taken
          long = taken < BATCH ? 0 : long + (taken < LONGEST_BATCH ? 1 : 2)
          times *= 2 if taken < BATCH
        end
        watch(side, times)
      end

      # Batches of a side that allocates are longer: collections happen at intervals, and half a
      # collection is not a fair share.
      def watch(side, times)
        readings = []
        readings << undisturbed(side, times) until readings.sum(&:nanoseconds) >= LONGEST_BATCH
        cost = readings.map(&:nanoseconds).min.fdiv(times)
        collections = readings.sum(&:collections)
        return [cost, BATCH] if collections.zero?

        [cost, (readings.sum(&:nanoseconds).fdiv(collections) * COLLECTIONS).clamp(BATCH, LONGEST_BATCH)]
      end

      # Reads a batch, less the time that other programs used the processor. Otherwise a side
      # could look twenty times as slow on a busy machine, and get batches so short that the
      # measuring overhead matters.
      def undisturbed(side, times)
        queued = @waiting.queued
        reading = Stopwatch.read(side, times)
        # At least the CPU time: the thread may have been queued before the clock was read.
        reading.nanoseconds = [reading.nanoseconds - (@waiting.queued - queued), reading.cpu, 1].max
        reading
      end

      def facts
        { iterations: @sides.to_h { |side| [side.name, side.iterations] }, forms: @sides.to_h { |side| [side.name, side.form] },
          yjit: defined?(RubyVM::YJIT) ? RubyVM::YJIT.enabled? : false }
      end
    end
  end
end
