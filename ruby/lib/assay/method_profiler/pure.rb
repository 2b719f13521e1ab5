# frozen_string_literal: true

# The recorder in Ruby, for where there is no extension in C. It does the same as ext/assay/native.c, whose top explains the words, and
# the same tests are run on both. Here everything that is common is written out in the body of the patched method, since a call of a
# method of Ruby costs as much as all the counting.

module Assay
  module MethodProfiler
    module Pure
      # :ruby
      KIND = :ruby

      # No exception is one of these.
      module Nothing; end

      # The clock, as it was when this file was loaded: whatever a test makes of Process.clock_gettime, time is measured.
      module Clock
        define_method(:read, Process.instance_method(:clock_gettime))
        extend self
        NOW = "::Assay::MethodProfiler::Pure::Clock.read(#{Process::CLOCK_MONOTONIC}, :nanosecond)"

        def self.now = read(Process::CLOCK_MONOTONIC, :nanosecond)
      end

      # What belongs to one name on one line. Accessors cost less than anything else that Ruby has. Calls are counted when they end.
      class Slot
        attr_accessor :entered_at,   # nil while no call is open
                      :ns, :outermost,
                      :depth,        # open calls within the open call
                      :within,       # ended calls within an outermost call
                      :nested, :errors, :outermost_errors, :exclusive_ns, :children, :allocations, :open, :entered_calls, :entered_allocations

        def initialize
          @ns = @outermost = @depth = @within = @nested = @errors = @outermost_errors = @exclusive_ns = @children = @allocations = @open = 0
          @entered_at = @entered_calls = @entered_allocations = nil
        end

        # Adds what another slot, of the same name, has counted.
        def add(other)
          @ns += other.ns
          @outermost += other.outermost
          @within += other.within
          @nested += other.nested
          @errors += other.errors
          @outermost_errors += other.outermost_errors
          @exclusive_ns += other.exclusive_ns
          @children += other.children
          @allocations += other.allocations
        end

        # As Session#finish gives it.
        def to_row(id)
          [id, @outermost + @within, @outermost, @open, @errors, @outermost_errors, @ns, @nested, @exclusive_ns, @children, @allocations]
        end
      end

      # The slots of one profile on one line by their ids, and the number of calls that have ended. `line` is the Line where that does
      # all the work.
      class Layer
        attr_accessor :slots, :calls, :line

        def initialize
          clear
        end

        def clear
          @slots = []
          @calls = 0
          @line = nil
        end

        def slot(id) = @slots[id] ||= Slot.new
      end

      # See recorder.rb. A fiber's own variable holds its layer; where the layer names a Line there is more than one profile, or one
      # that wants more than calls and time, and the Line does it all. Between opening the call and `begin` nothing may interrupt.
      def self.body(id, forward)
        <<~RUBY
          if (__assay_layer = ::Thread.current[:__assay_layer] || ::Assay::MethodProfiler::Pure.layer)
            if (__assay_line = __assay_layer.line)
              __assay_line.enter(#{id})
              begin
                #{forward}
              rescue __assay_line.failed(#{id})
              ensure
                __assay_line.leave(#{id})
              end
            elsif (__assay_slot = __assay_layer.slots[#{id}] || __assay_layer.slot(#{id})).entered_at
              __assay_slot.depth += 1
              begin
                #{forward}
              rescue (__assay_slot.errors += 1; ::Assay::MethodProfiler::Pure::Nothing)
              ensure
                __assay_slot.depth -= 1
                __assay_slot.within += 1
                __assay_layer.calls += 1
              end
            else
              __assay_calls = __assay_layer.calls
              __assay_slot.entered_at = __assay_at = #{Clock::NOW}
              begin
                #{forward}
              rescue (__assay_slot.errors += 1; __assay_slot.outermost_errors += 1; ::Assay::MethodProfiler::Pure::Nothing)
              ensure
                __assay_slot.ns += #{Clock::NOW} - __assay_at
                __assay_slot.entered_at = nil
                __assay_slot.outermost += 1
                if (__assay_now = __assay_layer.calls) != __assay_calls
                  __assay_slot.nested += __assay_now - __assay_calls
                end
                __assay_layer.calls = __assay_now + 1
              end
            end
          else
            #{forward}
          end
        RUBY
      end

      @lines = {}.compare_by_identity # fiber => Line
      @sweep_at = 64

      class << self
        attr_reader :lines

        # Bodies touch nothing that belongs to one Ractor.
        def ractors? = true
        def allow_ractors = true
        def clock = :os

        # The layer of this fiber if its thread is profiled; the fiber sees its first patched call. Else nil.
        def layer
          sessions = Thread.current.thread_variable_get(:__assay_sessions) or return nil
          line = line_here
          line.sync(sessions)
          line.layer
        end

        # The Line of this fiber, made if there is none.
        def line_here
          fiber = Fiber.current
          line = lines[fiber] || begin
            sweep if lines.size >= @sweep_at
            lines[fiber] = Line.new(Thread.current)
          end
          Thread.current[:__assay_layer] = line.layer
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
          Thread.current[:__assay_layer] || layer
          lines[Fiber.current]&.innermost&.owner
        end
      end

      # One fiber, and the layers of the profiles that count on it. The first one's layer is what the fiber's variable holds.
      class Line
        # One profile on one line. `frames`: the open calls, where exclusive time is wanted: id, time, time in children, children.
        Level = Struct.new(:session, :layer, :frames)

        attr_reader :thread, :layer

        def initialize(thread)
          @thread = thread
          @levels = []
          @layer = Layer.new
        end

        def innermost = @levels.last&.session
        def levels_of(session) = @levels.select { |level| level.session.equal?(session) }
        def empty? = @levels.empty?

        def push(session)
          return unless levels_of(session).empty?

          @layer.clear if @levels.empty?
          @levels += [Level.new(session, @levels.empty? ? @layer : Layer.new, [])]
          settle
        end

        # The sessions of the thread that are missing.
        def sync(sessions) = sessions.each { |session| push(session) }

        def drop(session, at = Clock.now)
          gone = levels_of(session)
          @levels -= gone
          settle
          gone.each { |level| fold(level, at) }
        end

        def drop_all = @levels.map(&:session).each { |session| drop(session) }

        def enter(id)
          @levels.each do |level|
            slot = level.layer.slot(id)
            unless slot.entered_at
              slot.entered_calls = level.layer.calls
              slot.entered_allocations = GC.stat(:total_allocated_objects) if level.session.allocations
            end
            level.frames << [id, 0, 0, 0] if level.session.exclusive
          end
          open_all(id)
        end

        def failed(id)
          @levels.each do |level|
            slot = level.layer.slots[id]
            next unless slot && slot.entered_at

            slot.errors += 1
            slot.outermost_errors += 1 if slot.depth.zero?
          end
          Nothing
        end

        def leave(id)
          at = Clock.now
          @levels.each do |level|
            slot = level.layer.slots[id]
            next unless slot && slot.entered_at

            leave_frame(level, at) if level.session.exclusive
            close(level, slot, at)
            level.layer.calls += 1
          end
          forget_if_empty
        end

        private

        # Last, and at once: the call is open from here on. The clock is read after all the other work.
        def open_all(id)
          at = Clock.now
          @levels.each do |level|
            slot = level.layer.slots[id]
            level.frames.last[1] = at if level.session.exclusive
            slot.entered_at ? slot.depth += 1 : slot.entered_at = at
          end
        end

        def close(level, slot, at)
          if slot.depth.positive?
            slot.depth -= 1
            slot.within += 1
          else
            allocated = GC.stat(:total_allocated_objects) if level.session.allocations
            slot.ns += at - slot.entered_at
            slot.outermost += 1
            slot.nested += level.layer.calls - (slot.entered_calls || level.layer.calls)
            slot.allocations += allocated - slot.entered_allocations if allocated
            slot.entered_at = slot.entered_calls = nil
          end
        end

        def leave_frame(level, at)
          id, entered_at, in_children, children = level.frames.pop
          slot = level.layer.slots[id]
          slot.exclusive_ns += at - entered_at - in_children
          slot.children += children
          return unless (outer = level.frames.last)

          outer[2] += at - entered_at
          outer[3] += 1
        end

        # One profile that wants only calls and time is counted by the patched methods themselves.
        def settle
          only = @levels.size == 1 && @levels.first
          @layer.line = only && only.layer.equal?(@layer) && only.session.simple? ? nil : self
        end

        # What a profile leaves behind in a fiber in which it was not stopped.
        def forget_if_empty
          return unless empty? && Pure.lines[Fiber.current].equal?(self)

          Pure.lines.delete(Fiber.current)
          Thread.current[:__assay_layer] = nil
        end

        # Adds what was counted to the session. Calls that are open count with their time until now.
        def fold(level, at)
          leave_frame(level, at) until level.frames.empty?
          level.layer.slots.each_with_index do |slot, id|
            next if slot.nil?

            to = (level.session.totals[id] ||= Slot.new)
            while slot.entered_at
              close(level, slot, at)
              to.open += 1
            end
            to.add(slot)
          end
        end
      end

      # One running profile; see recorder.rb.
      class Session
        attr_reader :owner, :exclusive, :allocations, :totals

        def initialize(owner, exclusive, allocations)
          @owner = owner
          @exclusive = exclusive
          @allocations = allocations
          @threads = []
          @totals = {}
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
          end
          Pure.layer unless fiber_only # What the thread has already comes before what is new.
          Pure.line_here.push(self)
          self
        end

        def attached?
          Thread.current[:__assay_layer] || Pure.layer
          !(Pure.lines[Fiber.current]&.levels_of(self) || []).empty?
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
          Pure.lines.each_value.to_a.each { |line| line.drop(self, at) }
          @threads.each { |thread| let_go_of(thread) }
          tidy
          rows = @totals.sort_by(&:first).map { |id, slot| slot.to_row(id) }
          [at - @started_at, rows]
        end

        def abandoned?
          @threads.none?(&:alive?) &&
            Pure.lines.none? { |fiber, line| line.thread.alive? && fiber.alive? && !line.levels_of(self).empty? }
        end

        private

        def lines_of(thread, &block) = Pure.lines.each_value.select { |line| line.thread.equal?(thread) }.each(&block)

        def let_go_of(thread)
          @threads -= [thread]
          left = (thread.thread_variable_get(:__assay_sessions) || []) - [self]
          thread.thread_variable_set(:__assay_sessions, left.empty? ? nil : left)
        end

        # This fiber's own variable can be emptied here; others' are when they next enter a patched method.
        def tidy
          line = Pure.lines[Fiber.current]
          return unless line.nil? || line.empty?

          Pure.lines.delete(Fiber.current)
          Thread.current[:__assay_layer] = nil
        end
      end
    end
  end
end
