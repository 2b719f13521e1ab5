# frozen_string_literal: true

# The running profiles of the recorder in Ruby: the threads and fibers in which each counts, and its
# totals. It must not be called during patched calls.

module Assay
  module MethodProfiler
    module Pure
      # One running profile; see recorder.rb.
      class Session
        attr_reader :owner, :exclusive, :allocations

        def initialize(owner, exclusive, allocations)
          @owner = owner
          @exclusive = exclusive
          @allocations = allocations
          @threads = []
          @totals = {} # id => a slot, and the number of open calls.
          @started_at = Clock.now
        end

        def simple? = !@exclusive && !@allocations

        def attach(fiber_only)
          thread = Thread.current
          unless fiber_only
            @threads += [thread]
            sessions = thread.thread_variable_get(:__assay_sessions) || []
            thread.thread_variable_set(:__assay_sessions, sessions + [self])
            lines_of(thread) { |line| line.push(self) }
            Pure.wake(thread)
          end
          Pure.slots unless Pure.lines.key?(Fiber.current) # Existing sessions come first.
          Pure.line_here.push(self)
          self
        end

        def attached?
          Pure.slots unless Pure.lines.key?(Fiber.current)
          Pure.lines[Fiber.current]&.counts?(self) || false
        end

        def detach(fiber_only)
          if fiber_only
            Pure.lines[Fiber.current]&.drop(self)
          else
            lines_of(Thread.current) { |line| line.drop(self) }
            let_go_of(Thread.current)
          end
          tidy
          self
        end

        def finish
          at = Clock.now
          Pure.lines.values.each { |line| line.drop(self, at) }
          @threads.each { |thread| let_go_of(thread) }
          tidy
          rows = @totals.sort_by(&:first).map { |id, (slot, open)| Slot.to_row(slot, id, open) }
          [at - @started_at, rows]
        end

        # Adds the counts of a line's slot; see Slot.add.
        def add(id, slot, at, allocated)
          total = @totals[id] ||= [Slot.new(nil), 0]
          total[1] += Slot.add(total[0], slot, at, allocated)
        end

        def abandoned?
          @threads.none?(&:alive?) &&
            Pure.lines.to_a.none? { |fiber, line| line.thread.alive? && fiber.alive? && line.counts?(self) }
        end

        private

        # Iterates over a copy, since another thread may add a line during iteration.
        def lines_of(thread, &block) = Pure.lines.values.select { |line| line.thread.equal?(thread) }.each(&block)

        def let_go_of(thread)
          @threads -= [thread]
          left = (thread.thread_variable_get(:__assay_sessions) || []) - [self]
          thread.thread_variable_set(:__assay_sessions, left.empty? ? nil : left)
        end

        # Only this fiber's variable can be cleared here; others are cleared when they next enter a
        # patched method.
        def tidy
          line = Pure.lines[Fiber.current]
          return unless line.nil? || line.empty?

          Pure.lines.delete(Fiber.current)
          Thread.current[:__assay_slots] = nil
        end
      end
    end
  end
end
