# frozen_string_literal: true

# `fake_sleep` and its kin, as tests call them. Each is scoped: to one object until the test ends, or to a block. Nothing here is global.

module Assay
  module Testing
    # Fakes for what makes tests slow or tied to a machine. A faked method returns at once, and the call is written down.
    #
    #   fake_sleep(@cron)                               # this object's `sleep`, until the test ends
    #   fake_system(@cron, results: [true, false])      # one answer per call; a further call fails
    #   fake_system(@cron, results: ->(command) { command == "true" })
    #   fake_sleep { @cron.run }                        # every `sleep` of this thread, within the block
    #
    # Answers may be exceptions (they are raised), or `exits(3, "output")` (sets `$?` as well).
    #
    # All are undone when the test ends, however it ends, the block forms when their block ends. They stand for the calls of the thread
    # that asked for them; `threads: :all`, or a list of threads, is for an object that runs threads of its own.
    module Fakes
      # What each of them is called in Ruby, and which modules have it beside Kernel.
      MODULES = { sleep: [], system: [], "`": [], spawn: [Process], fork: [Process], open: [] }.freeze
      # Methods that start something or open it.
      COMMANDS = [:system, :`, :spawn, :fork, :open, :popen, :exec].freeze
      private_constant :MODULES

      # `sleep` returns at once with the rounded seconds, as if they had passed, and moves `clock` on. A loop that sleeps without end
      # fails after `limit` calls with what was recorded, instead of hanging.
      def fake_sleep(*object, **options, &block) = assay_fake(:sleep, SleepKind.new(assay_test.clock), object, options, &block)

      # `system` returns true.
      def fake_system(*object, **options, &block) = assay_fake(:system, SystemKind.new, object, options, &block)

      # A command in backticks (or `%x`) returns an empty String.
      def fake_backtick(*object, **options, &block) = assay_fake(:`, BacktickKind.new, object, options, &block)

      # `spawn` returns a number that is no process's.
      def fake_spawn(*object, **options, &block) = assay_fake(:spawn, PidKind.new, object, options, &block)

      # `fork` returns a number that is no process's; its block is not run, but recorded: `calls(object).last.block`.
      # With `results: [nil]` the code under test believes that it is the child.
      def fake_fork(*object, **options, &block) = assay_fake(:fork, PidKind.new, object, options, &block)

      # `open` returns, or hands to its block, an empty StringIO; a scripted String becomes its content.
      def fake_open(*object, **options, &block) = assay_fake(:open, OpenKind.new, object, options, &block)

      # `IO.popen` of this thread, likewise; until the test ends, or within the block.
      def fake_popen(**options, &block) = assay_fake(:popen, OpenKind.new, [IO], options, &block)

      # Any other method of an object: returns nil, or what `results:` says.
      #
      #   fake(Process, :wait, results: [0])
      def fake(object, name, **options, &block) = assay_fake(name.to_sym, Kind.new, [object], options, &block)

      # `Time.now` shows `clock`, for this thread, until the test ends or within the block. With `monotonic: true` so does
      # `Process.clock_gettime` for CLOCK_MONOTONIC and CLOCK_REALTIME; waits and timeouts of this thread that rest on it then last until
      # the clock is advanced, which is why it must be asked for. What assay measures with is never faked.
      def fake_time(monotonic: false, threads: Thread.current, &block)
        targets = [[Time.singleton_class, :now]]
        targets << [Process.singleton_class, :clock_gettime] if monotonic
        assay_install(Fake.new(TimeKind.new(assay_test.clock), assay_test.journal, results: nil, threads: threads), targets, &block)
      end

      # A scripted answer that ends like a process: sets `$?` to this status. What `system` and backticks return follows from it, unless
      # a value is given. Takes some milliseconds, since only a real process can set `$?`.
      def exits(status, value = nil) = Exit.new(status, value)

      # The clock of this test.
      def clock = assay_test.clock

      # Every faked call of this test, an Array of Call; of one object, where it is given.
      def calls(*object) = assay_test.journal.calls(*object)

      # The arguments of every faked `sleep`, as they were given; nil for one without.
      def sleeps(*object) = assay_test.journal.calls(*object).select { |call| call.name == :sleep }.map { |call| call.arguments.first }

      # What was started or opened by faked methods, in the order of the calls: a lone argument as it is, several as an Array, `:fork`
      # for a fork.
      def commands(*object) = assay_test.journal.calls(*object).select { |call| COMMANDS.include?(call.name) }.map(&:command)

      private

      def assay_fake(name, kind, object, options, &block)
        known = %i[results threads limit]
        strange = options.keys - known
        raise ArgumentError, "a fake has no option #{strange.join(", ")}: there are #{known.join(", ")}" unless strange.empty?
        raise ArgumentError, "a fake is for one object, not for #{object.size}" if object.size > 1

        options = { results: nil, threads: Thread.current }.merge(options)
        assay_install(Fake.new(kind, assay_test.journal, **options), assay_targets(name, object, block), &block)
      end

      # With a block the fake lasts for the block, and the block's value is given; else until the test ends.
      def assay_install(fake, targets)
        fake.install(targets)
        return assay_test.undo_later { fake.uninstall } && nil unless block_given?

        begin
          yield
        ensure
          fake.uninstall
        end
      end

      def assay_targets(name, object, block)
        return [[assay_singleton(object.first, name), name]] unless object.empty?

        if block.nil?
          raise ArgumentError, "nothing is faked for the whole program: name an object, as in fake_#{name == :` ? "backtick" : name}(object), " \
                               "or give a block"
        end

        [Kernel, Kernel.singleton_class, *MODULES.fetch(name).map(&:singleton_class)].map { |owner| [owner, name] }
      end

      def assay_singleton(object, name)
        raise FrozenError if object.frozen?

        object.singleton_class
      rescue TypeError, FrozenError
        raise CannotFake, "`#{name}` can't be faked on #{object.inspect[0, 80]}, which is frozen or has no methods of its own: " \
                          "fake it within a block, without an object"
      end
    end
  end
end
