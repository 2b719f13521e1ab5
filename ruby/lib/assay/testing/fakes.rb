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
    #
    # A fake that the test never called is reported when a test ends that passed, since the code may have done for real what was to be
    # faked. `unused: :ok` allows it, `:fail` fails the test; for all tests: `Assay::Testing.unused_fakes = :fail`.
    module Fakes
      # What each of them is called in Ruby, and which modules have it beside Kernel.
      MODULES = { sleep: [], system: [], "`": [], spawn: [Process], fork: [Process], open: [] }.freeze
      # Methods that start something or open it.
      COMMANDS = [:system, :`, :spawn, :fork, :open, :popen, :exec, *PipingKind::NAMES].freeze
      SLEEPS = [:sleep, *SleepKind.waits.map(&:last)].uniq.freeze
      private_constant :MODULES, :SLEEPS

      # `sleep` returns at once with the rounded seconds, as if they had passed, and moves `clock` on. A loop that sleeps without end
      # fails after `limit` calls with what was recorded, instead of hanging.
      #
      # The form with a block also ends waits that have a limit, unless another thread ends them within a moment: `ConditionVariable#wait`,
      # `Mutex#sleep`, `Queue#pop(timeout:)`, and `IO.select` without files.
      def fake_sleep(*object, **options, &block) = assay_fake(:sleep, SleepKind.new(assay_test.clock), object, options, &block)

      # `system` returns true.
      def fake_system(*object, **options, &block) = assay_fake(:system, SystemKind.new(assay_test.processes), object, options, &block)

      # A command in backticks (or `%x`) returns an empty String.
      def fake_backtick(*object, **options, &block) = assay_fake(:`, BacktickKind.new(assay_test.processes), object, options, &block)

      # `spawn` returns an unused process id. `Process.wait`, `wait2`, `waitpid`, `detach` and the like treat it as a process that has ended,
      # with the status of `results: [exits(3)]`, or 0.
      def fake_spawn(*object, **options, &block) = assay_fake(:spawn, PidKind.new(assay_test.processes), object, options, &block)

      # `fork` returns a number that is no process's; its block is not run, but recorded: `calls(object).last.block`.
      # With `results: [nil]` the code under test believes that it is the child. For `Process.wait` see fake_spawn.
      def fake_fork(*object, **options, &block) = assay_fake(:fork, PidKind.new(assay_test.processes), object, options, &block)

      # `open` returns, or hands to its block, an empty StringIO; a scripted String becomes its content.
      def fake_open(*object, **options, &block) = assay_fake(:open, OpenKind.new, object, options, &block)

      # `IO.popen` and all of Open3 (`capture2`, `capture3`, `popen3`, `pipeline`, …), for this thread, until the test ends or within the block.
      # A scripted String is what the program prints; `exits(3, "output", err: "a failure")` adds its status and its standard error. What
      # the code writes for the program is kept: `pipe.input`.
      def fake_popen(**options, &block)
        assay_checked(options, [])
        assay_install(assay_new(PipingKind.new(assay_test.processes), "fake_popen", options), PipingKind.targets, &block)
      end

      # Any other method of an object: returns nil, or what `results:` says.
      #
      #   fake(Process, :wait, results: [0])
      def fake(object, name, **options, &block) = assay_fake(name.to_sym, Kind.new, [object], options, &block)

      # `Time.now`, `Time.new`, `Date.today`, `DateTime.now` and CLOCK_REALTIME show the frozen `clock`, in this thread, until the test ends or
      # within the block. `at:` is its first time, past or future (see Clock#travel_to); after a block the clock is reset.
      #
      #   fake_time(at: "2030-01-31") { assert_equal Date.new(2030, 2, 28), Bill.new.due }
      #
      # With `monotonic: true` so does CLOCK_MONOTONIC; waits and timeouts of this thread that use it then last until the clock is advanced,
      # so it is an option. The clock of measurements is never faked.
      def fake_time(at: nil, monotonic: false, threads: Thread.current, unused: Testing.unused_fakes, &block)
        require "date"
        before = assay_test.clock.now
        elapsed = assay_test.clock.elapsed
        assay_test.clock.travel_to(at) unless at.nil?
        fake = assay_new(TimeKind.new(assay_test.clock, monotonic), "fake_time", { threads: threads, unused: unused })
        assay_install(fake, TimeKind.targets, &block)
      ensure
        assay_test.clock.travel_to(before + (assay_test.clock.elapsed - elapsed)) if block && !at.nil? && elapsed
      end

      # A scripted answer that ends like a process: sets `$?` to this status. What `system` and backticks return follows from it, unless
      # a value is given, which is the output where there is one. `err:` is standard error, for fake_popen.
      def exits(status, value = nil, err: nil) = Exit.new(status, value, err)

      # The clock of this test.
      def clock = assay_test.clock

      # Every faked call of this test, an Array of Call; of one object, where it is given.
      def calls(*object) = assay_test.journal.calls(*object)

      # The seconds of every faked `sleep`, as they were given; nil for one without. Waits that were ended are among them.
      def sleeps(*object) = assay_test.journal.calls(*object).select { |call| SLEEPS.include?(call.name) }.map(&:seconds)

      # What was started or opened by faked methods, in the order of the calls: a lone argument as it is, several as an Array, `:fork`
      # for a fork.
      def commands(*object) = assay_test.journal.calls(*object).select { |call| COMMANDS.include?(call.name) }.map(&:command)

      private

      def assay_fake(name, kind, object, options, &block)
        assay_checked(options, object)
        fake = assay_new(kind, assay_label(name, object), options)
        return assay_install(fake, assay_targets(name, object, block), &block) unless kind.is_a?(PidKind)

        waiting = Fake.new(WaitKind.new(assay_test.processes), assay_test.journal, results: nil, threads: fake.threads)
        assay_install(fake, assay_targets(name, object, block), [waiting, WaitKind.targets], &block)
      end

      def assay_checked(options, object)
        known = %i[results threads limit unused]
        strange = options.keys - known
        raise ArgumentError, "a fake has no option #{strange.join(", ")}: there are #{known.join(", ")}" unless strange.empty?
        raise ArgumentError, "a fake is for one object, not for #{object.size}" if object.size > 1
      end

      def assay_new(kind, label, options)
        Fake.new(kind, assay_test.journal, label: label, **{ results: nil, threads: Thread.current }.merge(options))
      end

      def assay_label(name, object)
        called = name == :` ? "backtick" : name
        subject = object.first
        return "fake_#{called} { … }" if object.empty?

        subject = subject.is_a?(Module) ? subject.inspect : "an object of #{Object.instance_method(:class).bind_call(subject)}"
        MODULES.key?(name) ? "fake_#{called} of #{subject}" : "fake of `#{called}` of #{subject}"
      end

      # With a block the fake lasts for the block, and the block's value is given; else until the test ends. What comes `along` is beneath
      # the fakes of the test.
      def assay_install(fake, targets, along = nil)
        fake.install(targets)
        assay_test.fakes << fake
        along&.first&.install(along.last, beneath: true)
        undo = lambda do
          along&.first&.uninstall
          fake.uninstall
        end
        return assay_test.undo_later(&undo) && nil unless block_given?

        begin
          yield
        ensure
          undo.call
        end
      end

      def assay_targets(name, object, block)
        return [[assay_singleton(object.first, name), name]] unless object.empty?

        if block.nil?
          raise ArgumentError, "nothing is faked for the whole program: name an object, as in fake_#{name == :` ? "backtick" : name}(object), " \
                               "or give a block"
        end

        own = [Kernel, Kernel.singleton_class, *MODULES.fetch(name).map(&:singleton_class)].map { |owner| [owner, name] }
        name == :sleep ? own + SleepKind.waits : own
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
