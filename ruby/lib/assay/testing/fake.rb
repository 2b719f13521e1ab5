# frozen_string_literal: true

# One fake: its threads, its answers, and its limit of calls. How calls reach it is the
# responsibility of Seam.

module Assay
  module Testing
    # Replaces a method. A Kind has the specifics of the method: the default answer, and the effects
    # of a call.
    class Fake
      # Number of calls without scripted results after which an endless loop is assumed.
      LIMIT = 10_000

      # The reaction if the fake is never called: :warn, :fail or :ok.
      attr_reader :unused
      # The call that created it, and its location, for messages.
      attr_reader :label, :place
      # The faked threads, or :all.
      attr_reader :threads

      # results:: nil for the kind's default answer, an Array for one answer per call, or something
      #           to `call` with the method's arguments
      # threads:: the threads whose calls are faked, or :all
      # unused::  the reaction if it is never called
      # label::   the call that created it
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

      # Installs the fake for these methods: `[[owner, name], …]`, optionally `beneath` other fakes.
      # All or none.
      def install(targets, beneath: false)
        targets.each do |owner, name|
          Seam.put(self, owner, name, beneath: beneath)
          @targets << [owner, name]
        end
      rescue StandardError
        uninstall
        raise
      end

      # Removes it. Idempotent.
      def uninstall
        Seam.remove(self, *@targets.pop) until @targets.empty?
      end

      # Returns true if it has been called.
      def used? = @calls.positive?

      # Returns true if it handles the thread's calls.
      def covers?(thread) = @threads == :all || @threads.any? { |other| other.equal?(thread) }

      # Answers a call. `original` makes the call without the fake: some kinds pass some calls to
      # it.
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

      # The next scripted answer; nil if none is scripted. The call is already in the journal, so
      # that the message shows it.
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

    # The calls of a test in order, over all its fakes and threads.
    class Journal
      def initialize
        @calls = []
        @lock = Mutex.new
      end

      def <<(call)
        @lock.synchronize { @calls << call }
      end

      # Returns the calls, optionally those of one receiver.
      def calls(*receiver)
        all = @lock.synchronize { @calls.dup }
        receiver.empty? ? all : all.select { |call| call.receiver.equal?(receiver.first) }
      end

      # A description of the calls for messages, limited to the last ones if there are many.
      def told(most = 20)
        all = calls
        lines = all.last(most).map { |call| "  #{call}" }
        lines.unshift("  … #{all.size - most} calls before") if all.size > most
        "recorded until then:\n#{lines.join("\n")}"
      end
    end
  end
end
