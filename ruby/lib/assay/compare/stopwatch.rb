# frozen_string_literal: true

# Reads what a batch costs: wall time, CPU time, and the garbage collector's part of it; and how many objects it allocates, apart from the
# time.

require_relative "../real_clock"

module Assay
  module Compare
    # The clock of the measurements. All times are whole nanoseconds.
    module Stopwatch
      # Of all threads. The kernel counts by the tick, and wrongly, while an in-process profiler has a CPU timer armed.
      CPU = Process::CLOCK_PROCESS_CPUTIME_ID
      THREAD = Process::CLOCK_THREAD_CPUTIME_ID
      GC_TIME = GC.method(:total_time)
      ALLOCATED = GC.method(:stat)
      private_constant :CPU, :THREAD, :GC_TIME, :ALLOCATED

      # What one batch took: `nanoseconds` of wall time and `cpu` of the process's, of which `collecting` were the garbage collector's, in
      # `collections` of it.
      Reading = Struct.new(:nanoseconds, :cpu, :collecting, :collections)

      class << self
        # Now, by CLOCK_MONOTONIC.
        def now = RealClock.nanoseconds

        # CPU time of the process, and of this thread alone.
        def cpu = RealClock.nanoseconds(CPU)
        def cpu_of_thread = RealClock.nanoseconds(THREAD)

        # Runs a batch of the side, `times` iterations, and gives its Reading.
        def read(side, times)
          collections = GC.count
          collecting = GC_TIME.call
          cpu = RealClock.nanoseconds(CPU)
          began = now
          side.run(times)
          ended = now
          Reading.new(ended - began, RealClock.nanoseconds(CPU) - cpu, GC_TIME.call - collecting, GC.count - collections)
        end

        # Objects allocated by the process while the side runs `times` iterations, per iteration: an Integer where it is one.
        def allocations(side, times)
          before = ALLOCATED.call(:total_allocated_objects)
          side.run(times)
          count = ALLOCATED.call(:total_allocated_objects) - before
          (count % times).zero? ? count / times : count.fdiv(times)
        end
      end
    end
  end
end
