# frozen_string_literal: true

# What the fakes know of the methods that they stand for: which answer is the usual one, how a scripted answer is handed over, and what
# follows from a call. One small class for each kind of method.

require "stringio"

module Assay
  module Testing
    # A method of which nothing is known: answers nil, or what is scripted.
    class Kind
      SPAWN = Process.method(:spawn)
      WAIT = Process.method(:wait)
      private_constant :SPAWN, :WAIT

      # Sets `$?` of this thread. Ruby lets nothing but a real process do that, so a short-lived one is run.
      def self.set_status(status)
        possible = status.is_a?(Integer) && status.between?(0, 255)
        raise ArgumentError, "a status is a whole number from 0 to 255, not #{status.inspect}" unless possible

        WAIT.call(SPAWN.call("/bin/sh", "-c", "exit #{status}", in: File::NULL, out: File::NULL, err: File::NULL))
      end

      # True for the calls that it answers; others go to the original.
      def takes?(_call) = true

      # True where calls are written down and counted.
      def recorded? = true

      # Raises what the real method would raise for such arguments.
      def check(call); end

      # The answer of a process that ended with this status, where the script names none.
      def after(_status) = usual

      # What the caller gets.
      def finish(_call, scripted, answer) = scripted ? answer : usual

      def usual = nil
    end

    # `sleep`: answers at once with the seconds, rounded, and moves the clock on.
    class SleepKind < Kind
      def initialize(clock)
        super()
        @clock = clock
      end

      def check(call)
        seconds = call.arguments.first
        raise ArgumentError, "wrong number of arguments (given #{call.arguments.size}, expected 0..1)" if call.arguments.size > 1
        return if call.arguments.empty?
        raise TypeError, "can't convert #{seconds.class} into time interval" unless seconds.respond_to?(:divmod)
        raise ArgumentError, "time interval must not be negative" if seconds.negative?
      end

      def finish(call, scripted, answer)
        seconds = call.arguments.first || 0
        @clock.advance(seconds)
        scripted ? answer : seconds.round
      end
    end

    # `system`: true, unless the status says otherwise. With `exception: true` a failure is raised, as the real one does.
    class SystemKind < Kind
      def usual = true
      def after(status) = status.zero?

      def finish(call, scripted, answer)
        given = super
        return given if given || !call.keywords[:exception]

        raise Errno::ENOENT, call.command.to_s if given.nil?

        raise "Command failed: #{call.command}"
      end
    end

    # Backtick: an empty text.
    class BacktickKind < Kind
      def usual = +""
    end

    # `spawn` and `fork`: numbers that no process has (Linux ends at 2**22), so that a signal to one of them hits nobody.
    class PidKind < Kind
      FIRST = 1 << 30
      private_constant :FIRST

      def initialize
        super
        @next = FIRST - 1
        @lock = Mutex.new
      end

      def usual = @lock.synchronize { @next += 1 }
    end

    # `open` and `IO.popen`: a StringIO. A scripted text becomes the content of one; with a block it is handed to the block.
    class OpenKind < Kind
      def finish(call, scripted, answer)
        stream = scripted && !answer.nil? ? answer : +""
        stream = StringIO.new(stream.frozen? ? stream.dup : stream) if stream.is_a?(String)
        call.block ? call.block.call(stream) : stream
      end

      def usual = +""
    end

    # `Time.now` and `Process.clock_gettime`: what the fake clock shows. Not written down.
    class TimeKind < Kind
      FACTORS = {
        nanosecond: ->(ns) { ns }, microsecond: ->(ns) { ns / 1_000 }, millisecond: ->(ns) { ns / 1_000_000 },
        second: ->(ns) { ns / 1_000_000_000 }, float_second: ->(ns) { ns / 1e9 }, float_millisecond: ->(ns) { ns / 1e6 },
        float_microsecond: ->(ns) { ns / 1e3 }
      }.freeze
      private_constant :FACTORS

      def initialize(clock)
        super()
        @clock = clock
      end

      def recorded? = false

      # Clocks of the CPU, and `now` of a subclass of Time, are the real ones.
      def takes?(call)
        return call.receiver.equal?(Time) if call.name == :now

        [Process::CLOCK_MONOTONIC, Process::CLOCK_REALTIME].include?(call.arguments.first)
      end

      def finish(call, _scripted, _answer)
        return time(call) if call.name == :now

        id, unit = call.arguments
        nanoseconds = id == Process::CLOCK_REALTIME ? (@clock.now.to_r * 1_000_000_000).to_i : @clock.monotonic_nanoseconds
        FACTORS.fetch(unit || :float_second) { raise ArgumentError, "unexpected unit: #{unit}" }.call(nanoseconds)
      end

      private

      def time(call)
        zone = call.keywords[:in]
        zone ? @clock.now.localtime(zone) : @clock.now
      end
    end
  end
end
