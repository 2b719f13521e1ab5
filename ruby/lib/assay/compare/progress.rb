# frozen_string_literal: true

# Tells on a terminal, between two blocks, that something goes on. On anything but a terminal it says nothing, and never within a block.

module Assay
  module Compare
    # A line that is written over itself.
    class Progress
      # Nanoseconds between two lines: a terminal costs time, and nobody reads faster.
      PAUSE = 200_000_000
      private_constant :PAUSE

      # For standard error, if it is a terminal; else nil.
      def self.wanted(io = $stderr) = io.tty? ? new(io) : nil

      def initialize(io)
        @io = io
        @next = 0
      end

      # Tells how far it is: blocks taken, and nanoseconds of so many.
      def tell(blocks, measured, budget)
        return if Stopwatch.now < @next

        @next = Stopwatch.now + PAUSE
        @io.print(format("\rassay: block %d, %.1f s of %.1f s at most ", blocks, measured / 1e9, budget / 1e9))
      end

      # Wipes the line.
      def clear = @io.print("\r\e[K")
    end
  end
end
