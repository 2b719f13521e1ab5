# frozen_string_literal: true

# A process that loads files and then waits. Where its program would begin (its gate) it loads what
# earlier runs of the program loaded, in their order, and waits there to be forked for runs. On the
# way it leaves processes behind that wait in the middle of loading, so that loading can be resumed
# from there when later files change: the first before any project file, others where loading took
# long.

module AssayWarm
  # See the head of this file.
  module Stage
    # Files with side effects when loaded, even if they print nothing.
    ACTS = %r{/rails/(?:commands?|cli)\.rb\z|/bundler/(?:cli|friendly_errors)|/rake/rake_test_loader\.rb\z|/rspec/autorun\.rb\z}.freeze
    HELPERS = %r{(?:\A|/)(?:test|tests|spec|specs|features)/|_helper\.rb\z}.freeze
    # Connection classes of libraries, and the names of their databases.
    CONNECTIONS = {"PG::Connection" => "PostgreSQL", "Mysql2::Client" => "MySQL", "Trilogy" => "MySQL", "SQLite3::Database" => "SQLite",
                   "Redis" => "Redis", "RedisClient" => "Redis"}.freeze

    # Maximum number of files in listed directories that are remembered.
    MOST_LISTED = 20_000
    # The original method, before it is wrapped.
    CHILDREN = Dir.method(:children)

    @index = 0
    @runs = {}
    @notes = []
    @seeds = []

    # Up to Ruby 2.7, prepending to a module does not affect classes that already include it, so
    # aliases are used. `require` is beneath RubyGems' version because Bundler removes that one and
    # restores the original.
    HOOKS = <<~'RUBY'
      alias_method :assay_warm_require, :REQUIRE
      alias_method :assay_warm_relative, :require_relative
      alias_method :assay_warm_load, :load
      alias_method :assay_warm_at_exit, :at_exit
      alias_method :assay_warm_system, :system

      def REQUIRE(path)
        ::AssayWarm::Stage.before_require(path) if ::AssayWarm::Stage.replays
        assay_warm_require(path)
      end

      # Past RubyGems, as Ruby's own goes.
      def require_relative(path)
        from = caller_locations(1, 1)[0]&.absolute_path
        return assay_warm_relative(path) unless from

        # Note: through RubyGems' `require`, Bundler would find other gems.
        REQUIRE(::File.expand_path(path, ::File.dirname(from)))
      end

      def load(path, *wrap)
        ::AssayWarm::Stage.before_load(path) if ::AssayWarm.role == :stage
        ::AssayWarm::Run.execute(path) || assay_warm_load(path, *wrap)
      end

      # For runs alone, and so that they find them as they would have.
      def at_exit(&block)
        block ? ::AssayWarm::Run.at_exit(block) : assay_warm_at_exit
      end

      def system(*command)
        words = ::AssayWarm::Run.ruby_of(command)
        words ? ::AssayWarm::Run.as_ruby(words) : assay_warm_system(*command)
      end
      ruby2_keywords(:system) if respond_to?(:ruby2_keywords, true)

      private :REQUIRE, :require_relative, :load, :at_exit, :system, :assay_warm_require, :assay_warm_relative, :assay_warm_load,
              :assay_warm_at_exit, :assay_warm_system
    RUBY

    class << self
      def begin
        @took = 0
        @last = AssayWarm.now
        call_in
        # The only handler known to Ruby, since all others are registered with `Run`.
        at_exit { AssayWarm.role == :stage ? end_of_stage : Run.ends }
        put_in
        words = File.read("/proc/self/cmdline").split("\0")
        program = words.size - ARGV.size - ($0 == "-e" ? 2 : 1)
        @words = words[program..-1]
        # Bundler loads the program once it has chosen the libraries.
        return @bundler = true if File.basename($0) =~ /\Abundler?\z/ && ARGV.any? { |word| %w[exec e ex exe].include?(word) }

        argv = gate
        Run.main(argv)
      end

      def before_load(path)
        return unless @bundler && path == $0

        @bundler = false
        ARGV.replace(gate[1..-1])
      end

      # Called for `Kernel.srand` in loaded files.
      def seeded(seed)
        @seeds << seed if AssayWarm.role == :stage
      end

      attr_reader :seeds, :program, :words

      # Returns only in runs, with the words of the command from the program on.
      def gate
        @at_gate = [$0, *ARGV]
        @program = File.basename($0)
        @program += " #{ARGV[0]}" if %w[rake rails].include?(@program) && ARGV[0]
        @seen = Seen.read
        AssayCoverage.watch(ROOT, HERE, arms: Seen.of(@program, "covers").any?)
        Gems.activate(@program)
        Run.prepare
        @loads = Loads.new
        @loads.watch
        own, others = planned
        replay(others)
        # Returns in a process that loads further, also when that has to be repeated.
        leave_behind if own.any?
        replay(own)
        @loads.stop
        note_what_is_lost
        note_connections
        tidy if long?
        @link.say(:parked, parked(true))
        wait
        Run.argv
      end

      private

      def call_in
        @link = Link.new(UNIXSocket.new(CALLS))
        @link.say(:hello, Process.pid, @index, @number)
        # Something changed in the meantime, and another process loads.
        (_, @number = @link.hear) || exit!(0)
        @told = {sources: 0, features: $LOADED_FEATURES.size}
      end

      def put_in
        name = Kernel.private_method_defined?(:gem_original_require) ? "gem_original_require" : "require"
        Kernel.module_eval(HOOKS.gsub("REQUIRE", name), FILE, 1)
        Kernel.singleton_class.class_eval(<<~'RUBY', FILE, 1)
          alias_method :assay_warm_load, :load
          alias_method :assay_warm_at_exit, :at_exit
          alias_method :assay_warm_srand, :srand

          def load(path, *wrap)
            ::AssayWarm::Stage.before_load(path) if ::AssayWarm.role == :stage
            ::AssayWarm::Run.execute(path) || assay_warm_load(path, *wrap)
          end

          def at_exit(&block)
            ::Object.new.send(:at_exit, &block)
          end

          def srand(*seed)
            ::AssayWarm::Stage.seeded(seed[0])
            assay_warm_srand(*seed)
          end
        RUBY
      end

      def failed(text)
        @link.say(:failed, text)
        exit!(1)
      end

      # The command ended, or failed, before reaching its gate.
      def end_of_stage
        error = $!
        said = case error
               when nil, SystemExit then "the command ends before its program begins"
               else "#{error.message} (#{error.class}#{", #{error.backtrace.first}" if error.backtrace&.first})"
               end
        failed(said)
      end

      # Forks: this process waits here, and a child loads further.
      def leave_behind
        note_what_is_lost
        tidy if long?
        # Reported before the child connects.
        @link.say(:parked, parked(false))
        fork ? wait : go_on
      end

      def go_on
        @index += 1
        @took += @seconds
        @link.close
        @runs.clear
        @notes = []
        @last = AssayWarm.now
        call_in
      end

      # Returns only in children: in runs, and in processes that load further.
      def wait
        children, @child_ended = IO.pipe
        restore = AssayWarm.signals("INT" => "IGNORE", "CHLD" => proc { @child_ended.write_nonblock(".", exception: false) })
        loop do
          readable, = IO.select([@link.io, children])
          children.read_nonblock(64, exception: false) if readable.include?(children)
          reap
          next unless readable.include?(@link.io)

          message = @link.hear
          leave unless message
          next retire if message[0] == :retire

          next unless (role = answer(message))

          children.close
          @child_ended.close
          restore.call
          return role == :run ? nil : go_on
        end
      end

      # The stage is obsolete and only waits for the end of its runs.
      def retire
        leave if @runs.empty?

        @retired = true
      end

      def answer(message)
        kind, number, request = message
        if kind == :go
          AssayWarm.changed, @number = message[1..2]
          return fork ? nil : :stage
        end

        descriptors = Array.new(3) { @link.io.recv_io(nil) }
        argv = Run.argv_of(request["argv"].to_a + request["only"].to_a, @words, @at_gate)
        return refuse(number, descriptors, "this is not what was loaded: #{@words.join(" ")}") unless argv

        given = request["env"] || ENVIRONMENT
        other = (given.keys | ENVIRONMENT.keys).find { |name| name.match?(INTERPRETER) && given[name] != ENVIRONMENT[name] }
        return refuse(number, descriptors, "`#{other}` has another value than when it was loaded") if other

        pid = fork
        unless pid
          @link.close
          Run.begin(argv, request, descriptors)
          return :run
        end
        @runs[pid] = number
        @link.say(:began, number, pid)
        close(descriptors)
      rescue SystemCallError => e
        refuse(number, descriptors, "no fork: #{e.message}")
      end

      def refuse(number, descriptors, why)
        close(descriptors)
        @link.say(:refused, number, why)
        nil
      end

      def close(descriptors)
        descriptors.each { |descriptor| IO.for_fd(descriptor).close }
        nil
      end

      def reap
        while (ended = Process.wait2(-1, Process::WNOHANG))
          pid, status = ended
          number = @runs.delete(pid) or next
          @link.say(:ended, number, status.exitstatus, status.termsig)
          note_order
        end
        leave if @retired && @runs.empty?
      rescue Errno::ECHILD
        nil
      end

      # The keeper is gone, or no longer needs this stage.
      def leave
        @runs.each_key do |pid|
          Process.kill(:KILL, -pid)
        rescue SystemCallError
          next
        end
      ensure
        exit!(0)
      end

      # This takes longer than loading a file, so it is done only after much was loaded: later runs
      # and stages then have less to scan.
      def tidy
        Process.respond_to?(:warmup) ? Process.warmup : GC.start
      end

      def parked(ready)
        @seconds = AssayWarm.now - @last
        files = AssayCoverage.used_since(@told[:sources])
        @told[:sources] += files.size
        features = $LOADED_FEATURES.size - @told[:features]
        @told[:features] += features
        own = files.keys.reject { |path| path.end_with?("/") }
        @has_files ||= own.any?
        name = if !@has_files then "framework"
               elsif ready && own.any? { |path| path.match?(HELPERS) } then "helpers"
               else "application"
               end
        {name: name, files: files, listed: listed(files), features: features, seconds: @seconds, notes: @notes, ready: ready, runs: {}, seen: @seen}
      end

      # Returns the Ruby files in listed directories, since only additional ones matter; nothing if
      # there are too many.
      def listed(files)
        @names = []
        files.each_key do |folder|
          next look(folder) unless folder.end_with?("/**/")

          look_below(folder.delete_suffix("**/"))
        end
        return {} if @names.size > MOST_LISTED

        @names.to_h { |name| [name.delete_prefix("./"), true] }
      end

      # Returns the names of subdirectories.
      def look(folder)
        return [] if !folder.end_with?("/") || @names.size > MOST_LISTED

        names = CHILDREN.call(File.join(ROOT, folder)).map { |name| "#{folder}#{name}" }
        @names.concat(names.select { |name| name.end_with?(".rb") })
        names.reject { |name| File.basename(name).include?(".") }
      rescue SystemCallError
        []
      end

      # Omits third-party directories.
      def look_below(folder)
        look(folder).each do |name|
          whole = File.join(ROOT, name)
          look_below("#{name}/") if File.directory?(whole) && !File.symlink?(whole) && AssayWarm.within("#{whole}/")
        end
      end

      # Notes state that is lost in a fork.
      def note_what_is_lost
        Thread.list.each do |thread|
          next if thread.equal?(Thread.main)

          where = thread.name || thread.inspect[/ (\S+:\d+)/, 1]
          @notes << "a thread is not there in runs: #{where}"
        end
        disconnect
        if defined?(::SimpleCov) && defined?(::Coverage) && !(::Coverage.respond_to?(:running?) ? ::Coverage.running? : ::SimpleCov.running)
          @notes << "SimpleCov is started in runs, and does not see what is loaded before them"
        end
      rescue StandardError => e
        @notes << "connections could not be closed: #{e.message}"
      end

      # Notes connections that are open when everything is loaded. This scans all objects, which
      # takes longer than loading a file.
      def note_connections
        CONNECTIONS.each do |name, called|
          klass = constant(name)
          open = klass.is_a?(Class) ? ObjectSpace.each_object(klass).count { |connection| open?(connection) } : 0
          @notes << "#{open} connection#{"s" if open > 1} to #{called} #{open > 1 ? "are" : "is"} shared by all runs (#{name})" if open.positive?
        end
      rescue StandardError => e
        @notes << "connections could not be looked for: #{e.message}"
      end

      # Returns the constant with this name if it is loaded; referring to it would load it.
      # Note: a stage never names a constant that may still be autoloaded (ActiveRecord::Base): that
      # would load it before the application's settings.
      def constant(name)
        name.split("::").inject(Object) do |within, part|
          within.const_defined?(part, false) && !within.autoload?(part, false) ? within.const_get(part, false) : break
        end
      end

      def open?(connection)
        return false if connection.respond_to?(:closed?) && connection.closed?
        return false if connection.respond_to?(:finished?) && connection.finished?
        return false if connection.respond_to?(:connected?) && !connection.connected?

        # An in-memory database is copied with the process.
        !(defined?(::SQLite3::Database) && connection.is_a?(::SQLite3::Database) && connection.filename.to_s.empty?)
      rescue StandardError
        true
      end

      # Rails reopens connections by itself; an in-memory database would be lost with its
      # connection.
      def disconnect
        base = constant("ActiveRecord::Base")
        return unless base.respond_to?(:connection_handler) && (handler = base.connection_handler)

        pools = handler.respond_to?(:connection_pool_list) ? handler.connection_pool_list(*(:all if ::ActiveRecord.version >= Gem::Version.new("7.1"))) : []
        pools.each { |pool| pool.disconnect! unless in_memory?(pool) }
        config = constant("ActiveRecord::ConnectionAdapters::PoolConfig")
        keep_in_memory(config) if config
      end

      # Rails drops all connections in a fork. A connection to an in-memory database must be kept by
      # the process that has the memory.
      def keep_in_memory(config)
        return if @keeps_in_memory

        @keeps_in_memory = true
        config.prepend(Module.new { module_eval(<<~'RUBY', FILE, 1) })
          def discard_pool!
            super unless ::AssayWarm.role == :stage && @pool && ::AssayWarm::Stage.in_memory?(@pool)
          end
        RUBY
      end

      public

      def in_memory?(pool)
        config = pool.respond_to?(:db_config) ? pool.db_config.configuration_hash : pool.spec.config
        config[:database].to_s.include?(":memory:") || config[:database].to_s.include?("mode=memory")
      end
    end

    # Redirects the output of loaded files to the log, and detects it.
    class Output
      def self.watched
        output = new
        yield output
      ensure
        output&.close
      end

      def initialize
        STDOUT.flush
        @kept = STDOUT.dup
        path = "#{SOCKET}.#{Process.pid}.out"
        @file = File.open(path, File::RDWR | File::CREAT | File::EXCL | File::APPEND, 0o600)
        File.unlink(path)
        @read = 0
        STDOUT.reopen(@file)
      end

      # Returns true if something was printed since the last call.
      def grew?
        STDOUT.flush
        size = @file.size
        return false if size == @read

        @kept.write(@file.pread(size - @read, @read))
        @read = size
        true
      end

      def close
        grew?
        STDOUT.reopen(@kept)
        [@kept, @file].each(&:close)
      end
    end
  end
end
