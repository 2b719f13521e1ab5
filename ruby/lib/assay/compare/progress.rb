# frozen_string_literal: true

# Shows progress on a terminal between blocks, never within a block. Prints nothing if the output is
# not a terminal.

module Assay
  module Compare
    # A status line that overwrites itself.
    class Progress
      # Minimum nanoseconds between two updates, since writing to a terminal takes time.
      PAUSE = 200_000_000
      private_constant :PAUSE

      # Returns a Progress on standard error if that is a terminal, nil otherwise.
      def self.wanted(io = $stderr) = io.tty? ? new(io) : nil

      def initialize(io)
        @io = io
        @next = 0
      end

      # Shows the number of blocks and the elapsed and total nanoseconds.
      def tell(blocks, measured, budget)
        return if Stopwatch.now < @next

        @next = Stopwatch.now + PAUSE
        @io.print(format("\rassay: block %d, %.1f s of %.1f s at most ", blocks, measured / 1e9, budget / 1e9))
      end

      # Erases the line.
      def clear = @io.print("\r\e[K")
    end
  end
end
