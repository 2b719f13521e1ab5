# frozen_string_literal: true

# Decides whether CPU time can replace wall time, that is, whether the sides wait (for a clock, a
# disk, another program, another thread) or only compute. Time during which a side is runnable but
# other programs have the processor does not count as waiting: Linux reports it separately. The
# decision must not depend on how long the sides take relative to each other.

require_relative "stopwatch"

module Assay
  module Compare
    # Shares of time that the sides spend waiting.
    class Waiting
      # A side that waits for less than this share of its time counts as computing; no verdict can
      # be off by more.
      MOST = 0.01
      private_constant :MOST

      def initialize(sides)
        @shares = sides.to_h { |side| [side, []] }
        # Time that this thread spent in the run queue. If the kernel does not report it, a busy
        # machine looks like waiting.
        @queue = File.open("/proc/thread-self/schedstat") if File.readable?("/proc/thread-self/schedstat")
      rescue SystemCallError
        @queue = nil
      end

      # Runs the block, which runs only this side, and returns its value.
      def watch(side)
        before = read
        result = yield
        wall, computed, queued, others = read.zip(before).map { |one, other| one - other }
        @shares[side] << [wall - computed - queued, others - computed, 0].max.fdiv(wall)
        result
      end

      # Share of its time that each side waits, or lets other threads compute, by name. It is the
      # median of the batches, since a short pause of a virtual machine looks like waiting.
      def shares = @shares.to_h { |side, shares| [side.name, shares.empty? ? 0.0 : shares.sort[shares.size / 2]] }

      # Returns the name of the side that waits most, and its share; nil if all compute.
      def longest = shares.max_by(&:last).then { |found| found if found.last > MOST }

      # Nanoseconds that this thread has spent in the run queue. The file has "computed queued
      # slices"; for the time computed, the clock is more precise.
      def queued = @queue ? @queue.pread(80, 0).split[1].to_i : 0

      private

      # In nanoseconds: wall time, CPU time of this thread, its time in the queue, CPU time of the
      # process.
      def read = [Stopwatch.now, Stopwatch.cpu_of_thread, queued, Stopwatch.cpu]
    end
  end
end
