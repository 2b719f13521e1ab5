# frozen_string_literal: true

# Measures the cost of a batch: wall time, CPU time, and the garbage collector's share of them; and,
# separately, the number of objects it allocates.

require_relative "../real_clock"

module Assay
  module Compare
    # The clock of the measurements. All times are whole nanoseconds.
    module Stopwatch
      # CPU time of all threads. While an in-process profiler has a CPU timer armed, the kernel
      # counts by the tick, and inaccurately.
      CPU = Process::CLOCK_PROCESS_CPUTIME_ID
      THREAD = Process::CLOCK_THREAD_CPUTIME_ID
      GC_TIME = GC.method(:total_time)
      ALLOCATED = GC.method(:stat)
      private_constant :CPU, :THREAD, :GC_TIME, :ALLOCATED

      # The cost of one batch: `nanoseconds` of wall time and `cpu` of the process, of which the
      # garbage collector used `collecting` in `collections` runs.
      Reading = Struct.new(:nanoseconds, :cpu, :collecting, :collections)

      class << self
        # Current time of CLOCK_MONOTONIC.
        def now = RealClock.nanoseconds

        # CPU time of the process, and of this thread alone.
        def cpu = RealClock.nanoseconds(CPU)
        def cpu_of_thread = RealClock.nanoseconds(THREAD)

        # Runs a batch of the side, `times` iterations, and returns its Reading.
        def read(side, times)
          collections = GC.count
          collecting = GC_TIME.call
          cpu = RealClock.nanoseconds(CPU)
          began = now
          side.run(times)
          ended = now
          Reading.new(ended - began, RealClock.nanoseconds(CPU) - cpu, GC_TIME.call - collecting, GC.count - collections)
        end

        # Returns the number of objects per iteration that the process allocates while the side runs
        # `times` iterations; an Integer if it is a whole number.
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
