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
#     {"path":"/p/a.rb","text":"class A;def push…","first":3,"name":"push","line":3,"tests":["ATest: test_a",…],"limit":1.5,"stops":true}
#
# {"failed":["ATest: test_a"],"run":4,"seconds":0.02}, {"timeout":true}, {"crashed":"why"}, or {"unable":"why"}: then it is to be tried in another way.
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
          Methods.put(asked) { |owner, target| @owner, @target = owner, target }
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

      # Leads a group, if it ends with its parent all the same.
      def alone(parent)
        number = PRCTL[RbConfig::CONFIG["host_cpu"]] or return
        verbose = $VERBOSE
        $VERBOSE = nil
        syscall(number, ENDS_WITH_PARENT, 9, 0, 0, 0)
        $VERBOSE = verbose
        exit!(0) if Process.ppid != parent
        Process.setpgid(0, 0)
      rescue SystemCallError, NotImplementedError
        nil
      end

      def answer(what)
        @writer.syswrite("#{json(what)}\n")
      ensure
        exit!(0)
      end
    end

    # The methods that are loaded, by where they stand; and how one of them is replaced.
    module Methods
      # One name of a method. `own`: whether it is a method of this owner; else it is one that the owner inherits, under another name or visibility.
      # `target`: the module itself, also where the owner is its singleton class; nil if that is some other object's.
      Entry = Struct.new(:owner, :name, :original, :own, :target, :file)
      # Suites have methods of all these names.
      OF = %i[instance_methods private_instance_methods instance_method singleton_class? singleton_class private_method_defined?
              protected_method_defined? private protected public alias_method module_function].to_h { |name| [name, Module.instance_method(name)] }.freeze
      METHOD = Kernel.instance_method(:method)

      @real = {}

      class << self
        def take
          GC.start
          @held = held
          @entries = Hash.new { |all, key| all[key] = [] }
          all = ObjectSpace.each_object(Module).to_a
          modules = all.reject { |mod| of(:singleton_class?, mod) }
          attached = {}.compare_by_identity
          modules.each { |mod| attached[of(:singleton_class, mod)] = mod }
          modules.each { |mod| attached[mod] = mod }
          all.each { |mod| attached[mod] ||= nil }
          attached.each { |owner, target| entries(owner, target) }
          @entries.default_proc = nil
        end

        # Puts the changed method in the place of the one that was loaded. The block is told where, before that is done.
        def put(asked)
          key = [real(asked["path"]), asked["line"]]
          name = asked["name"].to_sym
          entries = @entries[key] or raise(Unable, "the method was not loaded")
          raise Unable, "something holds the method itself" if @held[key]

          main, copy, others = sorted(entries, name)
          before = visibilities(entries)
          old = own_method(main.owner, name)
          yield main.owner, main.target
          evaluate(asked, main.file, key[0])
          raise Unable, "the changed method went elsewhere" if old == own_method(main.owner, name)

          of(:module_function, main.owner, name) if copy
          others.each { |entry| of(:alias_method, entry.owner, entry.name, name) }
          before.each { |entry, visibility| of(visibility, entry.owner, entry.name) }
        rescue Unable, SyntaxError
          raise
        rescue StandardError => e
          raise Unable, "#{e.class}: #{e.message}"
        end

        private

        def of(name, target, *arguments)
          OF[name].bind_call(target, *arguments)
        end

        # Where methods stand that are held as objects: who has them calls what was there when they were made.
        def held
          found = {}
          [Method, UnboundMethod, Proc].each do |kind|
            ObjectSpace.each_object(kind) do |own|
              next if kind == Proc && !own.lambda?

              file, line = own.source_location
              found[[real(file), line]] = true if file
            end
          end
          found
        end

        def real(file)
          @real[file] ||= begin
            File.realpath(file)
          rescue SystemCallError
            file
          end
        end

        def entries(owner, target)
          names = of(:instance_methods, owner, false) | of(:private_instance_methods, owner, false)
          names.each do |name|
            method = own_method(owner, name) or next
            file, line = method.source_location
            next unless file

            @entries[[real(file), line]] << Entry.new(owner, name, method.original_name, method.owner.equal?(owner), target, file)
          end
        end

        # Not that of what is prepended.
        def own_method(owner, name)
          first = method = of(:instance_method, owner, name)
          method = method.super_method until method.nil? || method.owner.equal?(owner)
          method || first
        rescue NameError
          nil
        end

        # The method, whether a module has it twice, as `module_function` makes it; and its other names.
        def sorted(entries, name)
          raise Unable, "methods share its line" if entries.any? { |entry| entry.original != name }

          # Only its visibility is another one in a class below.
          own = entries.select { |entry| entry.own || entry.name != name }
          raise Unable, "it has other names elsewhere" unless own.all?(&:own)
          raise Unable, "it is a method of an object" unless own.all?(&:target)

          mains, others = own.partition { |entry| entry.name == name }
          main = mains.find { |entry| entry.owner.equal?(entry.target) } || mains[0]
          raise Unable, "another method has its name" unless main
          raise Unable, "it has other names elsewhere" unless others.all? { |entry| entry.owner.equal?(main.owner) }

          copies = mains - [main]
          is_function = copies.size == 1 && copies[0].target.equal?(main.target) && !main.target.is_a?(Class)
          raise Unable, "several classes have it" unless copies.empty? || is_function

          heard?(main)
          [main, is_function, others]
        end

        # Whoever wants to know of methods that are defined does something with them.
        def heard?(entry)
          name, usual = entry.owner.equal?(entry.target) ? [:method_added, Module] : [:singleton_method_added, BasicObject]
          raise Unable, "its class does something with methods that are added" unless METHOD.bind_call(entry.target, name).owner.equal?(usual)
        end

        def visibilities(entries)
          entries.select(&:own).to_h do |entry|
            visibility = if of(:private_method_defined?, entry.owner, entry.name) then :private
                         elsif of(:protected_method_defined?, entry.owner, entry.name) then :protected
                         else :public
                         end
            [entry, visibility]
          end
        end

        def evaluate(asked, file, real)
          verbose = $VERBOSE
          $VERBOSE = nil
          RubyVM::InstructionSequence.compile(asked["text"], file, real, asked["first"]).eval
        ensure
          $VERBOSE = verbose
        end
      end
    end

    # RSpec 3.
    module OfRspec
      RUNNER = <<~'RUBY'
        def run_specs(groups)
          ::AssayMutants.serves? ? super : ::AssayMutants::OfRspec.serve(groups)
        end
      RUBY

      # Of groups while only some examples run, in this order.
      CHOSEN = <<~'RUBY'
        def filtered_examples
          ::AssayMutants::OfRspec.chosen(self) || super
        end

        def descendant_filtered_examples
          ::AssayMutants::OfRspec.chosen_below(self) || super
        end

        def ordering_strategy
          ::AssayMutants::OfRspec.as_chosen || super
        end
      RUBY

      # Examples that come one after the other and stand in one group.
      Chunk = Struct.new(:examples) do
        # RSpec asks a strategy for the order of examples and of groups: of these only those that lead to the chosen ones.
        def order(items)
          items.select { |item| !item.is_a?(Class) || path.include?(item) }
        end

        def path
          @path ||= examples[0].example_group.parent_groups
        end
      end

      # Hears what becomes of examples.
      class Reporter
        def initialize(names)
          @names = names
        end

        def example_passed(_example)
          ::AssayMutants.ended
        end
        alias example_pending example_passed

        def example_failed(example)
          ::AssayMutants.failed(@names.fetch(example))
        end

        def notify_non_example_exception(exception, context)
          ::AssayMutants.broken("#{context} #{exception.class}")
        end

        # All else is said to people.
        def method_missing(*) end

        def respond_to_missing?(*)
          true
        end
      end

      @chunk = nil

      class << self
        def install
          folder = File.dirname(::RSpec::Core::Example.instance_method(:run).source_location[0])
          ::AssayMutants.plant(::RSpec::Core::Runner, RUNNER, folder)
          @folder = folder
          true
        end

        def serve(groups)
          fail_once if defined?(::RSpec::Expectations)
          ::AssayMutants.plant(::RSpec::Core::ExampleGroup.singleton_class, CHOSEN, @folder)
          forced = ::RSpec.configuration.ordering_manager.instance_variable_get(:@seed_forced)
          ::AssayMutants.serve(tests(groups), seeded: forced) { |chosen| run(chosen) }
        end

        def chosen(group)
          @chunk && (@chunk.path[0].equal?(group) ? @chunk.examples : [])
        end

        def chosen_below(group)
          @chunk && (@chunk.path.include?(group) ? @chunk.examples : [])
        end

        def as_chosen
          @chunk
        end

        private

        # What shows differences is loaded when the first test fails, which would be in each child.
        def fail_once
          ::RSpec::Expectations.fail_with("", "a", "b")
        rescue Exception # rubocop:disable Lint/RescueException -- its failures are no standard errors.
          nil
        end

        # As they are called by assay_tests_rspec.rb.
        def tests(groups)
          seen = Hash.new(0)
          without = Hash.new(0).compare_by_identity
          numbered = {}.compare_by_identity
          ::RSpec.world.all_example_groups.flat_map(&:examples).each do |example|
            described = example.full_description
            if example.metadata[:description].to_s.empty?
              described = "#{example.example_group.metadata[:full_description]} (example #{without[example.example_group] += 1})".lstrip
            end
            name = "#{example.metadata[:file_path].delete_prefix("./")}: #{described}"
            times = seen[name] += 1
            numbered[example] = times > 1 ? "#{name} ##{times}" : name
          end
          groups.flat_map(&:descendants).flat_map(&:filtered_examples).each_with_object({}) do |example, all|
            all[numbered[example]] = all[example.id] = example
          end
        end

        def run(chosen)
          reporter = Reporter.new(chosen)
          chunks = chosen.keys.chunk_while { |one, next_one| one.example_group.equal?(next_one.example_group) }
          ::RSpec.configuration.with_suite_hooks do
            chunks.each do |examples|
              @chunk = Chunk.new(examples)
              examples[0].example_group.parent_groups.last.run(reporter)
            end
            @chunk = nil
          end
        end
      end
    end

    # Minitest 5 and later.
    module OfMinitest
      START = <<~'RUBY'
        def run(*)
          ::Minitest.parallel_executor = ::AssayMutants::OfMinitest::Executor.new unless ::AssayMutants.serves?
          super
        end
      RUBY

      SUITES = <<~'RUBY'
        def METHOD(reporter, options)
          ::AssayMutants.serves? ? super : ::AssayMutants::OfMinitest.serve(options)
        end
      RUBY

      # Of a class of which only some tests run, in this order.
      CHOSEN = <<~'RUBY'
        def runnable_methods
          ::AssayMutants::OfMinitest.chosen(self) || super
        end
      RUBY

      # In place of threads or processes.
      class Executor
        def start; end

        def shutdown; end

        def size
          1
        end

        def <<(work)
          klass, name, reporter = work
          reporter.prerecord(klass, name)
          reporter.record(::Minitest.run_one_method(klass, name))
        end
      end

      # Hears what becomes of tests.
      class Reporter
        def initialize(names)
          @names = names
        end

        def prerecord(klass, name)
          @running = [klass, name]
        end

        def record(result)
          return ::AssayMutants.ended if result.failures.empty? || result.skipped?

          ::AssayMutants.failed(@names.fetch(@running) { @names.values[0] })
        end

        # All else is said to people.
        def method_missing(*) end

        def respond_to_missing?(*)
          true
        end
      end

      @chosen = {}.compare_by_identity

      class << self
        def install
          @folder = File.dirname(::Minitest::Runnable.method(:runnables).source_location[0])
          suites = %i[__run run_all_suites].find { |name| ::Minitest.respond_to?(name, true) }
          ::AssayMutants.plant(::Minitest.singleton_class, START, @folder)
          ::AssayMutants.plant(::Minitest.singleton_class, SUITES.sub("METHOD", suites.to_s), @folder)
          @class_run = ::Minitest::Runnable.respond_to?(:run_suite) ? :run_suite : :run
          true
        end

        def serve(options)
          tests = ::Minitest::Runnable.runnables.each_with_object({}) do |klass, all|
            klass.runnable_methods.each { |name| all["#{klass.name || klass}: #{name}"] = [klass, name] }
          end
          seeded = options[:args].to_s.match?(/--seed|(?:\A|\s)-s/) || ENV.key?("SEED")
          ::AssayMutants.serve(tests, seeded: seeded) { |chosen| run(chosen, options) }
        end

        def chosen(klass)
          @chosen[klass]
        end

        private

        def run(chosen, options)
          reporter = Reporter.new(chosen.keys.to_h { |test| [test, chosen[test]] })
          chosen.keys.chunk_while { |one, next_one| one[0].equal?(next_one[0]) }.each do |tests|
            klass = tests[0][0]
            ::AssayMutants.plant(klass.singleton_class, CHOSEN, @folder) unless @chosen.key?(klass)
            @chosen[klass] = tests.map(&:last)
            klass.public_send(@class_run, reporter, options)
            @chosen[klass] = nil
          end
        end
      end
    end

    # test-unit 3.
    module OfTestUnit
      MEDIATOR = <<~'RUBY'
        def run(...)
          return super if ::AssayMutants.serves?

          ::AssayMutants::OfTestUnit.serve(@suite) do |suite, failed, ended|
            @suite = suite
            channels.clear
            add_listener(::Test::Unit::TestResult::FAULT, &failed)
            add_listener(::Test::Unit::TestCase::FINISHED_OBJECT, &ended)
            super
          end
        end
      RUBY

      class << self
        def install
          folder = File.dirname(::Test::Unit::TestCase.instance_method(:run).source_location[0])
          ::AssayMutants.plant(::Test::Unit::UI::TestRunnerMediator, MEDIATOR, folder)
          true
        end

        def serve(suite, &runs)
          tests = {}
          collect(suite, [], tests)
          ::AssayMutants.serve(tests, seeded: false) { |chosen| run(suite, chosen, runs) }
        end

        private

        def run(suite, chosen, runs)
          names = chosen.values
          done = 0
          failed = lambda do |fault|
            next unless fault.is_a?(::Test::Unit::Failure) || fault.is_a?(::Test::Unit::Error)

            # Those that ended are none of it; what a class sets up is nobody's test: the one that comes next needs it.
            ::AssayMutants.failed(names[done] || names[-1])
          end
          ended = lambda do |_test|
            done += 1
            ::AssayMutants.ended
          end
          runs.call(rooted(suite, chosen.keys), failed, ended)
        end

        # The chosen tests in their order: classes begin as often as the order comes back to them.
        def rooted(suite, chosen)
          root = ::Test::Unit::TestSuite.new(suite.name)
          chosen.chunk_while { |one, next_one| one[1] == next_one[1] }.each do |tests|
            inner = tests[0][1].inject(root) do |outer, of|
              ::Test::Unit::TestSuite.new(of.name, of.test_case).tap { |made| outer << made }
            end
            tests.each { |test, _| inner << test }
          end
          root
        end

        # As they are called by assay_tests_test_unit.rb.
        def collect(suite, around, all)
          suite.tests.each do |test|
            if test.respond_to?(:tests) then collect(test, [*around, test], all)
            else all["#{test.class.name || test.class}: #{test.local_name}"] = [test, around]
            end
          end
        end
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
  AssayMutants.look
end
