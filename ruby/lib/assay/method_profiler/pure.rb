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

      # A slot is an array of these; so is a layer, of its Line or nil, the number of calls, and its slots by their ids.
      CALLS, DEPTH, ENTERED_AT, NS, ERRORS, ENTERED_CALLS, NESTED, WITHIN, OUTERMOST_ERRORS, EXCLUSIVE_NS, CHILDREN, ALLOCATIONS,
        ENTERED_ALLOCATIONS, OPEN = *0..13
      LINE = 0
      ALL_CALLS = 1

      # See recorder.rb. A fiber's own variable holds its layer; where the layer names a Line there is more than one profile, or one
      # that wants more than calls and time, and the Line does it all. Between raising the depth and `begin` nothing may interrupt.
      def self.body(id, forward)
        <<~RUBY
          if (__assay_layer = ::Thread.current[:__assay_layer] || ::Assay::MethodProfiler::Pure.layer)
            if (__assay_line = __assay_layer[#{LINE}])
              __assay_line.enter(#{id})
              begin
                #{forward}
              rescue __assay_line.failed(#{id})
              ensure
                __assay_line.leave(#{id})
              end
            else
              __assay_slot = __assay_layer[#{id}] || ::Assay::MethodProfiler::Pure.slot(__assay_layer, #{id})
              __assay_slot[#{CALLS}] += 1
              __assay_calls = (__assay_layer[#{ALL_CALLS}] += 1)
              if __assay_slot[#{DEPTH}] == 0
                __assay_slot[#{ENTERED_CALLS}] = __assay_calls
                __assay_slot[#{DEPTH}] = 1
                __assay_slot[#{ENTERED_AT}] = #{Clock::NOW}
                begin
                  #{forward}
                rescue (__assay_slot[#{ERRORS}] += 1; __assay_slot[#{OUTERMOST_ERRORS}] += 1; ::Assay::MethodProfiler::Pure::Nothing)
                ensure
                  __assay_slot[#{NS}] += #{Clock::NOW} - __assay_slot[#{ENTERED_AT}]
                  __assay_slot[#{NESTED}] += __assay_layer[#{ALL_CALLS}] - __assay_slot[#{ENTERED_CALLS}]
                  __assay_slot[#{DEPTH}] = 0
                end
              else
                __assay_slot[#{WITHIN}] += 1
                __assay_slot[#{DEPTH}] += 1
                begin
                  #{forward}
                rescue (__assay_slot[#{ERRORS}] += 1; ::Assay::MethodProfiler::Pure::Nothing)
                ensure
                  __assay_slot[#{DEPTH}] -= 1
                end
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

        def slot(layer, id) = layer[id] = Array.new(OPEN + 1, 0)

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
          @layer = [nil, 0]
        end

        def innermost = @levels.last&.session
        def levels_of(session) = @levels.select { |level| level.session.equal?(session) }
        def empty? = @levels.empty?

        def push(session)
          return unless levels_of(session).empty?

          @layer.replace([nil, 0]) if @levels.empty?
          @levels += [Level.new(session, @levels.empty? ? @layer : [nil, 0], [])]
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
          at = Clock.now
          @levels.each do |level|
            layer = level.layer
            slot = layer[id] || Pure.slot(layer, id)
            slot[CALLS] += 1
            layer[ALL_CALLS] += 1
            if slot[DEPTH].zero?
              slot[ENTERED_CALLS] = layer[ALL_CALLS]
              slot[ENTERED_ALLOCATIONS] = GC.stat(:total_allocated_objects) if level.session.allocations
            else
              slot[WITHIN] += 1
            end
            level.frames << [id, at, 0, 0] if level.session.exclusive
          end
          open_all(id)
        end

        def failed(id)
          @levels.each do |level|
            slot = level.layer[id]
            next if slot.nil? || slot[DEPTH].zero?

            slot[ERRORS] += 1
            slot[OUTERMOST_ERRORS] += 1 if slot[DEPTH] == 1
          end
          Nothing
        end

        def leave(id)
          at = Clock.now
          allocated = nil
          @levels.each do |level|
            slot = level.layer[id]
            next if slot.nil? || slot[DEPTH].zero?

            leave_frame(level, at) if level.session.exclusive
            next unless (slot[DEPTH] -= 1).zero?

            slot[NS] += at - slot[ENTERED_AT]
            slot[NESTED] += level.layer[ALL_CALLS] - slot[ENTERED_CALLS]
            next unless level.session.allocations

            slot[ALLOCATIONS] += (allocated ||= GC.stat(:total_allocated_objects)) - slot[ENTERED_ALLOCATIONS]
          end
          forget_if_empty
        end

        private

        # Last, and at once: the call is open from here on. The clock is read again, after all this work.
        def open_all(id)
          at = Clock.now
          @levels.each do |level|
            slot = level.layer[id]
            slot[ENTERED_AT] = at if slot[DEPTH].zero?
            level.frames.last[1] = at if level.session.exclusive
            slot[DEPTH] += 1
          end
        end

        def leave_frame(level, at)
          id, entered_at, in_children, children = level.frames.pop
          slot = level.layer[id]
          slot[EXCLUSIVE_NS] += at - entered_at - in_children
          slot[CHILDREN] += children
          return unless (outer = level.frames.last)

          outer[2] += at - entered_at
          outer[3] += 1
        end

        # One profile that wants only calls and time is counted by the patched methods themselves.
        def settle
          only = @levels.size == 1 && @levels.first
          @layer[LINE] = only && only.layer.equal?(@layer) && only.session.simple? ? nil : self
        end

        # What a profile leaves behind in a fiber in which it was not stopped.
        def forget_if_empty
          return unless empty? && Pure.lines[Fiber.current].equal?(self)

          Pure.lines.delete(Fiber.current)
          Thread.current[:__assay_layer] = nil
        end

        def fold(level, at)
          leave_frame(level, at) until level.frames.empty?
          level.layer.each_with_index do |slot, id|
            next if id < FIRST_ID || slot.nil?

            to = (level.session.totals[id] ||= Array.new(OPEN + 1, 0))
            [CALLS, NS, ERRORS, NESTED, WITHIN, OUTERMOST_ERRORS, EXCLUSIVE_NS, CHILDREN, ALLOCATIONS].each { |i| to[i] += slot[i] }
            next if slot[DEPTH].zero?

            to[OPEN] += slot[DEPTH]
            to[NS] += at - slot[ENTERED_AT]
            to[NESTED] += level.layer[ALL_CALLS] - slot[ENTERED_CALLS]
            to[ALLOCATIONS] += GC.stat(:total_allocated_objects) - slot[ENTERED_ALLOCATIONS] if level.session.allocations
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
          rows = @totals.sort.map do |id, s|
            [id, s[CALLS], s[CALLS] - s[WITHIN], s[OPEN], s[ERRORS], s[OUTERMOST_ERRORS], s[NS], s[NESTED], s[EXCLUSIVE_NS], s[CHILDREN],
             s[ALLOCATIONS]]
          end
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
