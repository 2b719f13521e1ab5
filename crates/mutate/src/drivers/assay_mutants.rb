# frozen_string_literal: true

# Loads the tests of a project once, and forks a process for each change: there the changed method takes the place of the one that was loaded, and the
# tests run that are asked for. Nothing is written on the disk.
#
#     ASSAY_MUTANTS=path:SOCKET RUBYOPT=-r/p/assay_mutants.rb COMMAND       any command that runs tests of rspec, minitest or test-unit
#
# The process that comes to run tests says what it has at the socket, in place of running them. One client says a JSON object a line, and gets one:
# {"ready":N} when N tests are loaded, or {"unable":"why"}; then for each change, with the method alone in what stands around it, the line on which that
# text begins, and the one by which the method is known
#
#     {"path":"/p/a.rb","text":"class A;def push…","first":3,"name":"push","line":3,"tests":["ATest: test_a",…],"limit":1.5,"computing":0.3,"stops":true}
#
# {"failed":["ATest: test_a"],"run":4,"seconds":0.02}, {"timeout":true}, {"crashed":"why"}, or {"unable":"why"}: then it is to be tried in another way.
# `computing`, which may be absent, is the processor's time that it has: {"timeout":true,"computing":true} if that was over. Without a text nothing is changed.
# Without `stops` all tests run, whatever fails. Names of tests are those of assay_tests_*.rb. When the client goes, so does everything. Needs Ruby 2.7.
#
# Nothing of a library is loaded here that the project may want in another version, or may have forgotten to ask for.

if ENV["ASSAY_MUTANTS"].to_s.start_with?("path:") && !defined?(::AssayMutants) && Process.respond_to?(:fork) && defined?(::RubyVM::InstructionSequence)
  module AssayMutants
    ADDRESS = ENV["ASSAY_MUTANTS"].delete_prefix("path:").freeze
    HERE = __dir__.freeze
    # Before any test stubs it.
    CLOCK = Process.method(:clock_gettime)
    # Calls of prctl(2), whose first option has a process end with its parent.
    PRCTL = {"x86_64" => 157, "aarch64" => 167}.freeze
    ENDS_WITH_PARENT = 1
    # Those of setitimer(2), whose timer of this number counts the processor's time of a process, and ends it by a signal.
    SETITIMER = {"x86_64" => 38, "aarch64" => 103}.freeze
    COMPUTING = 2
    MOST_SAID = 65_536

    # It can't be tried in this way.
    Unable = Class.new(StandardError)

    @frameworks = {}

    class << self
      # Hooks the frameworks that came since. Called after every `require`.
      def look
        hook(OfRspec) if defined?(::RSpec::Core::Runner) && defined?(::RSpec::Core::ExampleGroup) && defined?(::RSpec::Core::Example)
        hook(OfMinitest) if defined?(::Minitest::Test) && defined?(::Minitest::Runnable)
        hook(OfTestUnit) if defined?(::Test::Unit::UI::TestRunnerMediator) && defined?(::Test::Unit::TestCase)
      end

      # Whether this process has got its tests already: what runs then is theirs.
      def serves?
        @serves
      end

      # Answers until the client goes, and ends. `tests`: by name; the block runs some of them in a child.
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

      # In a child: a test passed or was left out,
      def ended
        @ended += 1
      end

      # or failed: that is all that anybody wants to know, unless all tests are asked for.
      def failed(name)
        return answer("failed" => [name], "run" => @ended + 1) if @stops

        @failures << name
      end

      # Something else failed.
      def broken(how)
        answer("crashed" => "reported an error outside of tests: #{how}"[0, 500])
      end

      # Where a method that stands in a block is put: the object whose own it is, and the class that has it.
      attr_reader :target, :owner

      def now
        CLOCK.call(Process::CLOCK_MONOTONIC)
      end

      private

      def hook(part)
        @frameworks[part] ||= part.install || true
      end

      # What tests start shall not come here.
      def leave_no_trace
        ENV.delete("ASSAY_MUTANTS")
        options = ENV["RUBYOPT"].to_s.split - ["-r#{HERE}/assay_mutants.rb"]
        options.empty? ? ENV.delete("RUBYOPT") : ENV["RUBYOPT"] = options.join(" ")
      end

      def bound
        require "socket.so"
        UNIXServer.new(ADDRESS)
      rescue Errno::EADDRINUSE
        # Another process has other tests.
        exit!(0)
      end

      # Takes what is needed for all changes; why it can't be done, or nil.
      def ready
        return "threads run when the tests are loaded" if Thread.list.size > 1

        load("#{HERE}/assay_warm_json.rb")
        Methods.take
        # Garbage would be marked and swept in each child again.
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
          # All that it started and that stayed in its group.
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
            # Nobody waits for an answer any more.
            exit!(0) if ready
            return {"timeout" => true}
          end
          piece = reader.read_nonblock(MOST_SAID, exception: false)
          break if piece.nil?

          said << piece if piece.is_a?(String)
        end
        whole = said.end_with?("\n")
        # What it does at its end is nobody's concern.
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

      # Does not come back.
      def child(reader, parent, asked)
        begin
          [reader, @client, @server].each(&:close)
          alone(parent)
          # As in a process of its own, unless the command line names the seed.
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

      # So many seconds of the processor's time, from now on.
      def computes(seconds)
        number = SETITIMER[RbConfig::CONFIG["host_cpu"]] or return
        whole, part = (seconds * 1_000_000).to_i.divmod(1_000_000)
        trap(:PROF, "SYSTEM_DEFAULT")
        timer = [0, 0, whole, part].pack("q4")
        # A text with zeros in it must come as its address.
        silently { syscall(number, COMPUTING, [timer].pack("P").unpack1("J"), 0) }
      rescue SystemCallError, NotImplementedError
        nil
      end

      # Leads a group, if it ends with its parent all the same.
      def alone(parent)
        number = PRCTL[RbConfig::CONFIG["host_cpu"]] or return
        silently { syscall(number, ENDS_WITH_PARENT, 9, 0, 0, 0) }
        exit!(0) if Process.ppid != parent
        Process.setpgid(0, 0)
      rescue SystemCallError, NotImplementedError
        nil
      end

      # Ruby warns of `syscall`.
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

    # Prepends methods of this source. They stand under a name in the framework's own folder, as which backtraces leave them out.
    def self.plant(target, source, folder)
      target.prepend(Module.new { module_eval(source, "#{folder}/assay_mutants.rb", 1) })
    end
  end

  # As an alias, as RubyGems has it; under a name that backtraces and `warn` leave out. It stands beneath RubyGems' own, since Bundler takes that one out
  # again and puts the original in its place.
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
