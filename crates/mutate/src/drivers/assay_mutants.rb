# frozen_string_literal: true

# Loads the tests of a project once, and forks a process for each change, which replaces the loaded
# method by the changed one and runs the requested tests. Nothing is written to disk.
#
#     ASSAY_MUTANTS=path:SOCKET RUBYOPT=-r/p/assay_mutants.rb COMMAND       any command that runs tests of rspec, minitest or test-unit
#
# The process that is about to run tests answers requests at the socket instead. A single client
# sends a JSON object per line, and receives one: {"ready":N} when N tests are loaded, or
# {"unable":"why"}; then for each change, with the method alone in its surrounding modules, the line
# on which that text begins, and the line that identifies the method
#
#     {"path":"/p/a.rb","text":"class A;def push…","first":3,"name":"push","line":3,"tests":["ATest: test_a",…],"limit":1.5,"computing":0.3,"stops":true}
#
# {"failed":["ATest: test_a"],"run":4,"seconds":0.02}, {"timeout":true}, {"crashed":"why"}, or
# {"unable":"why"} if it must be tried in another way. `computing` is an optional limit of CPU time:
# {"timeout":true,"computing":true} if it was exceeded. Without a text nothing is changed. Without
# `stops` all tests run, even after a failure. Names of tests are those of assay_tests_*.rb. The
# process ends when the client does. Needs Ruby 2.7.
#
# No library is loaded here that the project may need in another version, or may have forgotten to
# require.

