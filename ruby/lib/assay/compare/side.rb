# frozen_string_literal: true

# One of the compared pieces of code, as something that can be run any number of times in a row.
# Decides nothing and reads no clock.

module Assay
  module Compare
    # A piece of Ruby with its name. Three forms, as in benchmark-ips:
    #
    # block::        `{ work }`; called once per iteration, so the time includes the loop and the
    #                call
    # with times::   `{ |times| i = 0; while i < times; work; i += 1; end }`; loops itself
    # text::         `"work"`; compiled into a loop without calls
    class Side
      # Display name.
      attr_reader :name
      # :block, :times or :text.
      attr_reader :form
      # The parameter and its value in a scan, such as `{ "n" => 1000 }`.
      attr_reader :parameters
      # Iterations per batch; set by the calibration.
      attr_accessor :iterations

      # Raises ArgumentError if not exactly one of block and text is given, or the block takes more
      # than one argument.
      def initialize(name, text = nil, parameters: {}, &block)
        @name = name.to_s
        raise ArgumentError, "a report needs a name" if @name.empty?
        raise ArgumentError, "report `#{@name}` needs a block or a text to run, one of them" if text.nil? == block.nil?

        @parameters = parameters
        @iterations = 1
        @form = text ? :text : form_of(block)
        @block = block
        compile(text)
      end

      # Raises ArgumentError if the block returns deferred work, since only its creation would be
      # measured. Runs the block once.
      def check_whole
        return unless @form == :block

        result = @block.call
        undone = UNDONE.find { |(name, _), test| (kind = Side.known(name)) && kind === result && test.call(result) }
        undone &&= undone.first
        undone ||= [nil, "wait for it"] if pending?(result)
        return if undone.nil?

        raise ArgumentError, "report `#{@name}` returns #{result.class} with work that is still to be done: #{undone.last}, so that it is " \
                             "measured; or end the block with `nil`, if only the making is meant"
      end

      # The Proc to call, or nil for a text.
      attr_reader :block

      # Classes of deferred work, with the method that performs it.
      UNDONE = {
        ["Enumerator", "end it with `.to_a` or `.each { … }`"] => ->(_) { true },
        ["Thread", "wait for it with `.join`"] => ->(thread) { thread.alive? },
        ["Fiber", "resume it until it ends"] => ->(fiber) { fiber.alive? },
        ["Async::Task", "wait for it with `.wait`"] => ->(task) { task.running? }
      }.freeze
      private_constant :UNDONE

      # :nodoc:
      def self.known(name) = Object.const_defined?(name) ? Object.const_get(name) : nil

      private

      # Futures and promises of concurrent-ruby.
      def pending?(result)
        Object === result && result.respond_to?(:pending?) && result.respond_to?(:value!) && result.pending?
      end

      def form_of(block)
        case block.arity
        when 0, -1 then :block
        when 1, -2 then :times
        else raise ArgumentError, "the block of report `#{@name}` takes nothing, or the number of times, not #{block.arity} arguments"
        end
      end

      # Defines `run(times)` for this side alone: a shared loop would be optimized for whichever
      # side ran first.
      def compile(text)
        instance_eval("-> {\n#{text}\n}", "(assay: #{@name})", 0) if text # Alone, so that it cannot extend into the loop.
        body =
          case @form
          when :times then "@block.call(times)"
          when :block then "work = @block; i = 0; while i < times; work.call; i += 1; end"
          when :text then "i = 0\nwhile i < times\n#{text}\ni += 1\nend"
          end
        instance_eval("def self.run(times)\n#{body}\nnil\nend", "(assay: #{@name})", @form == :text ? -1 : 0)
      rescue SyntaxError => e
        raise ArgumentError, "the text of report `#{@name}` is not Ruby: #{e.message}"
      end
    end
  end
end
