# frozen_string_literal: true

# One fake: for whom it stands, what it answers, and when it has had enough. How it gets between the code and the method is Seam's.

module Assay
  module Testing
    # Stands for a method. What kind of method it is, a Kind knows: which answer is the usual one, and what follows from a call.
    class Fake
      # So many calls without scripted results are taken for a loop that never ends.
      LIMIT = 10_000

      # The reaction to a fake that was never called: :warn, :fail or :ok.
      attr_reader :unused
      # How the test made it, and where, for messages.
      attr_reader :label, :place
      # The faked threads, or :all.
      attr_reader :threads

      # results:: nil for the kind's usual answer, an Array for one answer per call, or something to `call` with the method's arguments
      # threads:: the threads for which it stands, or :all
      # unused::  what becomes of it if it is never called
      # label::   how the test made it
      def initialize(kind, journal, results:, threads:, limit: LIMIT, unused: Testing.unused_fakes, label: nil)
        @kind = kind
        @journal = journal
        @script = results.respond_to?(:to_ary) ? results.to_ary.dup : nil
        @scripted = @script&.size
        @answer = results unless @script
        usable = @answer.nil? || @answer.respond_to?(:call)
        raise ArgumentError, "results: is a list or something to call, not #{results.inspect}" unless usable
        raise ArgumentError, "limit: is a number of calls, not #{limit.inspect}" unless limit.is_a?(Integer) && limit.positive?

        @unused = Testing.checked_unused(unused)
        @label = label
        @place = caller_locations.find { |location| !location.path.start_with?(OWN, "<internal:") }
        @threads = threads == :all ? :all : Array(threads)
        @limit = limit
        @calls = 0
        @lock = Mutex.new
        @targets = []
      end

      # Puts the fake in front of the methods of these owners: `[[owner, name], …]`, or `beneath` other fakes. All or none.
      def install(targets, beneath: false)
        targets.each do |owner, name|
          Seam.put(self, owner, name, beneath: beneath)
          @targets << [owner, name]
        end
      rescue StandardError
        uninstall
        raise
      end

      # Takes it away. May be called twice.
      def uninstall
        Seam.remove(self, *@targets.pop) until @targets.empty?
      end

      # True once it was called.
      def used? = @calls.positive?

      # True where the thread's calls come here.
      def covers?(thread) = @threads == :all || @threads.any? { |other| other.equal?(thread) }

      # Answers a call. `original` makes it as if there were no fake: some kinds leave some calls to it.
      def call(call, original)
        return original.call unless @kind.takes?(call)

        @kind.check(call)
        answered = @lock.synchronize do
          @journal << call if @kind.recorded?
          answer_of(call)
        end
        answered = @answer.call(*call.arguments, **call.keywords, &call.block) if @answer
        finish(call, answered)
      end

      private

      # The next scripted answer; nil where none is scripted. The call is in the journal already, so that the message shows it.
      def answer_of(call)
        @calls += 1
        if @script
          unexpected(call, "results were scripted for #{@scripted}") if @calls > @scripted
          @script[@calls - 1]
        elsif @kind.recorded? && @calls > @limit
          unexpected(call, "it looks like a loop that never ends; script its results:, or raise limit:")
        end
      end

      def unexpected(call, why)
        raise UnexpectedCall, "call #{@calls} of `#{call.name}` on #{subject(call.receiver)} was not expected: #{why}\n#{@journal.told}"
      end

      def subject(receiver)
        receiver.is_a?(Module) ? receiver.inspect : "an object of #{receiver.class}"
      end

      def finish(call, answered)
        raise answered if answered.is_a?(Exception) || (answered.is_a?(Class) && answered <= Exception)

        scripted = !(@script.nil? && @answer.nil?)
        if answered.is_a?(Exit)
          call.ended = answered
          answered = @kind.ended(call, answered)
        end
        @kind.finish(call, scripted, answered)
      end

      OWN = File.expand_path("../..", __dir__)
      private_constant :OWN
    end

    # The calls of a test, in their order, over all its fakes and threads.
    class Journal
      def initialize
        @calls = []
        @lock = Mutex.new
      end

      def <<(call)
        @lock.synchronize { @calls << call }
      end

      # The calls, of one receiver where it is given.
      def calls(*receiver)
        all = @lock.synchronize { @calls.dup }
        receiver.empty? ? all : all.select { |call| call.receiver.equal?(receiver.first) }
      end

      # For messages: the calls in words, the last ones where there are many.
      def told(most = 20)
        all = calls
        lines = all.last(most).map { |call| "  #{call}" }
        lines.unshift("  … #{all.size - most} calls before") if all.size > most
        "recorded until then:\n#{lines.join("\n")}"
      end
    end
  end
end