if ENV["ASSAY_MUTANTS"].to_s.start_with?("path:") && !defined?(::AssayMutants) && Process.respond_to?(:fork) && defined?(::RubyVM::InstructionSequence)
  module AssayMutants
    ADDRESS = ENV["ASSAY_MUTANTS"].delete_prefix("path:").freeze
    HERE = __dir__.freeze
    # Captured before any test stubs it.
    CLOCK = Process.method(:clock_gettime)
    # Numbers of the system call prctl(2), whose first option ends a process with its parent.
    PRCTL = {"x86_64" => 157, "aarch64" => 167}.freeze
    ENDS_WITH_PARENT = 1
    # Numbers of the system call setitimer(2), whose timer of this number measures the CPU time of a
    # process and ends it by a signal.
    SETITIMER = {"x86_64" => 38, "aarch64" => 103}.freeze
    COMPUTING = 2
    MOST_SAID = 65_536

    # The change cannot be tried in this way.
    Unable = Class.new(StandardError)

    @frameworks = {}

    class << self
      # Hooks into frameworks loaded since the last call. Called after every `require`.
      def look
        hook(OfRspec) if defined?(::RSpec::Core::Runner) && defined?(::RSpec::Core::ExampleGroup) && defined?(::RSpec::Core::Example)
        hook(OfMinitest) if defined?(::Minitest::Test) && defined?(::Minitest::Runnable)
        hook(OfTestUnit) if defined?(::Test::Unit::UI::TestRunnerMediator) && defined?(::Test::Unit::TestCase)
      end

      # Returns true if this process already has its tests and any run is a requested one.
      def serves?
        @serves
      end

      # Answers requests until the client disconnects, and exits. `tests` maps names to tests; the
      # block runs some of them in a child.
      def serve(tests, seeded:, &run)
        @serves = true
        @tests = tests
        @seeded = seeded
        @run = run
        leave_no_trace
        @server = bound
        @client = @server.accept
        begin
          refuse = ready
          say(refuse ? {"unable" => refuse} : {"ready" => tests.size})
          while (line = @client.gets)
            say(attempt(::AssayWarm::Json.read(line.force_encoding(Encoding::UTF_8))))
          end
        rescue SystemCallError, IOError
          nil
        ensure
          exit!(0)
        end
      end

      # Called in a child when a test passed or was skipped.
      def ended
        @ended += 1
      end

      # Called in a child when a test failed. That is the answer, unless all tests are to run.
      def failed(name)
        return answer("failed" => [name], "run" => @ended + 1) if @stops

        @failures << name
      end

      # Reports an error outside of tests.
      def broken(how)
        answer("crashed" => "reported an error outside of tests: #{how}"[0, 500])
      end

      # Location of a method defined in a block: the object that owns it, and the class that has it.
      attr_reader :target, :owner

      def now
        CLOCK.call(Process::CLOCK_MONOTONIC)
      end

      private

      def hook(part)
        @frameworks[part] ||= part.install || true
      end

      # Processes started by tests must not load this file.
      def leave_no_trace
        ENV.delete("ASSAY_MUTANTS")
        options = ENV["RUBYOPT"].to_s.split - ["-r#{HERE}/assay_mutants.rb"]
        options.empty? ? ENV.delete("RUBYOPT") : ENV["RUBYOPT"] = options.join(" ")
      end

      def bound
        require "socket.so"
        UNIXServer.new(ADDRESS)
      rescue Errno::EADDRINUSE
        # Another process already serves its tests.
        exit!(0)
      end

      # Prepares for all changes; returns the reason if that is impossible, or nil.
      def ready
        return "threads run when the tests are loaded" if Thread.list.size > 1

        load("#{HERE}/assay_warm_json.rb")
        Methods.take
        # Otherwise the garbage would be marked and swept in each child again.
        Process.respond_to?(:warmup) ? Process.warmup : 4.times { GC.start }
        nil
      end

      def say(what)
        @client.write("#{json(what)}\n")
        @client.flush
      end

      def json(value)
        case value
        when Hash then "{#{value.map { |key, each| "#{json(key)}:#{json(each)}" }.join(",")}}"
        when Array then "[#{value.map { |each| json(each) }.join(",")}]"
        when String then text(value)
        else value.to_s
        end
      end

      def text(value)
        utf8 = value.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub
        "\"#{utf8.gsub(/["\\\u0000-\u001f\u007f]/) { |special| format("\\u%04x", special.ord) }}\""
      end

      def attempt(asked)
        missing = asked["tests"].find { |name| !@tests.key?(name) }
        return {"unable" => "no test is called #{missing}"} if missing

        reader, @writer = IO.pipe
        begun = now
        parent = Process.pid
        pid = Process.fork
        child(reader, parent, asked) if pid.nil?
        @writer.close
        begin
          wait(reader, pid, begun, asked["limit"])
        ensure
          reader.close
          # Kills all remaining processes of its group.
          kill(-pid)
        end
      end

      def wait(reader, pid, begun, limit)
        said = +""
        until said.end_with?("\n")
          left = begun + limit - now
          ready = left.positive? ? IO.select([reader, @client], nil, nil, left) : nil
          if ready.nil? || ready[0].include?(@client)
            kill(-pid) || kill(pid)
            Process.wait(pid)
            # The client is gone.
            exit!(0) if ready
            return {"timeout" => true}
          end
          piece = reader.read_nonblock(MOST_SAID, exception: false)
          break if piece.nil?

          said << piece if piece.is_a?(String)
        end
        whole = said.end_with?("\n")
        # The process's exit handlers are irrelevant.
        kill(pid) if whole
        status = Process.wait2(pid)[1]
        return ::AssayWarm::Json.read(said.force_encoding(Encoding::UTF_8)).merge("seconds" => now - begun) if whole
        return {"timeout" => true, "computing" => true} if status.termsig == Signal.list["PROF"]
        return {"crashed" => "was ended by signal #{status.termsig}"} if status.signaled?

        {"crashed" => "exited with status #{status.exitstatus} before the tests were over"}
      end

      def kill(pid)
        Process.kill(:KILL, pid)
      rescue SystemCallError
        nil
      end

      # Does not return.
      def child(reader, parent, asked)
        begin
          [reader, @client, @server].each(&:close)
          alone(parent)
          # As in a separate process, unless the seed is given on the command line.
          srand unless @seeded
          nothing = File.open(File::NULL, "r+")
          [STDIN, STDOUT, STDERR].each { |io| io.reopen(nothing) }
          @ended = 0
          @stops = asked.fetch("stops", true)
          @failures = []
          Methods.put(asked) { |owner, target| @owner, @target = owner, target } if asked["text"]
          computes(asked["computing"]) if asked["computing"]
          @run.call(asked["tests"].each_with_object({}.compare_by_identity) { |name, chosen| chosen[@tests[name]] = name })
          answer("failed" => @failures.uniq, "run" => @ended)
        rescue Unable, SyntaxError => e
          answer("unable" => e.message)
        rescue Exception => e # rubocop:disable Lint/RescueException -- nothing of the parent's may go on here.
          answer("crashed" => "ended with #{e.class}: #{e.message}"[0, 500])
        end
      ensure
        exit!(0)
      end

      # Limits the CPU time to this many seconds from now on.
      def computes(seconds)
        number = SETITIMER[RbConfig::CONFIG["host_cpu"]] or return
        whole, part = (seconds * 1_000_000).to_i.divmod(1_000_000)
        trap(:PROF, "SYSTEM_DEFAULT")
        timer = [0, 0, whole, part].pack("q4")
        # A string with zero bytes must be passed by address.
        silently { syscall(number, COMPUTING, [timer].pack("P").unpack1("J"), 0) }
      rescue SystemCallError, NotImplementedError
        nil
      end

      # Becomes the leader of a process group, if it can still be made to end with its parent.
      def alone(parent)
        number = PRCTL[RbConfig::CONFIG["host_cpu"]] or return
        silently { syscall(number, ENDS_WITH_PARENT, 9, 0, 0, 0) }
        exit!(0) if Process.ppid != parent
        Process.setpgid(0, 0)
      rescue SystemCallError, NotImplementedError
        nil
      end

      # Suppresses Ruby's warning about `syscall`.
      def silently
        verbose = $VERBOSE
        $VERBOSE = nil
        yield
      ensure
        $VERBOSE = verbose
      end

      def answer(what)
        @writer.syswrite("#{json(what)}\n")
      ensure
        exit!(0)
      end
    end

    # Prepends the methods of this source. Its file name is in the framework's own folder, so that
    # backtraces omit it.
    def self.plant(target, source, folder)
      target.prepend(Module.new { module_eval(source, "#{folder}/assay_mutants.rb", 1) })
    end
  end

  # Uses an alias, as RubyGems does, with a file name that backtraces and `warn` omit. It is below
  # RubyGems' own `require`, since Bundler removes that one and restores the original.
  module Kernel
    name = private_method_defined?(:gem_original_require) ? "gem_original_require" : "require"
    module_eval(<<~RUBY, "<internal:assay_mutants>", 1)
      alias_method :assay_mutants_require, :#{name}

      def #{name}(path)
        loaded = assay_mutants_require(path)
        ::AssayMutants.look
        loaded
      end

      private :#{name}, :assay_mutants_require
    RUBY
  end
  %w[methods frameworks].each { |part| load("#{AssayMutants::HERE}/assay_mutants_#{part}.rb") }
  AssayMutants.look
end
