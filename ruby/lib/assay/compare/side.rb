# frozen_string_literal: true

# One thing that is compared, as something that can be run so many times in a row. It decides nothing and reads no clock.

module Assay
  module Compare
    # A piece of Ruby with its name. Three forms, as in benchmark-ips:
    #
    # block::        `{ work }`; it is called once for each iteration, so that the loop and the call are in the time
    # with times::   `{ |times| i = 0; while i < times; work; i += 1; end }`; it loops itself
    # text::         `"work"`; compiled into a loop, nothing is called
    class Side
      # As people see it.
      attr_reader :name
      # :block, :times or :text.
      attr_reader :form
      # For a scan: what is scanned with its value, such as `{ "n" => 1000 }`.
      attr_reader :parameters
      # Iterations of one batch; the calibration sets it.
      attr_accessor :iterations

      # Raises ArgumentError where neither or both of block and text are given, or the block takes more than one argument.
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

      # What is called: a Proc, or nil for a text.
      attr_reader :block

      private

      def form_of(block)
        case block.arity
        when 0, -1 then :block
        when 1, -2 then :times
        else raise ArgumentError, "the block of report `#{@name}` takes nothing, or the number of times, not #{block.arity} arguments"
        end
      end

      # Defines `run(times)` for this side alone: one loop shared by all would be compiled for whichever side came first.
      def compile(text)
        instance_eval("-> {\n#{text}\n}", "(assay: #{@name})", 0) if text # By itself, so that it can't go on into the loop.
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
