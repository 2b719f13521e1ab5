# frozen_string_literal: true

# What counting a call costs here: measured on an empty method once in a process, before the first profile that needs it, so that
# profiles can subtract it and say how much it was. It takes some 10 ms, and must not disturb profiles that run.

require_relative "../real_clock"

module Assay
  module MethodProfiler
    module Calibration
      # per_call::  what a patched call takes more than a plain one, in ns
      # inside::    how much of that lies between the two readings of the clock, in ns: so much too long is every duration
      # exclusive:: and allocations: the options of the profiles whose cost it is
      Cost = Struct.new(:per_call, :inside, :exclusive, :allocations)

      CALLS = 500
      ROUNDS = 40
      private_constant :CALLS, :ROUNDS

      # The same method twice, one of them patched by hand, so that no profile but our own sees it.
      class Probe
        def plain; end
        def patched; end
        prepend(Module.new { define_method(:patched, Patches.wrapper(Probe.instance_method(:patched), FIRST_ID - 1, "(assay: calibration)")) })
      end
      private_constant :Probe

      @costs = []
      @lock = Mutex.new

      # The Cost of profiles with these options.
      def self.of(exclusive, allocations)
        place = (exclusive ? 2 : 0) + (allocations ? 1 : 0) # Quicker than a Hash, and needed at every start.
        @costs[place] || @lock.synchronize { @costs[place] ||= Thread.new { measure(exclusive ? true : false, allocations ? true : false) }.value } # Nothing runs in a new thread.
      end

      # The shortest of several short rounds: whatever else the machine does can only make a round longer.
      def self.measure(exclusive, allocations)
        probe = Probe.new
        patched, recorded, plain, empty = Array.new(ROUNDS) do
          session = Recorder::Session.new(nil, exclusive, allocations).attach(false)
          whole = patched_loop(probe)
          row = session.finish.last.first
          [whole, row[Profile::NS], plain_loop(probe), empty_loop(probe)]
        end.transpose.map(&:min)
        Cost.new([patched - plain, 0].max.fdiv(CALLS), [recorded - (plain - empty), 0].max.fdiv(CALLS), exclusive, allocations)
      end

      # ns for CALLS calls. Each loop is compiled for itself, so that none meets what another left in a call site.
      {patched: "probe.patched", plain: "probe.plain", empty: nil}.each do |name, call|
        module_eval(<<~RUBY, __FILE__, __LINE__ + 1)
          def self.#{name}_loop(probe)
            start = RealClock.nanoseconds
            i = 0
            while i < CALLS
              #{call}
              i += 1
            end
            RealClock.nanoseconds - start
          end
        RUBY
        private_class_method :"#{name}_loop"
      end
      private_class_method :measure
    end
    private_constant :Calibration
  end
end
