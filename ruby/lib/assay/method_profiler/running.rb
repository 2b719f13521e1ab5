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
            look(@process == Process.pid ? 2 : @all.size)
            @process = Process.pid
            @all << running
          end
        end

        def forget(running)
          @lock.synchronize do
            @all.delete(running)
            look(2)
          end
        end

        private

        def look(number)
          [number, @all.size].min.times do
            oldest = @all.shift
            oldest.abandoned? ? oldest.let_go : @all << oldest
          end
        end
      end

      # The Profile, once it was stopped; nil before.
      attr_reader :profile

      # Use MethodProfiler.start.
      def initialize(exclusive:, allocations:, scope:)
        raise ArgumentError, "scope is :thread or :fiber, not #{scope.inspect}" unless %i[thread fiber].include?(scope)

        @exclusive = exclusive ? true : false
        @allocations = allocations ? true : false
        @fiber_only = scope == :fiber
        @thread = Thread.current
        @cost = Calibration.of(@exclusive, @allocations)
        self.class.register(self)
        Patches.use
        @session = Recorder::Session.new(self, @exclusive, @allocations)
        @session.attach(@fiber_only)
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
      def abandoned? = running? && !@session.nil? && !@thread.alive? && @session.abandoned?

      # :nodoc: Ends it, for nobody.
      def let_go = finish

      def inspect = "#<#{self.class} #{running? ? "running" : "stopped"}>"

      private

      def finish
        duration, rows = @session.finish
        @profile = Profile.new(duration, rows, @cost, exclusive: @exclusive, allocations: @allocations)
        Patches.release
      end

      def check_running
        raise NotRunning, "this profile was stopped already" unless running?
      end
    end
  end
end
