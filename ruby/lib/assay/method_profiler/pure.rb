# frozen_string_literal: true

# The recorder in Ruby, for where there is no extension in C. It does the same as ext/assay/native.c, whose top explains the words, and
# the same tests are run on both. What is common, one profile that wants calls and time, has a way of its own.

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

      # What belongs to one name on one line, and the door to it where one profile wants only calls and time. Between `enter`, which is
      # called within the `begin` of the patched method, and the raised depth there is no place where Ruby looks whether another thread
      # has raised something here, nor between calling `leave` and the lowered one.
      class Slot
        attr_accessor :calls,
                      :within,       # of these, in another call of the same name
                      :errors, :outermost_errors, :ns, :nested, :exclusive_ns, :children, :allocations, :open,
                      :depth, :entered_at, :entered_calls, :entered_allocations

        def initialize(layer)
          @layer = layer
          @depth = @calls = @within = @ns = @nested = 0
          @entered_at = @entered_calls = nil
          @errors = @outermost_errors = @exclusive_ns = @children = @allocations = @open = 0
          @entered_allocations = nil
        end

        class_eval(<<~RUBY, __FILE__, __LINE__ + 1)
          def enter
            @calls += 1
            if (@depth += 1) == 1
              @entered_calls = (@layer.calls += 1)
              @entered_at = #{Clock::NOW}
            else
              @within += 1
              @layer.calls += 1
            end
          end

          def leave
            if (@depth -= 1) == 0
              @ns += #{Clock::NOW} - @entered_at
              @nested += @layer.calls - @entered_calls
            end
          end
        RUBY

        # The call that ends now does so by an exception.
        def failed
          @errors += 1
          @outermost_errors += 1 if @depth == 1
          Nothing
        end

        # Adds what another slot of the same name has counted until `at`; calls that are open count with their time so far.
        def add(other, at, allocated)
          %i[calls within errors outermost_errors ns nested exclusive_ns children allocations].each do |sum|
            instance_variable_set(:"@#{sum}", public_send(sum) + other.public_send(sum))
          end
          return unless other.depth.positive?

          @open += other.depth
          @ns += at - other.entered_at
          @nested += other.nested_so_far
          @allocations += allocated - other.entered_allocations if allocated
        end

        def nested_so_far = @layer.calls - @entered_calls

        # As Session#finish gives it.
        def to_row(id)
          [id, @calls, @calls - @within, @open, @errors, @outermost_errors, @ns, @nested, @exclusive_ns, @children, @allocations]
        end
      end

      # The slots of one profile on one line by their ids, and the number of calls.
      class Layer
        attr_accessor :slots, :calls

        def initialize
          @slots = []
          @calls = 0
        end

        def slot(id) = @slots[id] ||= Slot.new(self)
      end

      # The door to all slots of one name on one line, where there are several profiles, or one that wants more.
      class Door
        def initialize(line, id)
          @line = line
          @id = id
        end

        def enter = @line.enter(@id)
        def leave = @line.leave(@id)
        def failed = @line.failed(@id)
      end

      # See recorder.rb. A fiber's own variable holds its doors, by their ids.
      def self.body(id, forward)
        <<~RUBY
          if (__assay_doors = ::Thread.current[:__assay_doors] || ::Assay::MethodProfiler::Pure.doors)
            __assay_door = __assay_doors[#{id}] || ::Assay::MethodProfiler::Pure.door(#{id})
            begin
              __assay_door.enter
              #{forward}
            rescue __assay_door.failed
            ensure
              __assay_door.leave
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

        # The doors of this fiber if its thread is profiled; the fiber sees its first patched call. Else nil.
        def doors
          sessions = Thread.current.thread_variable_get(:__assay_sessions) or return nil
          line = line_here
          line.sync(sessions)
          line.doors
        end

        # One that has not been used since what is profiled here changed.
        def door(id) = lines[Fiber.current].door(id)

        # The Line of this fiber, made if there is none.
        def line_here
          fiber = Fiber.current
          line = lines[fiber] || begin
            sweep if lines.size >= @sweep_at
            lines[fiber] = Line.new(Thread.current)
          end
          Thread.current[:__assay_doors] = line.doors
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
          Thread.current[:__assay_doors] || doors
          lines[Fiber.current]&.innermost&.owner
        end
      end

      # One fiber, and the layers of the profiles that count on it.
      class Line
        # One profile on one line. `frames`: the open calls, where exclusive time is wanted: id, time, time in children, children.
        Level = Struct.new(:session, :layer, :frames)

        attr_reader :thread, :doors

        def initialize(thread)
          @thread = thread
          @levels = []
          @doors = []
        end

        def innermost = @levels.last&.session
        def levels_of(session) = @levels.select { |level| level.session.equal?(session) }
        def empty? = @levels.empty?

        def door(id)
          only = @levels.first if @levels.size == 1
          @doors[id] = only&.session&.simple? ? only.layer.slot(id) : Door.new(self, id)
        end

        def push(session)
          return unless levels_of(session).empty?

          @levels += [Level.new(session, Layer.new, [])]
          @doors.clear
        end

        # The sessions of the thread that are missing.
        def sync(sessions) = sessions.each { |session| push(session) }

        def drop(session, at = Clock.now)
          gone = levels_of(session)
          @levels -= gone
          @doors.clear
          gone.each { |level| fold(level, at) }
        end

        def drop_all = @levels.map(&:session).each { |session| drop(session) }

        def enter(id)
          @levels.each do |level|
            slot = level.layer.slot(id)
            slot.calls += 1
            level.layer.calls += 1
            if slot.depth.zero?
              slot.entered_calls = level.layer.calls
              slot.entered_allocations = GC.stat(:total_allocated_objects) if level.session.allocations
            else
              slot.within += 1
            end
            level.frames << [id, 0, 0, 0] if level.session.exclusive
          end
          open_all(id)
        end

        def failed(id)
          @levels.each { |level| slot_of_open(level, id)&.failed }
          Nothing
        end

        # A call that began before a profile did is none of its business: its depth there is 0 by now.
        def leave(id)
          at = Clock.now
          @levels.each do |level|
            slot = slot_of_open(level, id) or next
            leave_frame(level, at) if level.session.exclusive
            next unless (slot.depth -= 1).zero?

            allocated = GC.stat(:total_allocated_objects) if level.session.allocations
            slot.ns += at - slot.entered_at
            slot.nested += slot.nested_so_far
            slot.allocations += allocated - slot.entered_allocations if allocated
          end
          forget_if_empty
        end

        private

        def slot_of_open(level, id)
          slot = level.layer.slots[id]
          slot if slot && slot.depth.positive?
        end

        # Last, and at once: the call is open from here on. The clock is read after all the other work.
        def open_all(id)
          at = Clock.now
          @levels.each do |level|
            slot = level.layer.slots[id]
            level.frames.last[1] = at if level.session.exclusive
            slot.entered_at = at if (slot.depth += 1) == 1
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

        # What a profile leaves behind in a fiber in which it was not stopped.
        def forget_if_empty
          return unless empty? && Pure.lines[Fiber.current].equal?(self)

          Pure.lines.delete(Fiber.current)
          Thread.current[:__assay_doors] = nil
        end

        # Adds what was counted to the session.
        def fold(level, at)
          leave_frame(level, at) until level.frames.empty?
          allocated = GC.stat(:total_allocated_objects) if level.session.allocations
          level.layer.slots.each_with_index do |slot, id|
            (level.session.totals[id] ||= Slot.new(level.layer)).add(slot, at, allocated) if slot
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
          Pure.doors unless fiber_only # What the thread has already comes before what is new.
          Pure.line_here.push(self)
          self
        end

        def attached?
          Thread.current[:__assay_doors] || Pure.doors
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
          Pure.lines.values.each { |line| line.drop(self, at) }
          @threads.each { |thread| let_go_of(thread) }
          tidy
          rows = @totals.sort_by(&:first).map { |id, slot| slot.to_row(id) }
          [at - @started_at, rows]
        end

        def abandoned?
          @threads.none?(&:alive?) &&
            Pure.lines.to_a.none? { |fiber, line| line.thread.alive? && fiber.alive? && !line.levels_of(self).empty? }
        end

        private

        # Of a copy: while a block looks through the lines, another thread may add its own.
        def lines_of(thread, &block) = Pure.lines.values.select { |line| line.thread.equal?(thread) }.each(&block)

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
          Thread.current[:__assay_doors] = nil
        end
      end
    end
  end
end
