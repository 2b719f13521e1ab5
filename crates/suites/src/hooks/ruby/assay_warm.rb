# frozen_string_literal: true

# Loaded through RUBYOPT into a command that is kept warm (docs/internals/preloading.md). The
# initial process supervises the others (assay_warm_keeper.rb). Its child continues with the command
# and waits, as a stage, where its program would begin, with everything loaded that earlier runs
# loaded before their first test (assay_warm_stage.rb). A run is a fork of that stage
# (assay_warm_run.rb).
#
# No library is loaded here that the command may need in another version: no JSON, and only the
# parts of sockets that are written in C.

if ENV["ASSAY_WARM"].to_s.start_with?("path:") && !defined?(::AssayWarm) &&
   # A process that is started while a stage loads is not a stage; one that a stage turned into is.
   ["", Process.pid.to_s].include?(ENV["ASSAY_WARM_STAGE"].to_s)

  # Paths, the messages between the processes, and the role of this one: keeper, stage or run.
  module AssayWarm
    HERE = __dir__.freeze
    SOCKET = ENV["ASSAY_WARM"].delete_prefix("path:").freeze
    # Socket on which stages connect to the keeper.
    CALLS = "#{SOCKET}.stages"
    ROOT = ENV["ASSAY_WARM_ROOT"].to_s.delete_prefix("path:").freeze
    SEEN = ENV["ASSAY_WARM_SEEN"].to_s.delete_prefix("path:").freeze
    VARIABLES = %w[ASSAY_WARM ASSAY_WARM_ROOT ASSAY_WARM_SEEN ASSAY_WARM_LIFE ASSAY_WARM_STAGE].freeze
    # The environment when the command was started.
    ENVIRONMENT = ENV.to_h.freeze
    # Variables that are read only by a new interpreter.
    INTERPRETER = /\A(?:LANG|LC_ALL|LC_CTYPE|LD_PRELOAD|RUBYLIB|RUBY_.*|GEM_HOME|GEM_PATH|BUNDLE_.*|MALLOC_.*|TZDIR)\z/.freeze
    # Number of recently changed files before which a process waits.
    LAST_CHANGED = 4
    # File name of the methods defined here in backtraces.
    FILE = "<internal:assay_warm>"
    CLOCK = Process.method(:clock_gettime)

    # Records of the files that earlier runs loaded before their first test: lines of program, kind
    # and path, separated by tabs. The kinds are:
    #
    # - `load`: files, in the order in which they are to be loaded;
    # - `early`: a library that is loaded before the file that requires it;
    # - `late`: a library that behaves differently if loaded early;
    # - `settles`: a file after which libraries may behave differently than before it;
    # - `named`: a file that is loaded because a constant is named;
    # - `path`: a directory in $LOAD_PATH;
    # - `acts`: a file with side effects when it is loaded, such as output, so that it is not loaded
    #   before a run;
    # - `gem`: an activated gem, with its version;
    # - `bundles`: Bundler activates gems;
    # - `covers`: runs record what tests use.
    module Seen
      class << self
        def read
          File.exist?(SEEN) ? File.readlines(SEEN, chomp: true, encoding: "UTF-8").map { |line| line.split("\t", 3) } : []
        rescue SystemCallError
          []
        end

        def of(program, kind)
          read.filter_map { |from, of, path| path if from == program && of == kind }
        end

        # Appends new entries after the known ones.
        def add(program, kind, paths)
          lines = read
          write(lines, lines + (paths.map { |path| [program, kind, path] } - lines))
        end

        # Replaces the known entries if there are new ones.
        def set(program, kind, paths)
          lines = read
          others = lines.reject { |from, of, _| from == program && of == kind }
          write(lines, others + paths.map { |path| [program, kind, path] }) unless (paths - of(program, kind)).empty?
        end

        # In the order of `loads`: a new entry is inserted before the known entries that follow it.
        def add_order(program, loads, paths)
          lines = read
          order = lines.dup
          at = order.size
          paths.reverse_each do |path|
            line = [program, "load", path]
            order.insert(at, line) unless (known = order.index(line))
            at = known || at
          end
          marks = {"early" => loads.early, "settles" => loads.settling(paths), "named" => loads.named(paths)}
          marks = marks.flat_map { |kind, marked| marked.map { |path| [program, kind, path] } }
          write(lines, order + (marks - order))
        end

        private

        def write(lines, added)
          added = added.reject { |line| line.any? { |word| word.match?(/[\t\n]/) } }
          return if SEEN.empty? || added == lines

          File.write("#{SEEN}.#{Process.pid}", added.map { |line| "#{line.join("\t")}\n" }.join, perm: 0o600)
          File.rename("#{SEEN}.#{Process.pid}", SEEN)
        rescue SystemCallError
          nil
        end
      end
    end

    # One end of the connection between the keeper and a stage. Messages are arrays, each preceded
    # by its length.
    class Link
      attr_reader :io

      def initialize(io)
        @io = io
      end

      def say(*message)
        text = Marshal.dump(message)
        @io.write([text.bytesize].pack("L"), text)
        @io.flush
      end

      # Returns nil if the peer is gone. It reads no bytes beyond the message, since they may come
      # with a descriptor.
      def hear
        size = @io.recv(4, Socket::MSG_WAITALL).to_s
        return if size.bytesize < 4

        Marshal.load(@io.recv(size.unpack1("L"), Socket::MSG_WAITALL)) # rubocop:disable Security/MarshalLoad
      rescue SystemCallError, IOError, ArgumentError, TypeError
        nil
      end

      def close
        @io.close
      rescue IOError
        nil
      end
    end

    class << self
      # `:stage` or `:run`; nil in the keeper.
      attr_accessor :role
      # Paths of recently changed files, latest first.
      attr_accessor :changed

      def now
        CLOCK.call(Process::CLOCK_MONOTONIC)
      end

      # Returns the path relative to the project's top, or nil if the file is not the project's,
      # as for coverage.
      def within(path)
        ::AssayCoverage.within(path)
      end

      def load_part(name)
        load("#{HERE}/assay_warm_#{name}.rb")
      end

      # Installs signal handlers of stages and the keeper; returns a lambda that restores the
      # previous ones.
      def signals(handlers)
        before = handlers.map { |name, handler| [name, trap(name, handler)] }
        -> { before.each { |name, handler| trap(name, handler || "SYSTEM_DEFAULT") } }
      end

      def start
        require "socket.so"
        load("#{HERE}/assay_tests_coverage.rb") unless defined?(::AssayCoverage)
        %w[json keeper gems loads stage replay run].each { |name| load_part(name) } unless defined?(Stage)
        life = ENV["ASSAY_WARM_LIFE"].to_s
        # Returns only in children.
        Keeper.new(life.empty? ? nil : IO.for_fd(Integer(life, 10), autoclose: false)).run if ENV["ASSAY_WARM_STAGE"].to_s.empty?
        ENV["ASSAY_WARM_STAGE"] = Process.pid.to_s
        @role = :stage
        Stage.begin
      end
    end
  end

  AssayWarm.changed = []
  AssayWarm.start
end
