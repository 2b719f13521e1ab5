# frozen_string_literal: true

# A running profile: where it counts, and how it ends. It must not compute results: that is
# profile.rb.

module Assay
  module MethodProfiler
    # The result of MethodProfiler.start.
    class Running
      @all = []
      @lock = Mutex.new

      class << self
        # Profiles whose threads ended without stopping them (or were left behind in the parent of a
        # fork) would keep the wrappers in forever. Every start and every stop checks two of the
        # running profiles, which keeps the cost low for servers and still reaches each of them.
        def register(running)
          @lock.synchronize do
            look(@process == running.process ? 2 : @all.size, running) unless @all.empty?
            @process = running.process
            @all << running
          end
        end

        # The profile started in this fiber that still counts here, or else the innermost one that
        # does, of a fiber that has ended.
        def left_over(starting)
          running = Thread.current[:__assay_started]
          return running if running&.counts_here?

          running = Recorder.current
          running if running&.left_behind_for?(starting)
        end

        # Warns, once per process, that profiles are started and not stopped.
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

      # The Profile after stopping; nil before.
      attr_reader :profile

      # Internal; use MethodProfiler.start.
      def initialize(exclusive, allocations, scope, nested) # Keywords would create a Hash.
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

      # Returns true if it still counts.
      def running? = @profile.nil?

      # Also counts in the calling thread (or, with `scope: :fiber`, fiber), into the same rows:
      # with a block until the block ends, otherwise until `detach` or `stop`. Does nothing if the
      # profile already counts there.
      #
      #   running = Assay::MethodProfiler.start
      #   Thread.new { running.attach { fetch(url) } }.join
      #   running.stop
      #
      # If two threads wait at the same time, both add their time: a row may then be longer than the
      # whole profile.
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

      # Stops counting in this thread or fiber. Existing counts are kept; open calls count with
      # their time up to now.
      def detach
        check_running
        @session.detach(@fiber_only)
        self
      end

      # Stops it, from any thread, and returns its Profile.
      def stop
        check_running
        finish
        self.class.forget(self)
        @profile
      end

      # :nodoc: For `register`, which holds the lock.
      def abandoned? = running? && !@session.nil? && !(@fiber_only ? @fiber : @thread).alive? && @session.abandoned?

      # :nodoc: Returns true if the fiber that started it has ended, in a thread that starts another
      # one.
      def left_behind_for?(other) = running? && !@nested && !other.nested? && @thread.equal?(other.thread) && !@fiber.alive? && counts_here?

      # :nodoc:
      def counts_here? = running? && !@session.nil? && @session.attached?

      # :nodoc: Returns true if it was started by the process from which this one was forked.
      def copied? = @process != Process.pid

      # :nodoc: Ends it and discards the result.
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
