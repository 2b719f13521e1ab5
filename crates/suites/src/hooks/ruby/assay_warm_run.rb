# frozen_string_literal: true

# A run: a fork of the last stage that becomes what the command would have been if started now. It
# records what it loads before its first test, for future stages.

module AssayWarm
  # See the head of this file.
  module Run
    TESTS = %r{(?:\A|/)(?:test_(?!helper)[^/]*|[^/]*_test|[^/]*_spec|[^/]*_tests)\.rb\z}.freeze

    class << self
      # The words of the command from the program on.
      attr_reader :argv
      # Registers an exit handler. The handlers of `assay` run last, as if they had been registered
      # first.
      def at_exit(block)
        @handlers ||= []
        @takes ? @handlers.insert((@last = @last.to_i + 1) - 1, block) : @handlers.push(block)
        block
      end

      # Calls the handlers, last one first. In each, `$!` is what the previous one raised, or what
      # the program ended with.
      def handlers
        block = @handlers&.pop or return
        begin
          block.call
        rescue SystemExit => e
          @status = e.status
          return handlers
        rescue StandardError, ScriptError, NoMemoryError, SecurityError, SystemStackError => e
          own_frames(e)
          $stderr.write(e.full_message(highlight: false))
          @status = 1
          return handlers
        end
        handlers
      end

      # The process ends in Ruby's own way.
      def ends
        @status = nil
        handlers
        exit(@status) if @status
      end

      # Returns the program's words from words given for the whole command; nil if they are for
      # another program. Everything before the program (`bundle exec`) must be unchanged.
      def argv_of(words, command, at_gate)
        return if words.empty?

        before = command.size - at_gate.size
        if before.positive? && same?(words[0], command[0])
          return if words[1, before] != command[1, before]

          return [at_gate[0], *words[(before + 1)..-1]]
        end
        return [words[0].include?("/") ? words[0] : at_gate[0], *words[1..-1]] if same?(words[0], at_gate[0])
        # Another file for the same interpreter.
        return words if before.zero? && File.extname(words[0]) == ".rb" && File.extname(at_gate[0]) == ".rb"

        nil
      end

      # Compiles in the stage the files that each run would otherwise read and compile.
      def prepare
        @starts = Seen.of(Stage.program, "starts").any?
        names = %w[tests tests_record tests_rspec tests_minitest tests_test_unit tests_causes tests_frames]
        @compiled = names.map { |name| "#{HERE}/assay_#{name}.rb" }.to_h { |path| [path, RubyVM::InstructionSequence.compile_file(path)] }
      rescue SystemCallError
        @compiled = {}
      end

      # Executes one of `assay`'s compiled files. Returns false for all others.
      def execute(path)
        code = @compiled[path] if AssayWarm.role == :run
        return false unless code

        code.eval
        true
      end

      # Turns the process into the run.
      def begin(argv, request, descriptors)
        AssayWarm.role = :run
        @pid = Process.pid
        @argv = argv
        # These belong to a program that this one starts.
        @others_handlers = @handlers.to_a.shift(@handlers.to_a.size) if @starts
        AssayCoverage.rests
        Process.setsid
        [STDIN, STDOUT, STDERR].zip(descriptors, %w[r w w]) do |io, descriptor, mode|
          given = IO.for_fd(descriptor, mode)
          sync = io.sync
          io.reopen(given)
          io.sync = sync
          given.close
          io.close_on_exec = false
        end
        STDOUT.sync = true if STDOUT.tty?
        Dir.chdir(request["cwd"]) if request["cwd"]
        environment(request["env"]) if request["env"]
        Gems.renew
        seeds
        rake_backtraces
        start_noting
      end

      # Returns the words of a command that runs Ruby on a file, as rake does to run tests; nil for
      # all others. Only in the run itself.
      def ruby_of(command)
        return unless AssayWarm.role == :run && Stage.program.start_with?("rake") && Process.pid == @pid && Thread.current.equal?(Thread.main)

        command = command[0..-2] if command[-1].is_a?(Hash) && command[-1].empty?
        return unless command.all?(String)

        words = command.size == 1 ? words_of(command[0]) : command
        return unless words && [RbConfig.ruby, File.basename(RbConfig.ruby)].include?(words[0])

        at = 1
        at += 1 while words[at] == "-w" || words[at]&.match?(/\A-I.+/)
        words[1..-1] if words[at] && !words[at].start_with?("-") && File.file?(words[at])
      end

      # Forks this process, which has the same files loaded, instead of starting another Ruby.
      # Behaves like `system`, and sets `$?`.
      def as_ruby(words)
        Seen.add(Stage.program, "starts", ["1"])
        [$stdout, $stderr].each(&:flush)
        pid = fork do
          files = words.drop_while { |word| word.start_with?("-") }
          options = words - files
          $VERBOSE = true if options.include?("-w")
          folders = options.grep(/\A-I/).flat_map { |option| option[2..-1].split(":") }
          $LOAD_PATH.unshift(*folders.map { |folder| File.expand_path(folder) })
          # The handlers of `assay`, and those that the test framework registered when it was
          # loaded.
          @pid = Process.pid
          @handlers = [*@handlers.to_a.first(@last.to_i), *@others_handlers]
          @argv = files
          @loads.clear
          main(files)
        end
        Process.wait(pid)
        $?.success?
      end

      # Runs the program and exits. Code given on the command line is left to Ruby itself.
      def main(argv)
        if argv[0] == "-e"
          ARGV.replace(argv[1..-1])
          return
        end

        ARGV.replace(argv[1..-1])
        $0 = argv[0]
        data(argv[0])
        code = compiled_program(argv[0])
        AssayCoverage.main_program_is(code)
        run_program(code)
        handlers
        exit(@status || 0)
      end

      private

      # Splits a command like a shell, if it contains no other shell syntax.
      def words_of(text)
        return if text.match?(/[$`|&;<>()*?\[\]{}~#!'\n]/)

        words = text.scan(/(?:[^\s"\\]|\\.|"(?:[^"\\]|\\.)*")+/)
        words.map { |word| word.gsub(/"((?:[^"\\]|\\.)*)"/) { $1 }.gsub(/\\(.)/) { $1 } }
      end

      def same?(word, own)
        return true if word == own
        return false if File.basename(word) != File.basename(own)

        !word.include?("/") || !own.include?("/") || File.expand_path(word) == File.expand_path(own)
      end

      # Does not let SystemExit propagate: at this early point Ruby would ignore exit statuses set by
      # handlers.
      # Note: all exit handlers are called here, and only in runs.
      def run_program(code)
        code.eval
      rescue SystemExit => e
        @status = e.status
        handlers
        exit(@status)
      rescue SignalException
        handlers
        raise
      rescue StandardError, ScriptError, NoMemoryError, SecurityError, SystemStackError => e
        own_frames(e)
        handlers
        raise unless @status

        $stderr.write(e.full_message(highlight: false))
        exit(@status)
      end

      # Removes the frames below the program.
      def own_frames(error)
        frames = error.backtrace.to_a
        own = frames.index { |frame| frame.start_with?("#{HERE}/assay_warm") }
        error.set_backtrace(frames[0...own]) if own&.positive?
        own_frames(error.cause) if error.cause
      end

      def compiled_program(path)
        RubyVM::InstructionSequence.compile_file(path)
      rescue SyntaxError => e
        abort(e.message)
      rescue SystemCallError => e
        abort("ruby: #{e.message[/\A[^@]*/].strip} -- #{path} (LoadError)")
      end

      # Provides the text after the program's `__END__` as DATA.
      def data(path)
        # Does not count as a read by the project.
        file = File.for_fd(IO.sysopen(path))
        text = file.read.b
        ends = text.index(/^__END__\r?\n/n) or return file.close
        file.seek(ends + text[ends..-1][/\A__END__\r?\n/n].bytesize)
        Object.const_set(:DATA, file)
      rescue SystemCallError
        nil
      end

      # Sets the whole environment, keeping variables that were set while the command was loaded;
      # also repeats what Ruby does with its options at startup.
      def environment(given)
        now = ENV.to_h
        ENV.replace(given)
        (now.keys | ENVIRONMENT.keys).each do |name|
          next if now[name] == ENVIRONMENT[name] || name == "RUBYOPT"

          ENV[name] = now[name]
        end
        # Bundler has prepended its own options.
        words = now["RUBYOPT"].to_s.split - ENVIRONMENT["RUBYOPT"].to_s.split
        ENV["RUBYOPT"] = [*words, *given["RUBYOPT"]].join(" ") unless words.empty?
        VARIABLES.each { |name| ENV.delete(name) }
        @takes = true
        words = given["RUBYOPT"].to_s.split
        words.each_with_index do |word, at|
          case word
          when "-r" then library(words[at + 1].to_s)
          when /\A-r(.+)/ then library($1)
          end
        end
      ensure
        @takes = false
      end

      def library(path)
        require(path) unless path.start_with?("#{HERE}/assay_warm") || execute(path)
      end

      # Reseeds random number generators so that runs differ.
      def seeds
        Kernel.assay_warm_srand
        return unless defined?(::RSpec::Core::Configuration) && ::RSpec.respond_to?(:configuration)

        ordering = ::RSpec.configuration.ordering_manager
        seed = ordering.seed
        ordering.instance_variable_set(:@seed, rand(0xffff)) unless ordering.instance_variable_get(:@seed_forced)
        ::RSpec.configuration.start_time = ::RSpec::Core::Time.now
        return unless Stage.seeds.include?(seed)

        # Helpers often call `Kernel.srand config.seed`, which must be the seed given on the command
        # line.
        before(::RSpec::Core::Runner, "def run_specs(...)\n::Kernel.assay_warm_srand(::RSpec.configuration.seed)\nsuper\nend")
      rescue StandardError
        nil
      end

      # Omits the frames below the program, like own_frames.
      def rake_backtraces
        return unless defined?(::Rake::Backtrace::SUPPRESS_PATTERN) && ::Rake.respond_to?(:application)

        ::Rake.application.options.suppress_backtrace_pattern ||= Regexp.union(::Rake::Backtrace::SUPPRESS_PATTERN, /assay_warm/)
      end

      def before(target, source)
        target.prepend(Module.new { module_eval(source, FILE, 1) })
      end

      # --- Files loaded before the first test.

      def start_noting
        @loads = Loads.new { first_test }
        @loads.watch
        at_exit(-> { stop_noting })
        # This handler runs last.
        @handlers = [-> { write_down }, *@handlers]
        @last = @last.to_i + 1
        @hooked = {}
      end

      # A framework begins to run tests.
      def first_test
        runs = {
          run_specs: (::RSpec::Core::Runner if defined?(::RSpec::Core::Runner)),
          run: (::Minitest.singleton_class if defined?(::Minitest) && ::Minitest.respond_to?(:run)),
          RUN: (::Test::Unit::AutoRunner.singleton_class if defined?(::Test::Unit::AutoRunner))
        }
        runs.each do |name, target|
          next if target.nil? || @hooked[name]

          @hooked[name] = before(target, "def #{name.downcase}(...)\n::AssayWarm::Run.stop_noting\nsuper\nend")
        end
      end

      public

      # Returns true if a file should be loaded before a run.
      def ahead?(path)
        !path.match?(TESTS) && !path.match?(Stage::ACTS) && !path.start_with?("#{HERE}/")
      end

      # Called before the first test, which waits for it; the rest is done at the end of the run.
      def stop_noting
        return unless @loads&.watches?

        @loads.stop
        # Its own frames are below those of the program.
        ::RSpec.configuration.backtrace_exclusion_patterns << %r{/assay_warm\w*\.rb:} if defined?(::RSpec::Core::Runner)
        frames = caller_locations.select { |each| each.label == "<top (required)>" }.map(&:absolute_path)
        @noted = [frames, $LOADED_FEATURES.dup, $LOAD_PATH.dup, Gems.activated]
      rescue StandardError
        nil
      end

      def write_down
        stop_noting
        return unless @noted && Process.pid == @pid

        frames, features, folders, gems = @noted
        features = features.to_h { |path| [path, true] }
        others = [*frames, *@argv.map { |word| File.expand_path(word) }]
        Gems.note(Stage.program, gems)
        Seen.add(Stage.program, "path", folders.map(&:to_s).select { |path| path.start_with?("/") })
        Seen.add_order(Stage.program, @loads, @loads.order { |path| features[path] && !others.include?(path) && ahead?(path) })
        Seen.add(Stage.program, "covers", ["1"]) unless ENV["ASSAY_TESTS_COVERAGE"].to_s.empty?
      rescue StandardError
        nil
      end
    end
  end
end
