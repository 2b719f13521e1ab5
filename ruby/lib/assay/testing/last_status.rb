# frozen_string_literal: true

# The status of a faked process: `$?`, and the Process::Status returned by `Process.wait2`. Ruby
# cannot create one, so the C extension does it, or Fiddle with the same function of Ruby; without
# either, a short-lived process with that status is run.

require_relative "../method_profiler"

module Assay
  module Testing
    # Statuses of faked processes. A status is a number as returned by waitpid(2): `exited(3)`,
    # `signalled(15)`.
    module LastStatus
      SPAWN = Process.method(:spawn)
      WAIT = Process.method(:wait)
      private_constant :SPAWN, :WAIT

      class << self
        # Returns the number for this exit status. Raises ArgumentError unless it is from 0 to 255.
        def exited(status)
          return status << 8 if status.is_a?(Integer) && status.between?(0, 255)

          raise ArgumentError, "a status is a whole number from 0 to 255, not #{status.inspect}"
        end

        # Returns the number for a termination by this signal: "TERM", :SIGKILL, 9; a minus, as for
        # process groups, is allowed.
        def signalled(signal)
          return signal.abs if signal.is_a?(Integer)

          Signal.list.fetch(signal.to_s.delete_prefix("-").delete_prefix("SIG")) { raise ArgumentError, "unsupported signal `SIG#{signal}'" }
        end

        # Sets `$?` of this thread, and returns it.
        def set(number, pid)
          setter.call(number, pid)
          $?
        end

        # Returns a Process::Status; `$?` does not change.
        def make(number, pid) = Thread.new { set(number, pid) }.value

        private

        def setter = @setter ||= native || by_fiddle || method(:run)

        def native
          recorder = MethodProfiler::Recorder
          recorder.method(:set_last_status) if recorder.respond_to?(:set_last_status)
        end

        # Newer versions of Ruby warn about it.
        def by_fiddle
          verbose, $VERBOSE = $VERBOSE, nil
          require "fiddle"
          int = Fiddle::TYPE_INT
          Fiddle::Function.new(Fiddle.dlopen(nil)["rb_last_status_set"], [int, int], Fiddle::TYPE_VOID, need_gvl: true)
        rescue LoadError, StandardError
          nil
        ensure
          $VERBOSE = verbose
        end

        # In this case `$?.pid` is that of the real process.
        def run(number, _pid)
          signal = number & 0x7f
          script = signal.zero? ? "exit #{number >> 8}" : "kill -#{signal} $$"
          WAIT.call(SPAWN.call("/bin/sh", "-c", script, in: File::NULL, out: File::NULL, err: File::NULL))
        end
      end
    end
    private_constant :LastStatus
  end
end
