# frozen_string_literal: true

# The recorder in Ruby, for installations without the C extension. It does the same as
# ext/assay/native.c, and the same tests run on both; the terms are explained in
# ext/assay/recorder.h. The common case, one profile that records calls and time, is inlined into
# the patched methods. Counters are in pure/slot.rb, fibers in pure/line.rb, running profiles in
# pure/session.rb.

module Assay
  module MethodProfiler
    module Pure
      # :ruby
      KIND = :ruby

      # Matches no exception.
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
      # Element 0 of a thread's empty slots: no profile is running here.
      IDLE = 0

      # See recorder.rb. A fiber-local variable holds the fiber's slots, indexed by id; if no
      # profile is running, its thread's empty slots.
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

      # The door used if no profile is running.
      module Unprofiled
        def self.enter = nil
        def self.leave = nil
        def self.failed = Nothing
      end

      @lines = {}.compare_by_identity # fiber => Line
      @sweep_at = 64

      class << self
        attr_reader :lines

        # Bodies access nothing that belongs to a single Ractor.
        def ractors? = true
        def allow_ractors = true
        def clock = :os

        # Returns the slots that this fiber's patched calls use, at its first one.
        def slots
          thread = Thread.current
          sessions = thread.thread_variable_get(:__assay_sessions)
          return thread[:__assay_slots] = idle_slots(thread) unless sessions

          line = line_here
          line.sync(sessions)
          line.slots
        end

        # Returns the door for a patched call that found no slot: the running profiles have changed,
        # or the name is new on this line.
        def door(id)
          unless lines.key?(Fiber.current)
            Thread.current[:__assay_slots] = nil
            return Unprofiled if slots[0] == IDLE
          end
          lines[Fiber.current].door(id)
        end

        # Called when a profile starts in this thread: fibers that still have the empty slots must
        # look again.
        def wake(thread)
          slots = thread.thread_variable_get(:__assay_idle) or return
          slots.clear
          thread.thread_variable_set(:__assay_idle, nil)
        end

        # Returns the Line of this fiber, created if missing.
        def line_here
          fiber = Fiber.current
          line = lines[fiber] || begin
            sweep if lines.size >= @sweep_at
            lines[fiber] = Line.new(Thread.current)
          end
          Thread.current[:__assay_slots] = line.slots
          line
        end

        # Removes lines of fibers that have ended; their counts are kept.
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

        # Shared by all fibers of a thread.
        def idle_slots(thread)
          thread.thread_variable_get(:__assay_idle) || [IDLE].tap { |slots| thread.thread_variable_set(:__assay_idle, slots) }
        end
      end
    end
  end
end
