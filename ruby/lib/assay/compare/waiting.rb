# frozen_string_literal: true

# Says whether CPU time can stand for wall time: whether the sides wait (for a clock, a disk, another program, another thread), or only
# compute. Time in which a side would compute but other programs have the processor is no waiting: Linux counts it apart. It must not
# look at how long the sides take in relation to each other.

require_relative "stopwatch"

module Assay
  module Compare
    # How much of their time the sides wait.
    class Waiting
      # A side that waits for less of its time is one that computes: no verdict about it can be wrong by more.
      MOST = 0.01
      private_constant :MOST

      def initialize(sides)
        @shares = sides.to_h { |side| [side, []] }
        # This thread's time in the queue for a processor. Where the kernel does not tell it, a busy machine looks like waiting.
        @queue = File.open("/proc/thread-self/schedstat") if File.readable?("/proc/thread-self/schedstat")
      rescue SystemCallError
        @queue = nil
      end

      # Runs the block, which runs this side and nothing else, and gives what it gives.
      def watch(side)
        before = read
        result = yield
        wall, computed, queued, others = read.zip(before).map { |one, other| one - other }
        @shares[side] << [wall - computed - queued, others - computed, 0].max.fdiv(wall)
        result
      end

      # Share of its time that each side waits, or has other threads compute, by name: the median of its batches, since a virtual machine
      # that stands still for a moment looks like waiting.
      def shares = @shares.to_h { |side, shares| [side.name, shares.empty? ? 0.0 : shares.sort[shares.size / 2]] }

      # The name of the side that waits most, and its share; nil where all compute.
      def longest = shares.max_by(&:last).then { |found| found if found.last > MOST }

      # Nanoseconds that this thread has stood in the queue for a processor. Of "computed queued slices" what is computed is known better by
      # the clock.
      def queued = @queue ? @queue.pread(80, 0).split[1].to_i : 0

      private

      # Nanoseconds: wall time, this thread's CPU time, its time in the queue, the process's CPU time.
      def read = [Stopwatch.now, Stopwatch.cpu_of_thread, queued, Stopwatch.cpu]
    end
  end
end
