# frozen_string_literal: true

# A call of a faked method by the code under test.

module Assay
  module Testing
    # One recorded call: its `receiver`, the method's `name`, and the arguments.
    Call = Struct.new(:receiver, :name, :arguments, :keywords, :block) do
      # The scripted ending that answered it, or nil.
      attr_accessor :ended

      # The form used by `commands`: a single argument as it is, several as an Array, the method's
      # name if there is none.
      def command
        case arguments.size
        when 0 then name
        when 1 then arguments.first
        else arguments
        end
      end

      # The time that it would have slept or waited, in seconds; nil if unlimited.
      def seconds
        case name
        when :wait then arguments[1]
        when :select then arguments[3]
        when :pop, :shift, :deq, :push, :enq then keywords[:timeout]
        else arguments.first
        end
      end

      # Returns true if a `select` waits for files.
      def files? = arguments.first(3).any? { |files| files && !files.empty? }

      # The program to be started, without its environment and arguments.
      def program
        first = arguments.find { |argument| !argument.is_a?(Hash) }
        first.is_a?(Array) ? first.first : first
      end

      # The call as source code.
      def to_s
        given = arguments.map { |argument| brief(argument) } + keywords.map { |key, value| "#{key}: #{brief(value)}" }
        "#{name}(#{given.join(", ")})"
      end

      private

      def brief(value)
        text = value.inspect
        text.size > 80 ? "#{text[0, 77]}…" : text
      end
    end

    # An unexpected call: there are no results left, or a loop does not end. Not a StandardError, so
    # that a `rescue` in the code under test does not hide it.
    class UnexpectedCall < Exception; end # rubocop:disable Lint/InheritException

    # An object whose methods cannot be faked: frozen, or a number or symbol.
    class CannotFake < ArgumentError; end

    # A scripted ending of a process, for the results of `fake_system` and similar fakes; created by
    # `exits`.
    Exit = Struct.new(:status, :value, :err)
  end
end
