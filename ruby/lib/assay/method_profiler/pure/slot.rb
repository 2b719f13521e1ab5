# frozen_string_literal: true

# What belongs to one name on one line, and the doors to it where one profile wants only calls and time, which is the common case. It must
# not know of threads, fibers or other profiles.

module Assay
  module MethodProfiler
    module Pure
      # The clock, as it was when this file was loaded: whatever a test makes of Process.clock_gettime, time is measured.
      module Clock
        define_method(:read, Process.instance_method(:clock_gettime))
        extend self
        NOW = "::Assay::MethodProfiler::Pure::Clock.read(#{Process::CLOCK_MONOTONIC}, :nanosecond)"

        def self.now = read(Process::CLOCK_MONOTONIC, :nanosecond)
      end

      # A slot is an array, since nothing in Ruby is read and written faster. The clock is taken away when a call begins and added when it
      # ends, so that nothing else has to be kept: a slot with a call in it is known by its time, which is negative, because the clock
      # shows more than all calls can have taken since it began.
      module Slot
        NS = 0
        OUTERMOST = 1         # Calls that ended, of those that were in no other call of the same name.
        NESTED = 2            # Calls of any patched method within these, for the own cost.
        WITHIN = 3            # Calls within another of the same name, whether they ended or not,
        DEPTH = 4             # and those of them that are open.
        ERRORS = 5
        OUTERMOST_ERRORS = 6
        EXCLUSIVE_NS = 7
        CHILDREN = 8
        ALLOCATIONS = 9
        NESTED_DOOR = 10      # To an outermost call within a call of another name,
        RECURSION_DOOR = 11   # and to calls within another of the same name.
        SUMS = [NS, OUTERMOST, NESTED, WITHIN, ERRORS, OUTERMOST_ERRORS, EXCLUSIVE_NS, CHILDREN, ALLOCATIONS].freeze
        private_constant :SUMS

        class << self
          def new(layer)
            slot = Array.new(SUMS.size + 1, 0)
            slot << Nested.new(layer, slot) << Recursion.new(layer, slot)
          end

          def open?(slot) = slot[NS].negative?

          # For a call within another patched one.
          def door(slot) = slot[slot[NS].negative? ? RECURSION_DOOR : NESTED_DOOR]

          # The call that ends now does so by an exception.
          def failed(slot)
            slot[ERRORS] += 1
            slot[OUTERMOST_ERRORS] += 1 if slot[DEPTH].zero?
            Nothing
          end

          # Adds to a slot what another has counted until `at`; calls that are open count with their time so far. Gives the number of those.
          def add(sum, slot, at, allocated)
            SUMS.each { |index| sum[index] += slot[index] }
            return 0 unless open?(slot)

            sum[NS] += at
            sum[OUTERMOST] += 1
            sum[ALLOCATIONS] += allocated if allocated
            slot[DEPTH] + 1
          end

          # As Session#finish gives it.
          def to_row(slot, id, open)
            calls = slot[OUTERMOST] + slot[WITHIN]
            [id, calls, slot[OUTERMOST], open, *slot.values_at(ERRORS, OUTERMOST_ERRORS, NS, NESTED, EXCLUSIVE_NS, CHILDREN, ALLOCATIONS)]
          end
        end

        # The beginning and the end of a call that is within no other patched one, as source: patched methods have it written out.
        # Element 0 of `slots`, which are those of a line, is true during such a call.
        #
        # Between `begin`, which stands before ENTER, and the time taken away there is no place where Ruby looks whether another thread has
        # raised something here (Timeout does): it looks at jumps and at returns. Nor is there one in LEAVE.
        ENTER = ->(slots, slot) { "#{slots}[0] = true; #{slot}[#{NS}] -= #{Clock::NOW}" }
        LEAVE = ->(slots, slot) { "#{slot}[#{NS}] += #{Clock::NOW}; #{slot}[#{OUTERMOST}] += 1; #{slots}[0] = nil" }

        # The same as a door, for the first call, which finds no slot.
        class First
          def initialize(slots, slot)
            @slots = slots
            @slot = slot
          end

          class_eval("def enter = (#{ENTER.call("@slots", "@slot")})\ndef leave = (#{LEAVE.call("@slots", "@slot")})", __FILE__, __LINE__)

          def failed = Slot.failed(@slot)
        end

        # An outermost call within a call of another name.
        class Nested
          def initialize(layer, slot)
            @layer = layer
            @slot = slot
          end

          class_eval(<<~RUBY, __FILE__, __LINE__ + 1)
            def enter = @slot[NS] -= #{Clock::NOW}

            def leave
              @slot[NS] += #{Clock::NOW}
              @slot[OUTERMOST] += 1
              @layer.nested_call_ended
            end
          RUBY

          def failed = Slot.failed(@slot)
        end

        # A call within another of the same name.
        class Recursion < Nested
          def enter
            @slot[DEPTH] += 1
            @slot[WITHIN] += 1
          end

          def leave
            @slot[DEPTH] -= 1
            @layer.nested_call_ended
          end
        end
      end
    end
  end
end
