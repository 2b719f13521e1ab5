# frozen_string_literal: true

# A profile that runs: where it counts, and its end. It must not compute results: that is profile.rb.

module Assay
  module MethodProfiler
    # What MethodProfiler.start gives.
    class Running
      @all = []
      @lock = Mutex.new

      class << self
        # Profiles whose threads ended without stopping them (or stayed behind in the parent of a fork) would keep the wrappers in for
        # good. Every start and every stop looks at two of those that run, so that a server pays for few and none is forgotten.
        def register(running)
          @lock.synchronize do
            look(@process == running.process ? 2 : @all.size, running) unless @all.empty?
            @process = running.process
            @all << running
          end
        end

        # The profile that `start` began in this fiber, and that still counts here; or the innermost one that does, of a fiber that has ended.
        def left_over(starting)
          running = Thread.current[:__assay_started]
          return running if running&.counts_here?

          running = Recorder.current
          running if running&.left_behind_for?(starting)
        end

        # Says once in a process that profiles are started and not stopped.
        def warn_of_left_over
          return if @warned

          @warned = true
          place = caller_locations.find { |location| !location.path.start_with?(OWN, "<internal:") }
          warn("assay: the profile that starts at #{place ? "#{place.path}:#{place.lineno}" : "an unknown place"} replaces one that was " \
               "started in the same fiber and never stopped. Stop it in an `ensure`, or use `profile { … }`; a profile within a profile " \
               "is `start(nested: true)`. This is said only once")
        end

        def forget(running)
          @lock.synchronize do
            @all.delete(running)
            look(2) unless @all.empty?
          end
        end

        private

        def look(number, starting = nil)
          [number, @all.size].min.times do
            oldest = @all.shift
            next oldest.let_go if oldest.abandoned?
            next @all << oldest unless starting && oldest.left_behind_for?(starting)

            warn_of_left_over
            oldest.let_go
          end
        end
      end

      # The Profile, once it was stopped; nil before.
      attr_reader :profile

      # Use MethodProfiler.start.
      def initialize(exclusive, allocations, scope, nested) # By place: Ruby makes a Hash of keywords for `new`.
        @fiber_only = scope == :fiber
        raise ArgumentError, "scope is :thread or :fiber, not #{scope.inspect}" unless @fiber_only || scope == :thread

        @nested = nested ? true : false
        @thread = Thread.current
        @fiber = Fiber.current
        @process = Process.pid
        replace_left_over unless @nested
        @cost = Calibration.of(exclusive, allocations)
        self.class.register(self)
        Patches.use
        @session = Recorder::Session.new(self, @cost.exclusive, @cost.allocations)
        @session.attach(@fiber_only)
        Thread.current[:__assay_started] = self unless @nested # A variable of the fiber.
      end

      # Whether it still counts.
      def running? = @profile.nil?

      # Hand-over: counts in the thread (or, with `scope: :fiber`, in the fiber) that calls it, too, into the same rows. With a block
      # until the block ends, else until `detach` or `stop`. Where the profile counts already this changes nothing.
      #
      #   running = Assay::MethodProfiler.start
      #   Thread.new { running.attach { fetch(url) } }.join
      #   running.stop
      #
      # Two threads that wait at once both add their time: a row may then be longer than the whole profile.
      def attach
        check_running
        added = !@session.attached? && @session.attach(@fiber_only)
        return self unless block_given?

        begin
          yield
        ensure
          @session.detach(@fiber_only) if added && running?
        end
      end

      # Counts no longer in this thread or fiber. What it has counted there is kept; calls that are open count with their time so far.
      def detach
        check_running
        @session.detach(@fiber_only)
        self
      end

      # Stops it, from whichever thread, and gives its Profile.
      def stop
        check_running
        finish
        self.class.forget(self)
        @profile
      end

      # :nodoc: For `register`, which holds the lock.
      def abandoned? = running? && !@session.nil? && !(@fiber_only ? @fiber : @thread).alive? && @session.abandoned?

      # :nodoc: Whether the fiber that started it has ended, in a thread that starts another one.
      def left_behind_for?(other) = running? && !@nested && !other.nested? && @thread.equal?(other.thread) && !@fiber.alive? && counts_here?

      # :nodoc:
      def counts_here? = running? && !@session.nil? && @session.attached?

      # :nodoc: Whether it was started by the process that this one was forked from.
      def copied? = @process != Process.pid

      # :nodoc: Ends it, for nobody.
      def let_go
        @let_go = true
        finish
      end

      # :nodoc:
      def nested? = @nested

      # :nodoc:
      attr_reader :thread, :process

      def inspect = "#<#{self.class} #{running? ? "running" : "stopped"}>"

      private

      def finish
        duration, rows = @session.finish
        @profile = Profile.new(duration, rows, @cost)
        Patches.release
      end

      def replace_left_over
        while (old = self.class.left_over(self))
          self.class.warn_of_left_over unless old.copied?
          old.let_go
          self.class.forget(old)
        end
      end

      def check_running
        return if running?
        raise NotRunning, "this profile was stopped already" unless @let_go

        raise NotRunning, "this profile was ended by a later `start` in the same fiber: a profile within a profile is `start(nested: true)`"
      end

      OWN = File.expand_path("../..", __dir__)
      private_constant :OWN
    end
  end
end
