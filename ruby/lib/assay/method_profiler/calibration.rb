# frozen_string_literal: true

# The cost of counting a call: measured on an empty method once per process, before the first
# profile that needs it, so that profiles can subtract and report it. Takes some 10 ms, and must not
# disturb running profiles.

require_relative "../real_clock"

module Assay
  module MethodProfiler
    module Calibration
      # per_call::  additional time of a patched call over a plain one, in ns
      # inside::    the part of it between the two clock readings, in ns: by this amount every
      #             duration is too long
      # exclusive:: and allocations: the options of the profiles with this cost
      Cost = Struct.new(:per_call, :inside, :exclusive, :allocations)

      CALLS = 500
      ROUNDS = 40
      private_constant :CALLS, :ROUNDS

      # The same method twice, one of them patched by hand, so that only this profile sees it.
      class Probe
        def plain; end
        def patched; end
        prepend(Module.new { define_method(:patched, Patches.wrapper(Probe.instance_method(:patched), FIRST_ID - 1, "(assay: calibration)")) })
      end
      private_constant :Probe

      @costs = []
      @lock = Mutex.new

      # Returns the Cost of profiles with these options.
      def self.of(exclusive, allocations)
        place = (exclusive ? 2 : 0) + (allocations ? 1 : 0) # Quicker than a Hash, and needed at every start.
        @costs[place] || @lock.synchronize { @costs[place] ||= Thread.new { measure(exclusive ? true : false, allocations ? true : false) }.value } # Nothing runs in a new thread.
      end

      # The minimum of several short rounds, since interference by other programs can only make a
      # round longer.
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

      # Returns the time of CALLS calls in ns. Each loop is compiled separately, so that call sites
      # are not shared.
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
