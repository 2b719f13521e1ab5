# frozen_string_literal: true

# The recorder in Ruby, for where there is no extension in C. It does the same as ext/assay/native.c, whose top explains the words, and
# the same tests are run on both. What is common, one profile that wants calls and time, is written out in the patched methods.
# What is counted is in pure/slot.rb, where in pure/line.rb, for whom in pure/session.rb.

module Assay
  module MethodProfiler
    module Pure
      # :ruby
      KIND = :ruby

      # No exception is one of these.
      module Nothing; end
    end
  end
end

require_relative "pure/slot"
require_relative "pure/line"
require_relative "pure/session"

module Assay
  module MethodProfiler
    module Pure
      # In element 0 of a thread's array without slots: nobody profiles here.
      IDLE = 0

      # See recorder.rb. A fiber's own variable holds its slots, by their ids; where nobody profiles, its thread's array without slots.
      def self.body(id, forward)
        <<~RUBY
          __assay_slots = ::Thread.current[:__assay_slots] || ::Assay::MethodProfiler::Pure.slots
          if (__assay_slot = __assay_slots[#{id}]) && !__assay_slots[0]
            begin
              #{Slot::ENTER.call("__assay_slots", "__assay_slot")}
              #{forward}
            rescue ::Assay::MethodProfiler::Pure::Slot.failed(__assay_slot)
            ensure
              #{Slot::LEAVE.call("__assay_slots", "__assay_slot")}
            end
          elsif __assay_slots[0] == #{IDLE}
            #{forward}
          else
            __assay_door = __assay_slot ? ::Assay::MethodProfiler::Pure::Slot.door(__assay_slot) : ::Assay::MethodProfiler::Pure.door(#{id})
            begin
              __assay_door.enter
              #{forward}
            rescue __assay_door.failed
            ensure
              __assay_door.leave
            end
          end
        RUBY
      end

      # The door where nobody profiles.
      module Unprofiled
        def self.enter = nil
        def self.leave = nil
        def self.failed = Nothing
      end

      @lines = {}.compare_by_identity # fiber => Line
      @sweep_at = 64

      class << self
        attr_reader :lines

        # Bodies touch nothing that belongs to one Ractor.
        def ractors? = true
        def allow_ractors = true
        def clock = :os

        # What this fiber's patched calls look at, when it sees its first one.
        def slots
          thread = Thread.current
          sessions = thread.thread_variable_get(:__assay_sessions)
          return thread[:__assay_slots] = idle_slots(thread) unless sessions

          line = line_here
          line.sync(sessions)
          line.slots
        end

        # For a patched call that found no slot: what is profiled here changed, or the name is new here.
        def door(id)
          unless lines.key?(Fiber.current)
            Thread.current[:__assay_slots] = nil
            return Unprofiled if slots[0] == IDLE
          end
          lines[Fiber.current].door(id)
        end

        # From now on somebody profiles in this thread: its fibers that don't know shall ask.
        def wake(thread)
          slots = thread.thread_variable_get(:__assay_idle) or return
          slots.clear
          thread.thread_variable_set(:__assay_idle, nil)
        end

        # The Line of this fiber, made if there is none.
        def line_here
          fiber = Fiber.current
          line = lines[fiber] || begin
            sweep if lines.size >= @sweep_at
            lines[fiber] = Line.new(Thread.current)
          end
          Thread.current[:__assay_slots] = line.slots
          line
        end

        # Fibers that ended: what they counted is kept.
        def sweep
          lines.to_a.each do |fiber, line|
            next if fiber.alive?

            line.drop_all
            lines.delete(fiber)
          end
          @sweep_at = [lines.size * 2, 64].max
        end

        # See recorder.rb.
        def current
          slots unless lines.key?(Fiber.current)
          lines[Fiber.current]&.innermost&.owner
        end

        private

        # All fibers of a thread share one.
        def idle_slots(thread)
          thread.thread_variable_get(:__assay_idle) || [IDLE].tap { |slots| thread.thread_variable_set(:__assay_idle, slots) }
        end
      end
    end
  end
end
