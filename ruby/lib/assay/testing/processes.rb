# frozen_string_literal: true

# The processes apparently started by faked `spawn` and `fork`, until the code under test waits for
# them. No real process is involved.

module Assay
  module Testing
    # The faked processes of one test.
    class Processes
      # Process ids of Linux are smaller than 2**22, so signals to these numbers are harmless.
      FIRST = 1 << 30
      private_constant :FIRST

      def initialize
        @next = FIRST - 1
        @known = {}   # Numbers of all that were started.
        @waiting = {} # Number => status, in the order of their starts.
        @lock = Mutex.new
      end

      # Returns an unused process id.
      def number = @lock.synchronize { @next += 1 }

      # Adds a process that has started and ended with this status, to be waited for.
      def begin(pid, status)
        @lock.synchronize do
          @known[pid] = true
          @waiting[pid] = status
        end
        pid
      end

      def known?(pid) = @lock.synchronize { @known.key?(pid) }
      def waiting?(pid) = @lock.synchronize { @waiting.key?(pid) }
      def any_waiting? = @lock.synchronize { @waiting.any? }

      # Removes this process, or the first one for nil, and returns its id and status. Raises
      # Errno::ECHILD if it is missing.
      def take(pid)
        @lock.synchronize do
          pid ||= @waiting.keys.first
          raise Errno::ECHILD unless @waiting.key?(pid)

          [pid, @waiting.delete(pid)]
        end
      end

      # Sends a signal, which becomes the status unless another one was scripted. Raises Errno::ESRCH if the process is missing.
      def signal(pid, number)
        @lock.synchronize do
          raise Errno::ESRCH if number.zero? || !@waiting.key?(pid)

          @waiting[pid] = number if @waiting[pid].zero?
        end
      end
    end
    private_constant :Processes
  end
end
