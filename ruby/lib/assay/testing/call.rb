# frozen_string_literal: true

# What a fake wrote down: one call that the code under test made.

module Assay
  module Testing
    # One recorded call: who was called (`receiver`), the method's `name`, and what it was given.
    Call = Struct.new(:receiver, :name, :arguments, :keywords, :block) do
      # The scripted ending that answered it, or nil.
      attr_accessor :ended

      # As `commands` lists it: a lone argument as it is, several as an Array, none as the method's name.
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
        when :pop, :shift, :deq then keywords[:timeout]
        else arguments.first
        end
      end

      # The program that was to be started, without its environment and its arguments.
      def program
        first = arguments.find { |argument| !argument.is_a?(Hash) }
        first.is_a?(Array) ? first.first : first
      end

      # As it would stand in the source.
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

    # A call that was not foreseen: the results ran out, or a loop never ends. It is no StandardError, so that a `rescue` in the code
    # under test does not hide it.
    class UnexpectedCall < Exception; end # rubocop:disable Lint/InheritException

    # An object on which nothing can be faked: frozen, or a number or symbol.
    class CannotFake < ArgumentError; end

    # A scripted ending of a process, for the results of `fake_system` and its kin; made by `exits`.
    Exit = Struct.new(:status, :value, :err)
  end
end
