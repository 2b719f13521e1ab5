# frozen_string_literal: true

# Loaded by RUBYOPT into a command that shall be kept warm (docs/reference/preloading.md). The process that was started keeps watch over the others
# (assay_warm_keeper.rb); its child goes on with the command, and waits, as a stage, where its program would begin, with everything loaded that
# earlier runs loaded before their first test (assay_warm_stage.rb); a run is a fork of that (assay_warm_run.rb).
#
# Nothing of a library is loaded here that the command may want in another version: so no JSON, and of sockets only what is written in C.

if ENV["ASSAY_WARM"].to_s.start_with?("path:") && !defined?(::AssayWarm) &&
   # A process that is started while a stage loads is none; one that a stage became is.
   ["", Process.pid.to_s].include?(ENV["ASSAY_WARM_STAGE"].to_s)

  # Where things are, what the processes tell each other, and who this one is: the keeper, a stage, or a run.
  module AssayWarm
    HERE = __dir__.freeze
    SOCKET = ENV["ASSAY_WARM"].delete_prefix("path:").freeze
    # Where stages call in.
    CALLS = "#{SOCKET}.stages"
    ROOT = ENV["ASSAY_WARM_ROOT"].to_s.delete_prefix("path:").freeze
    SEEN = ENV["ASSAY_WARM_SEEN"].to_s.delete_prefix("path:").freeze
    VARIABLES = %w[ASSAY_WARM ASSAY_WARM_ROOT ASSAY_WARM_SEEN ASSAY_WARM_LIFE ASSAY_WARM_STAGE].freeze
    # As it was when the command was started.
    ENVIRONMENT = ENV.to_h.freeze
    # What only a new interpreter reads.
    INTERPRETER = /\A(?:LANG|LC_ALL|LC_CTYPE|LD_PRELOAD|RUBYLIB|RUBY_.*|GEM_HOME|GEM_PATH|BUNDLE_.*|MALLOC_.*|TZDIR)\z/.freeze
    # So many files that changed last have a process that waits right before them.
    LAST_CHANGED = 4
    # What the methods here are called as in backtraces.
    FILE = "<internal:assay_warm>"
    CLOCK = Process.method(:clock_gettime)

    # What earlier runs loaded before their first test: lines of program, kind and path, with tabs between them. Kinds are `load`, in the order in
    # which files are to be loaded; `early`, a library that comes before the file that asks for it; `late`, one that is something else then; `settles`,
    # a file after which libraries may be something else than before it; `named`, one that is loaded because a constant is named; `path`, a folder of
    # $LOAD_PATH; `acts`, a file that does something when it is loaded, such as writing, so that it is not loaded before a run; `gem`, one that was
    # activated, with its version; `bundles`, if Bundler does that; `covers`, if runs note what tests use.
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

        # All that is new comes behind what is known.
        def add(program, kind, paths)
          lines = read
          write(lines, lines + (paths.map { |path| [program, kind, path] } - lines))
        end

        # In the place of what is known, if any of it is new.
        def set(program, kind, paths)
          lines = read
          others = lines.reject { |from, of, _| from == program && of == kind }
          write(lines, others + paths.map { |path| [program, kind, path] }) unless (paths - of(program, kind)).empty?
        end

        # In the order of `loads`: what is new comes before whatever is known to follow it.
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

    # One end of what the keeper and a stage say to each other: arrays, each behind its length.
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

      # Nil where the other side is gone. No byte more is read: it may come with a descriptor.
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
      # `:stage` or `:run`; the keeper has none.
      attr_accessor :role
      # Paths of files that have changed before, the last first.
      attr_accessor :changed

      def now
        CLOCK.call(Process::CLOCK_MONOTONIC)
      end

      # The files below their top are the project's, as for coverage.
      def within(path)
        ::AssayCoverage.within(path)
      end

      def load_part(name)
        load("#{HERE}/assay_warm_#{name}.rb")
      end

      # Signals that stages and the keeper take in another way; gives what takes them back.
      def signals(handlers)
        before = handlers.map { |name, handler| [name, trap(name, handler)] }
        -> { before.each { |name, handler| trap(name, handler || "SYSTEM_DEFAULT") } }
      end

      def start
        require "socket.so"
        load("#{HERE}/assay_tests_coverage.rb") unless defined?(::AssayCoverage)
        %w[json keeper gems loads stage replay run].each { |name| load_part(name) } unless defined?(Stage)
        life = ENV["ASSAY_WARM_LIFE"].to_s
        # Comes back in its children alone.
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
