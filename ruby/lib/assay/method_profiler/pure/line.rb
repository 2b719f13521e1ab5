# frozen_string_literal: true

# Fibers and the profiles that count on them, for the recorder in Ruby, and the door for several
# profiles at the same time or for one that records more than calls and time. It must not know in
# which threads a profile counts: that is session.rb.

module Assay
  module MethodProfiler
    module Pure
      # The door to all slots of one name on one line, for several profiles, or one that records
      # more.
      class Door
        def initialize(line, id)
          @line = line
          @id = id
        end

        def enter = @line.enter(@id)
        def leave = @line.leave(@id)
        def failed = @line.failed(@id)
      end

      # The counts of one profile on one line.
      class Layer
        # The open calls, if exclusive time is recorded: id, time, time in children, children.
        attr_reader :session, :frames

        def initialize(session)
          @session = session
          @slots = {} # By their ids.
          @frames = []
        end

        def slot(id) = @slots[id] ||= Slot.new(self)
        def open? = @slots.each_value.any? { |slot| Slot.open?(slot) }

        # Returns the slot if it has an open call.
        def open_slot(id)
          slot = @slots[id]
          slot if slot && Slot.open?(slot)
        end

        # Counts a nested call for all calls that are still open.
        def nested_call_ended
          @slots.each_value { |slot| slot[Slot::NESTED] += 1 if slot[Slot::NS].negative? }
        end

        # Must be the last step and uninterrupted: from here on the call is open.
        def open(id, at)
          slot = @slots[id]
          @frames.last[1] = at if session.exclusive
          return slot[Slot::DEPTH] += 1 if Slot.open?(slot)

          slot[Slot::ALLOCATIONS] -= GC.stat(:total_allocated_objects) if session.allocations
          slot[Slot::NS] -= at
        end

        # Calls that began before the profile are ignored: there is no open call here for them.
        def close(id, at)
          slot = open_slot(id) or return
          leave_frame(at) if session.exclusive
          if slot[Slot::DEPTH].zero?
            slot[Slot::NS] += at
            slot[Slot::ALLOCATIONS] += GC.stat(:total_allocated_objects) if session.allocations
            slot[Slot::OUTERMOST] += 1
          else
            slot[Slot::DEPTH] -= 1
          end
          nested_call_ended
        end

        # Adds the counts to the session.
        def fold(at)
          leave_frame(at) until @frames.empty?
          allocated = GC.stat(:total_allocated_objects) if session.allocations
          @slots.each { |id, slot| session.add(id, slot, at, allocated) }
        end

        private

        def leave_frame(at)
          id, entered_at, in_children, children = @frames.pop
          slot = @slots[id]
          slot[Slot::EXCLUSIVE_NS] += at - entered_at - in_children
          slot[Slot::CHILDREN] += children
          return unless (outer = @frames.last)

          outer[2] += at - entered_at
          outer[3] += 1
        end
      end

      # One fiber, and the layers of the profiles that count on it.
      class Line
        # The array read by patched methods: the slots of the only profile, if it records only calls
        # and time. Element 0 is not a slot: it is true while a call is open in one of them.
        attr_reader :slots
        attr_reader :thread

        def initialize(thread)
          @thread = thread
          @layers = []
          @slots = []
        end

        def innermost = @layers.last&.session
        def counts?(session) = @layers.any? { |layer| layer.session.equal?(session) }
        def empty? = @layers.empty?

        # Returns the door for a call without a slot.
        def door(id)
          layer = only_simple or return Door.new(self, id)
          slot = @slots[id] = layer.slot(id)
          @slots[0] ? Slot.door(slot) : Slot::First.new(@slots, slot)
        end

        def push(session)
          return if counts?(session)

          @layers += [Layer.new(session)]
          forget_slots
        end

        # Adds the missing sessions of the thread.
        def sync(sessions) = sessions.each { |session| push(session) }

        def drop(session, at = Clock.now)
          gone, @layers = @layers.partition { |layer| layer.session.equal?(session) }
          forget_slots
          gone.each { |layer| layer.fold(at) }
        end

        def drop_all = @layers.map(&:session).each { |session| drop(session) }

        def enter(id)
          @layers.each do |layer|
            slot = layer.slot(id)
            slot[Slot::WITHIN] += 1 if Slot.open?(slot)
            layer.frames << [id, 0, 0, 0] if layer.session.exclusive
          end
          at = Clock.now # After all the other work.
          @layers.each { |layer| layer.open(id, at) }
        end

        def failed(id)
          @layers.each { |layer| (slot = layer.open_slot(id)) && Slot.failed(slot) }
          Nothing
        end

        def leave(id)
          at = Clock.now
          @layers.each { |layer| layer.close(id, at) }
          look_for_open_call
          forget_if_empty
        end

        private

        def only_simple
          layer = @layers.first if @layers.size == 1
          layer if layer&.session&.simple?
        end

        def forget_slots
          @slots.clear
          look_for_open_call
        end

        def look_for_open_call
          @slots[0] = only_simple&.open? || nil
        end

        # The remains of a profile in a fiber in which it was not stopped.
        def forget_if_empty
          return unless empty? && Pure.lines[Fiber.current].equal?(self)

          Pure.lines.delete(Fiber.current)
          Thread.current[:__assay_slots] = nil
        end
      end
    end
  end
end
