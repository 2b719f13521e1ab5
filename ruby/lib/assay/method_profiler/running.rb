# frozen_string_literal: true

# A profile that runs: where it counts, and its end. It must not compute results: that is profile.rb.

module Assay
  module MethodProfiler
    # What MethodProfiler.start gives.
    class Running
      @all = []
      @reap_at = 16
      @lock = Mutex.new

      class << self
        # Profiles whose threads ended without stopping them (or stayed behind in the parent of a fork) would keep the wrappers in.
        def register(running)
          @lock.synchronize do
            if @all.size >= @reap_at || @process != Process.pid
              @process = Process.pid
              @all.select(&:abandoned?).each { |one| one.let_go && @all.delete(one) }
              @reap_at = [@all.size * 2, 16].max
            end
            @all << running
          end
        end

        def forget(running) = @lock.synchronize { @all.delete(running) }
      end

      # The Profile, once it was stopped; nil before.
      attr_reader :profile

      # Use MethodProfiler.start.
      def initialize(exclusive:, allocations:, scope:)
        raise ArgumentError, "scope is :thread or :fiber, not #{scope.inspect}" unless %i[thread fiber].include?(scope)

        @exclusive = exclusive ? true : false
        @allocations = allocations ? true : false
        @fiber_only = scope == :fiber
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
        duration, rows = @session.finish
        @profile = Profile.new(duration, rows, @cost, exclusive: @exclusive, allocations: @allocations)
        self.class.forget(self)
        Patches.release
        @profile
      end

      # :nodoc: For `register`, which holds the lock.
      def abandoned? = !@session.nil? && running? && @session.abandoned?

      # :nodoc:
      def let_go
        duration, rows = @session.finish
        @profile = Profile.new(duration, rows, @cost, exclusive: @exclusive, allocations: @allocations)
        Patches.release
        true
      end

      def inspect = "#<#{self.class} #{running? ? "running" : "stopped"}>"

      private

      def check_running
        raise NotRunning, "this profile was stopped already" unless running?
      end
    end
  end
end
