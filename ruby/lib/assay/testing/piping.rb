# frozen_string_literal: true

# Fakes for programs read through pipes: `IO.popen`, and all of Open3.

require "open3"
require "stringio"
require_relative "kind"

module Assay
  module Testing
    # The result of a faked `popen`: a stream of the program's output that stores written text in
    # `input`.
    class Pipe < StringIO
      # The text written for the program.
      attr_reader :input
      # The id of the faked process.
      attr_reader :pid

      # ended:: called once, when it is closed; may be nil
      def initialize(output, pid, ended = nil)
        super(output.frozen? ? output.dup : output)
        @input = +""
        @pid = pid
        @ended = ended
      end

      def write(*texts)
        texts.sum { |text| text.to_s.then { |written| @input << written && written.bytesize } }
      end

      def syswrite(text) = write(text)
      def write_nonblock(text, **) = write(text)
      def close_write = nil

      def close
        super
        ended, @ended = @ended, nil
        ended&.call
        nil
      end
    end

    # `IO.popen` and Open3. A scripted text is the program's output; `exits(3, "output", err: "a
    # failure")` has a status and standard error.
    class PipingKind < Kind
      NAMES = %i[capture2 capture2e capture3 popen2 popen2e popen3 pipeline pipeline_r pipeline_w pipeline_rw pipeline_start].freeze

      # The faked methods.
      def self.targets = [[IO.singleton_class, :popen], *[Open3, Open3.singleton_class].product(NAMES)]

      def initialize(processes)
        super()
        @processes = processes
      end

      def usual = +""

      def ended(_call, ending) = ending

      def finish(call, scripted, answer)
        answer = usual if !scripted || answer.nil?
        # A stream supplied by the test.
        return call.block ? call.block.call(answer) : answer if call.name == :popen && !answer.is_a?(String) && !answer.is_a?(Exit)

        ending = answer.is_a?(Exit) ? answer : Exit.new(Array(answer)[2] || 0, *Array(answer).first(2))
        output, error = [ending.value, ending.err].map { |text| text.nil? ? +"" : text.to_s }
        number = LastStatus.exited(ending.status)
        call.name == :popen ? popen(call, output + merged(call, error), number) : open3(call, output, error, number)
      end

      private

      # The text of standard error if it is redirected to standard output, otherwise empty.
      def merged(call, error)
        options = [*call.arguments, *call.arguments.flatten.grep(Hash), call.keywords].grep(Hash)
        options.any? { |hash| [:out, %i[child out]].include?(hash[:err]) } ? error : ""
      end

      def popen(call, output, number)
        pid = @processes.number
        pipe = Pipe.new(output, pid, -> { LastStatus.set(number, pid) })
        return pipe unless call.block

        begin
          call.block.call(pipe)
        ensure
          pipe.close unless pipe.closed?
        end
      end

      def open3(call, output, error, number)
        pid = @processes.number
        case call.name
        when :capture2 then [output, LastStatus.make(number, pid)]
        when :capture2e then [output + error, LastStatus.make(number, pid)]
        when :capture3 then [output, error, LastStatus.make(number, pid)]
        when :pipeline then call.arguments.map { LastStatus.make(number, pid) }
        else streams(call, output, error, number, pid)
        end
      end

      def streams(call, output, error, number, pid)
        input = Pipe.new(+"", pid)
        ends = call.arguments.map { waiter(number, pid) }
        given =
          case call.name
          when :popen2 then [input, Pipe.new(output, pid), ends.first]
          when :popen2e then [input, Pipe.new(output + error, pid), ends.first]
          when :popen3 then [input, Pipe.new(output, pid), Pipe.new(error, pid), ends.first]
          when :pipeline_r then [Pipe.new(output, pid), ends]
          when :pipeline_w then [input, ends]
          when :pipeline_rw then [input, Pipe.new(output, pid), ends]
          else [ends]
          end
        return call.block.call(*given) if call.block

        given.one? ? given.first : given
      end

      def waiter(number, pid)
        Thread.new { LastStatus.set(number, pid) }.tap { |thread| thread.define_singleton_method(:pid) { pid } }
      end
    end
    private_constant :PipingKind
  end
end
