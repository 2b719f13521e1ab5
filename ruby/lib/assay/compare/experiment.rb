# frozen_string_literal: true

# The experiment: sides warmed up and calibrated, then measured in blocks, every side once per block in random order, until the answer
# is known or the time is spent. What is known, the `assay` program says; this file only measures, and asks.
#
# The garbage collector stays on, since its time is part of what a program costs. What was left over by the warm-up and by asking is
# collected outside the clock. Within the blocks every side pays for its own: only allocating sets the collector off, so a batch of
# a side that allocates is made long enough to hold several collections, and none is pushed out of the clock.

module Assay
  module Compare
    # A running comparison.
    class Experiment
      # Shortest batch, in nanoseconds: long against the clock and its reading, short against the slices that a busy machine deals out.
      BATCH = 1_000_000
      # Collections that a batch should hold where a side allocates, and how long it may become for their sake.
      COLLECTIONS = 4
      LONGEST_BATCH = 50_000_000
      # Sides whose iterations take so much more at most share their number.
      ALIKE = 1.1
      # The time may be exceeded so many times where ten blocks need it, since fewer can't give a verdict.
      STRETCH = 10
      private_constant :BATCH, :COLLECTIONS, :LONGEST_BATCH, :ALIKE, :STRETCH

      # Why measuring stopped: "clear", "budget", "blocks" or "interrupted", as in a sample file.
      attr_reader :stop
      # What was recorded.
      attr_reader :recording
      # What the program said at the last look; nil where it was never asked.
      attr_reader :analysis
      # How much of their time the sides wait: a Waiting.
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

      # Measures until the block, given the program's analysis, says that it is settled, or until the plan's time is spent; without a
      # block until the time is spent. Gives the last analysis. What was recorded when an exception or an Interrupt ended it is whole blocks.
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

      # Nanoseconds that the loop and the call of an empty block take for one iteration, the smallest of several batches: it is in the
      # time of every side given as a block that does not loop itself.
      def self.loop_cost
        empty = Side.new("nothing") {}
        10.times.map { Stopwatch.read(empty, 20_000).nanoseconds }.min / 20_000.0
      end

      private

      # Two passes, after one for the objects that the virtual machine makes for itself when code runs anew.
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
            # The program gives the end of the time a level of its own.
            @recording.stop = @stop = over || "clear"
            return if settled.call(ask)
          end
          return @stop = over if over
        end
      end

      # Why measuring ends whatever is known; nil where it goes on.
      def end_of(blocks, measured, budget)
        return "blocks" if blocks >= Plan::MOST_BLOCKS

        "budget" if measured >= budget * (blocks < Plan::FEWEST_BLOCKS ? STRETCH : 1)
      end

      # One block; gives the nanoseconds that it took.
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
        GC.start # What asking left over must not be collected in somebody's batch.
        @analysis
      end

      # By a rule that does not look at the difference: wall time decides where a side waited in what was measured until now.
      def choose_clock
        @recording.primary = @waiting.longest ? Recording::WALL : Recording::CPU if @plan.primary == "auto"
      end

      # Batches last equally long on all sides. The same number of iterations for all would make the slower side's batches longer, so
      # that on a busy machine more of them are interrupted, and a difference of 2 would be told as one of 5.
      def calibrate
        costs, batches = @sides.map { |side| warm_up(side) }.transpose
        fastest, slowest = costs.minmax
        length = [*batches, [slowest, LONGEST_BATCH].min].max
        @sides.zip(costs) do |side, cost|
          side.iterations = (length / (slowest <= fastest * ALIKE ? slowest : cost)).ceil.clamp(1, 1 << 40)
        end
      end

      # Runs the side for the time of the warm-up, in batches that double, and gives what an iteration takes at least and how long a
      # batch should be, both in nanoseconds.
      def warm_up(side)
        times = 1
        spent = 0
        long = 0 # Two in a row: a short batch that was interrupted is none.
        until long >= 2 && spent >= @plan.warmup * 1e9
          taken = undisturbed(side, times).nanoseconds
          spent += taken
          long = taken < BATCH ? 0 : long + (taken < LONGEST_BATCH ? 1 : 2)
          times *= 2 if taken < BATCH
        end
        watch(side, times)
      end

      # Batches are longer where a side allocates: collections come every so often, and half a collection is no fair share.
      def watch(side, times)
        readings = []
        readings << undisturbed(side, times) until readings.sum(&:nanoseconds) >= LONGEST_BATCH
        cost = readings.map(&:nanoseconds).min.fdiv(times)
        collections = readings.sum(&:collections)
        return [cost, BATCH] if collections.zero?

        [cost, (readings.sum(&:nanoseconds).fdiv(collections) * COLLECTIONS).clamp(BATCH, LONGEST_BATCH)]
      end

      # A batch as it would be if no other program had had the processor meanwhile. On a busy machine a side would else be taken for twenty
      # times as slow, and have batches so short that what surrounds them counts.
      def undisturbed(side, times)
        queued = @waiting.queued
        reading = Stopwatch.read(side, times)
        # At least what it computed: it may have been queued before the clock was read.
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
