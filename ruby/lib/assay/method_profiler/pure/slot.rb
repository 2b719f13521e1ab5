# frozen_string_literal: true

# The counters of one name on one line, and the doors to them for a single profile that records only
# calls and time, which is the common case. It must not know of threads, fibers or other profiles.

module Assay
  module MethodProfiler
    module Pure
      # The clock as it was when this file was loaded, unaffected by tests that replace
      # Process.clock_gettime.
      module Clock
        define_method(:read, Process.instance_method(:clock_gettime))
        extend self
        NOW = "::Assay::MethodProfiler::Pure::Clock.read(#{Process::CLOCK_MONOTONIC}, :nanosecond)"

        def self.now = read(Process::CLOCK_MONOTONIC, :nanosecond)
      end

      # A slot is an array, since those are the fastest objects to read and write in Ruby. The clock
      # is subtracted when a call begins and added when it ends, so that nothing else has to be
      # stored: a slot with an open call has a negative time, because the clock is larger than the
      # total duration of all calls since it began.
      module Slot
        NS = 0
        OUTERMOST = 1         # Calls that ended, excluding those within another call of the same name.
        NESTED = 2            # Calls of any patched method within these, for the profiler's cost.
        WITHIN = 3            # Calls within another of the same name, ended or open,
        DEPTH = 4             # and the open ones among them.
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

          # Returns the door for a call within another patched one.
          def door(slot) = slot[slot[NS].negative? ? RECURSION_DOOR : NESTED_DOOR]

          # Notes that the call about to end does so by an exception.
          def failed(slot)
            slot[ERRORS] += 1
            slot[OUTERMOST_ERRORS] += 1 if slot[DEPTH].zero?
            Nothing
          end

          # Adds another slot's counts until `at`; open calls count with their time up to then.
          # Returns the number of open calls.
          def add(sum, slot, at, allocated)
            SUMS.each { |index| sum[index] += slot[index] }
            return 0 unless open?(slot)

            sum[NS] += at
            sum[OUTERMOST] += 1
            sum[ALLOCATIONS] += allocated if allocated
            slot[DEPTH] + 1
          end

          # The row as returned by Session#finish.
          def to_row(slot, id, open)
            calls = slot[OUTERMOST] + slot[WITHIN]
            [id, calls, slot[OUTERMOST], open, *slot.values_at(ERRORS, OUTERMOST_ERRORS, NS, NESTED, EXCLUSIVE_NS, CHILDREN, ALLOCATIONS)]
          end
        end

        # Source for the beginning and the end of a call that is not within another patched one,
        # inlined into patched methods. Element 0 of `slots`, the slots of a line, is true during
        # such a call.
        #
        # Between `begin`, which precedes ENTER, and the subtraction of the time there is no point
        # at which Ruby checks whether another thread has raised an exception here (as Timeout
        # does): it checks at jumps and returns. The same holds for LEAVE.
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
