# frozen_string_literal: true

# The public methods `fake_sleep` and so on. Each is scoped, to one object until the test ends or to
# a block. Nothing here is global.

module Assay
  module Testing
    # Fakes for calls that make tests slow or machine-dependent. A faked method returns immediately,
    # and the call is recorded.
    #
    #   fake_sleep(@cron)                               # this object's `sleep`, until the test ends
    #   fake_system(@cron, results: [true, false])      # one answer per call; a further call fails
    #   fake_system(@cron, results: ->(command) { command == "true" })
    #   fake_sleep { @cron.run }                        # every `sleep` of this thread, within the block
    #
    # Answers may be exceptions (which are raised), or `exits(3, "output")` (which also sets `$?`).
    #
    # All fakes are undone when the test ends, however it ends; with a block, when the block ends.
    # They apply to the thread that created them; `threads: :all`, or a list of threads, is for an
    # object that runs its own threads.
    #
    # A fake that was never called is reported at the end of a passing test, since the code may have
    # performed the real operation. `unused: :ok` allows it, `:fail` fails the test; for all tests:
    # `Assay::Testing.unused_fakes = :fail`.
    module Fakes
      # The Ruby methods of each fake, and the modules besides Kernel that have them.
      MODULES = { sleep: [], system: [], "`": [], spawn: [Process], fork: [Process], open: [] }.freeze
      # Methods that start or open something.
      COMMANDS = [:system, :`, :spawn, :fork, :open, :popen, :exec, *PipingKind::NAMES].freeze
      SLEEPS = [:sleep, *SleepKind.targets.map(&:last)].uniq.freeze
      private_constant :MODULES, :SLEEPS

      # `sleep` returns immediately with the rounded seconds, as if they had passed, and advances
      # `clock`. An endless loop of sleeps fails after `limit` calls with the recorded calls,
      # instead of hanging.
      #
      # With a block, waits with a timeout also end, unless another thread ends them within a
      # moment (20 ms): `ConditionVariable#wait`, `Mutex#sleep`, `Queue#pop(timeout:)`,
      # `SizedQueue#push(timeout:)`, and `IO.select` without files; and `Thread#join(limit)`, whose
      # thread has a second. Waits for files and processes are real, and so are the time limits of
      # Timeout, which a faked sleep never exceeds.
      def fake_sleep(*object, **options, &block) = assay_fake(:sleep, SleepKind.new(assay_test.clock), object, options, &block)

      # `system` returns true.
      def fake_system(*object, **options, &block) = assay_fake(:system, SystemKind.new(assay_test.processes), object, options, &block)

      # A command in backticks (or `%x`) returns an empty String.
      def fake_backtick(*object, **options, &block) = assay_fake(:`, BacktickKind.new(assay_test.processes), object, options, &block)

      # `spawn` returns an unused process id. `Process.wait`, `wait2`, `waitpid`, `detach` and so on
      # treat it as a process that has ended, with the status of `results: [exits(3)]`, or 0.
      def fake_spawn(*object, **options, &block) = assay_fake(:spawn, PidKind.new(assay_test.processes), object, options, &block)

      # `fork` returns an unused process id; its block is not run, but recorded:
      # `calls(object).last.block`. With `results: [nil]` the code under test runs as the child. For
      # `Process.wait` see fake_spawn.
      def fake_fork(*object, **options, &block) = assay_fake(:fork, PidKind.new(assay_test.processes), object, options, &block)

      # `open` returns, or yields, an empty StringIO; a scripted String becomes its content.
      def fake_open(*object, **options, &block) = assay_fake(:open, OpenKind.new, object, options, &block)

      # `IO.popen` and all of Open3 (`capture2`, `capture3`, `popen3`, `pipeline`, …), for this
      # thread, until the test or the block ends. A scripted String is the program's output;
      # `exits(3, "output", err: "a failure")` adds a status and standard error. Text written to the
      # program is available as `pipe.input`.
      def fake_popen(**options, &block)
        assay_checked(options, [])
        assay_install(assay_new(PipingKind.new(assay_test.processes), "fake_popen", options), PipingKind.targets, &block)
      end

      # Any other method of an object: returns nil, or the answers in `results:`.
      #
      #   fake(Process, :wait, results: [0])
      def fake(object, name, **options, &block) = assay_fake(name.to_sym, Kind.new, [object], options, &block)

      # `Time.now`, `Time.new`, `Date.today`, `DateTime.now` and CLOCK_REALTIME return the time of
      # the frozen `clock`, in this thread, until the test or the block ends. `at:` is its initial
      # time, past or future (see Clock#travel_to); after a block the clock is reset.
      #
      #   fake_time(at: "2030-01-31") { assert_equal Date.new(2030, 2, 28), Bill.new.due }
      #
      # With `monotonic: true`, CLOCK_MONOTONIC is faked too; waits and timeouts of this thread that
      # use it then last until the clock is advanced, so this is an option. The clock of
      # measurements is never faked.
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

      # A scripted answer that ends like a process and sets `$?` to this status. The return value of
      # `system` and backticks follows from it, unless a value is given; for methods with output,
      # that is the output. `err:` is standard error, for fake_popen.
      def exits(status, value = nil, err: nil) = Exit.new(status, value, err)

      # The clock of this test.
      def clock = assay_test.clock

      # All faked calls of this test as an Array of Call; optionally those of one object.
      def calls(*object) = assay_test.journal.calls(*object)

      # The arguments of all faked `sleep` calls in seconds, nil if there was none. Includes faked
      # waits.
      def sleeps(*object) = assay_test.journal.calls(*object).select { |call| SLEEPS.include?(call.name) }.map(&:seconds)

      # The commands of faked methods that start or open something, in order of the calls: a single
      # argument as it is, several as an Array, `:fork` for a fork.
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

      # With a block, the fake lasts for the block, and the block's value is returned; otherwise
      # until the test ends. Fakes in `along` are installed beneath those of the test.
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
        name == :sleep ? own + SleepKind.targets : own
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
