# frozen_string_literal: true

# Method-specific behavior of the fakes: the default answer, the handling of a scripted answer, and
# the effects of a call. One small class for each kind of method.

require "stringio"
require "timeout"
require_relative "last_status"
require_relative "processes"

module Assay
  module Testing
    # An arbitrary method: returns nil, or the scripted answer.
    class Kind
      # Returns true for calls that it answers; others go to the original.
      def takes?(_call) = true

      # Returns true if calls are recorded and counted.
      def recorded? = true

      # Raises the errors of the real method for such arguments.
      def check(call); end

      # The answer for a scripted ending of a process.
      def ended(call, ending)
        LastStatus.set(LastStatus.exited(ending.status), ending.value.is_a?(Integer) ? ending.value : 0)
        ending.value.nil? ? after(call, ending.status) : ending.value
      end

      # The answer for a process that ended with this status, if the script gives none.
      def after(_call, _status) = usual

      # The value returned to the caller.
      def finish(_call, scripted, answer) = scripted ? answer : usual

      def usual = nil
    end

    # `sleep`: returns the rounded seconds immediately, and advances the clock. A wait with a
    # timeout really waits for a moment if there are other threads, since one may be about to end
    # it, and then times out.
    class SleepKind < Kind
      MOMENT = 0.02
      # For the work of another thread.
      WORK = 1.0
      SLEEP = Thread::Mutex.instance_method(:sleep)
      WAIT = Thread::ConditionVariable.instance_method(:wait)
      POP = Thread::Queue.instance_method(:pop)
      SIZED_POP = Thread::SizedQueue.instance_method(:pop)
      SIZED_PUSH = Thread::SizedQueue.instance_method(:push)
      JOIN = Thread.instance_method(:join)
      PUSHES = %i[push enq].freeze
      # Time limits count real time: the library's own sleeps and waits, in threads of its own, are real.
      LIMITS = Timeout.method(:timeout).source_location.first
      OWN = File.expand_path("..", __dir__)
      private_constant :MOMENT, :WORK, :SLEEP, :WAIT, :POP, :SIZED_POP, :SIZED_PUSH, :JOIN, :PUSHES, :LIMITS, :OWN

      # Methods other than `sleep` that wait with a timeout.
      def self.waits
        queues = [Thread::Queue, Thread::SizedQueue].product(%i[pop shift deq]) + [Thread::SizedQueue].product(PUSHES)
        [[Thread::Mutex, :sleep], [Thread::ConditionVariable, :wait], [Kernel, :select], [Kernel.singleton_class, :select],
         [IO.singleton_class, :select], *(POP.parameters.include?(%i[key timeout]) ? queues : [])]
      end

      # All faked waits: also those for another thread's work, which a budget does not count as sleep.
      def self.targets = waits << [Thread, :join]

      def initialize(clock)
        super()
        @clock = clock
      end

      # Waits without a timeout, and waits for files, are left alone.
      def takes?(call)
        return false if Thread.current[:__assay_waiting] || of_a_limit?

        case call.name
        when :select then !call.files? && !call.seconds.nil?
        when :sleep then !call.receiver.is_a?(Thread::Mutex) || !call.seconds.nil?
        else !call.seconds.nil?
        end
      end

      def check(call)
        return unless call.name == :sleep

        seconds = call.seconds
        raise ArgumentError, "wrong number of arguments (given #{call.arguments.size}, expected 0..1)" if call.arguments.size > 1
        return if call.arguments.empty?
        raise TypeError, "can't convert #{seconds.class} into time interval" unless seconds.respond_to?(:divmod)
        raise ArgumentError, "time interval must not be negative" if seconds.negative?
      end

      def finish(call, scripted, answer)
        ended = waited(call)
        return ended if ended

        seconds = call.seconds || 0
        @clock.advance(seconds)
        return answer if scripted

        seconds.round if call.name == :sleep && !call.receiver.is_a?(Thread::Mutex)
      end

      private

      def of_a_limit? = caller_locations(2, 15).find { |place| !place.path.start_with?(OWN, "<internal:") }&.path == LIMITS

      # The result of a wait that ended within a moment; nil otherwise.
      def waited(call)
        Thread.current[:__assay_waiting] = true
        moment = Thread.list.size > 1 ? [call.receiver.is_a?(Thread) ? WORK : MOMENT, call.seconds].compact.min : 0
        case call.receiver
        when Thread::Mutex then SLEEP.bind_call(call.receiver, moment)
        when Thread::ConditionVariable then WAIT.bind_call(call.receiver, call.arguments.first, moment)
        when Thread then JOIN.bind_call(call.receiver, moment)
        when Thread::SizedQueue then sized(call, moment)
        when Thread::Queue then POP.bind_call(call.receiver, timeout: moment)
        end
      ensure
        Thread.current[:__assay_waiting] = nil
      end

      def sized(call, moment)
        return SIZED_PUSH.bind_call(call.receiver, call.arguments.first, timeout: moment) if PUSHES.include?(call.name)

        SIZED_POP.bind_call(call.receiver, timeout: moment)
      end
    end

    # Methods that start a program and wait for its end; they set `$?`.
    class ProgramKind < Kind
      def initialize(processes)
        super()
        @processes = processes
      end

      def ended(call, ending)
        set_status(LastStatus.exited(ending.status))
        ending.value.nil? ? after(call, ending.status) : ending.value
      end

      private

      def set_status(number) = LastStatus.set(number, @processes.number)
    end

    # `system`: true, unless the status is a failure. With `exception: true` a failure is raised, as
    # in the real method.
    class SystemKind < ProgramKind
      MISSING = 127
      private_constant :MISSING

      def usual = true

      def ended(call, ending)
        answer = super
        return answer if answer || !call.keywords[:exception]

        raise "Command failed with exit #{ending.status}: #{call.program}"
      end

      def after(_call, status) = status.zero?

      def finish(call, scripted, answer)
        given = super
        set_status(LastStatus.exited(given ? 0 : (given.nil? ? MISSING : 1))) unless call.ended
        return given if given || !call.keywords[:exception]

        raise Errno::ENOENT, call.program.to_s if given.nil?

        raise "Command failed: #{call.program}"
      end
    end

    # Backticks: an empty text.
    class BacktickKind < ProgramKind
      def usual = +""

      def finish(call, scripted, answer)
        set_status(0) unless call.ended
        super
      end
    end

    # `spawn` and `fork`: unused process ids, which WaitKind handles.
    class PidKind < ProgramKind
      def usual = @processes.number

      def ended(_call, ending) = @processes.begin(ending.value || usual, LastStatus.exited(ending.status))

      def finish(call, scripted, answer)
        pid = super
        return pid if call.ended || !pid.is_a?(Integer)

        @processes.begin(pid, 0)
      end
    end

    # Waiting for a faked process: `Process.wait` and so on, `detach`, `kill`. Real processes are
    # passed to the system.
    class WaitKind < Kind
      WAITALL = Process.method(:waitall)
      KILL = Process.method(:kill)
      NAMES = %i[wait wait2 waitpid waitpid2 waitall detach kill].freeze
      private_constant :WAITALL, :KILL

      # The faked methods.
      def self.targets = NAMES.map { |name| [Process.singleton_class, name] } << [Process::Status.singleton_class, :wait]

      def initialize(processes)
        super()
        @processes = processes
      end

      def recorded? = false

      def takes?(call)
        first = call.arguments.first
        case call.name
        when :kill then call.arguments.drop(1).any? { |pid| known?(pid) }
        when :waitall then @processes.any_waiting?
        when :detach then @processes.known?(first)
        else wanted(first).nil? ? @processes.any_waiting? : known?(first)
        end
      end

      def finish(call, _scripted, _answer)
        case call.name
        when :kill then kill(*call.arguments)
        when :waitall then waitall
        when :detach then detach(call.arguments.first)
        else wait(call, *@processes.take(wanted(call.arguments.first)))
        end
      end

      private

      # Returns nil for any process, also for -1 and 0 (the process group). A negative number is a
      # group, here that of one process.
      def wanted(pid)
        return if [nil, -1, 0].include?(pid)

        pid.is_a?(Integer) ? pid.abs : pid
      end

      def known?(pid) = pid.is_a?(Integer) && @processes.known?(pid.abs)

      def wait(call, pid, status)
        return LastStatus.make(status, pid) if call.receiver.equal?(Process::Status)

        status = LastStatus.set(status, pid)
        call.name.end_with?("2") ? [pid, status] : pid
      end

      def waitall
        ended = []
        while @processes.any_waiting?
          pid, status = @processes.take(nil)
          ended << [pid, LastStatus.set(status, pid)]
        end
        ended + WAITALL.call
      end

      # A Process::Waiter cannot be created.
      def detach(pid)
        _, status = @processes.waiting?(pid) ? @processes.take(pid) : [pid, 0]
        Thread.new { LastStatus.set(status, pid) }.tap { |thread| thread.define_singleton_method(:pid) { pid } }
      end

      def kill(signal, *pids)
        faked, real = pids.partition { |pid| known?(pid) }
        faked.each { |pid| @processes.signal(pid.abs, LastStatus.signalled(signal)) }
        KILL.call(signal, *real) unless real.empty?
        pids.size
      end
    end

    # `open`: a StringIO with a scripted text as its content; it is yielded to a block.
    class OpenKind < Kind
      def finish(call, scripted, answer)
        stream = scripted && !answer.nil? ? answer : +""
        stream = StringIO.new(stream.frozen? ? stream.dup : stream) if stream.is_a?(String)
        call.block ? call.block.call(stream) : stream
      end

      def usual = +""
    end

    # `Time.now`, `Time.new`, `Date.today`, `DateTime.now` and `Process.clock_gettime`: the time of
    # the fake clock. Not recorded.
    class TimeKind < Kind
      FACTORS = {
        nanosecond: ->(ns) { ns }, microsecond: ->(ns) { ns / 1_000 }, millisecond: ->(ns) { ns / 1_000_000 },
        second: ->(ns) { ns / 1_000_000_000 }, float_second: ->(ns) { ns / 1e9 }, float_millisecond: ->(ns) { ns / 1e6 },
        float_microsecond: ->(ns) { ns / 1e3 }
      }.freeze
      # Clocks for the time of day, and for durations; a system has some of them.
      OF_DAY, OF_DURATIONS = [%i[REALTIME REALTIME_COARSE], %i[MONOTONIC MONOTONIC_RAW MONOTONIC_COARSE BOOTTIME]].map do |names|
        names.filter_map { |name| Process.const_get(:"CLOCK_#{name}") if Process.const_defined?(:"CLOCK_#{name}") }.freeze
      end
      private_constant :FACTORS, :OF_DAY, :OF_DURATIONS

      # The faked methods. `date` must be loaded.
      def self.targets
        [[Time, :now], [Time, :new], [Date, :today], [DateTime, :now], [Process, :clock_gettime]].map { |owner, name| [owner.singleton_class, name] }
      end

      # monotonic:: true to fake the clocks for durations as well
      def initialize(clock, monotonic)
        super()
        @clock = clock
        @clocks = monotonic ? OF_DAY + OF_DURATIONS : OF_DAY
      end

      def recorded? = false

      # CPU clocks are real, and so is `new` with a time, or in a subclass with its own
      # `initialize`.
      def takes?(call)
        case call.name
        when :new then call.arguments.compact.empty? && call.receiver.instance_method(:initialize).owner == Time
        when :clock_gettime then @clocks.include?(call.arguments.first)
        else true
        end
      end

      def finish(call, _scripted, _answer)
        case call.name
        when :clock_gettime then nanoseconds(call.arguments)
        when :today then call.receiver.civil(*@clock.now.to_a.values_at(5, 4, 3), *call.arguments)
        else call.receiver <= Time ? time(call) : date_time(call)
        end
      end

      private

      def nanoseconds(arguments)
        id, unit = arguments
        nanoseconds = OF_DAY.include?(id) ? (@clock.now.to_r * 1_000_000_000).to_i : @clock.monotonic_nanoseconds
        FACTORS.fetch(unit || :float_second) { raise ArgumentError, "unexpected unit: #{unit}" }.call(nanoseconds)
      end

      def time(call)
        now = call.receiver.at(@clock.now)
        zone = call.keywords[:in]
        zone ? now.localtime(zone) : now
      end

      def date_time(call)
        now = @clock.now
        call.receiver.civil(now.year, now.month, now.day, now.hour, now.min, now.sec + now.subsec, Rational(now.utc_offset, 86_400), *call.arguments)
      end
    end
  end
end
