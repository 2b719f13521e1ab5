# frozen_string_literal: true

# The sample protocol, version 1 (docs/reference/sample-protocol.md): how a Ruby program that `assay` measures gives it numbers of its own.
#
# Lines are collected in memory and written at exit, or when a good deal has come together, so that no system call lands in what is
# measured. Without the variable ASSAY_SAMPLES nothing is collected. It must never break the program that uses it: a descriptor that is
# closed or full is told once on standard error, and then nothing more is written.

require "json"
require "monitor"
require_relative "real_clock"

module Assay
  # Gives values to the `assay` that measures this process; does nothing where nobody measures.
  #
  #   Assay::Samples.give("latency", 1.25, unit: "ms")
  #   Assay::Samples.give("rows", [512, 498], better: :higher, take: :sum)
  #   Assay::Samples.region("parse") { parse(text) }
  #
  # Read with `assay run --samples 'ruby program.rb'`, or one of them with `--metric latency`.
  module Samples
    # Where `assay` says that it listens.
    VARIABLE = "ASSAY_SAMPLES"
    # What the values of one run come to.
    TAKES = %w[first last sum mean median min max count].freeze
    # Values in one line at most: a line must stay below 1 MiB.
    VALUES_PER_LINE = 4096
    # Characters that may come together before they are written.
    BUFFER = 256 * 1024

    NAME = /\A[^[:cntrl:]]{1,100}\z/
    private_constant :NAME

    @lock = Monitor.new
    @lines = +""
    @declared = {}
    @told = {}
    @broken = false

    class << self
      # True when somebody wants the numbers. Programs need not ask; it saves the work of computing a value for nobody.
      def wanted? = !@broken && !place.nil?

      # Gives one value, or an Array of values, of the metric `name`.
      #
      # unit:: of all values of this metric, such as "ms" or "B"; a plain number without it
      # better:: :lower (if never said) or :higher
      # take:: what the run comes to that gives several values: :first, :last, :sum, :mean, :median (if never said), :min, :max, :count
      #
      # Raises ArgumentError for what can't be meant: a value that is no number, a name of more than 100 characters. NaN and infinities
      # have no place in the protocol: they are left out, which is told once.
      def give(name, values, unit: nil, better: nil, take: nil)
        return unless wanted?

        numbers = finite(name, Array(values).map { |value| number(name, value) })
        return if numbers.empty?

        words = declaration(name, unit: unit, better: better, take: take)
        numbers.each_slice(VALUES_PER_LINE) do |slice|
          add({ metric: checked(name), **words, **(slice.size == 1 ? { value: slice.first } : { values: slice }) })
        end
        nil
      end

      # Runs the block and gives its wall time as one value of the region `name`; the block's value is handed back. An exception passes
      # through, and its time is given all the same. Regions of a run are summed unless `take` says otherwise.
      def region(name, better: nil, take: nil)
        return yield unless wanted?

        words = declaration(name, better: better, take: take)
        began = RealClock.nanoseconds
        begin
          yield
        ensure
          add({ region: checked(name), **words, ns: RealClock.nanoseconds - began })
        end
      end

      # Writes what has come together. Happens by itself at exit; needed before `exec`, `exit!` and `abort` of the process.
      def flush
        @lock.synchronize do
          drop_what_the_parent_writes
          write(@lines.slice!(0..)) unless @lines.empty?
        end
        nil
      end

      private

      def place
        kind, rest = ENV[VARIABLE].to_s.split(":", 2)
        return if rest.nil? || rest.empty?

        case kind
        when "fd" then [:fd, rest.to_i] if rest.match?(/\A\d{1,9}\z/)
        when "path" then [:path, rest]
        end
      end

      def checked(name)
        text = name.to_s
        return text if text.match?(NAME)

        raise ArgumentError, "a metric's name has 1 to 100 characters and no control characters, not #{text[0, 120].inspect}"
      end

      def number(name, value)
        return value if value.is_a?(Integer)

        Float(value)
      rescue ArgumentError, TypeError
        raise ArgumentError, "the values of `#{name}` are numbers, not #{value.inspect[0, 80]}"
      end

      def finite(name, numbers)
        kept = numbers.select { |value| value.finite? && value.to_f.finite? }
        tell(:finite, "a value of `#{name}` is not a finite number and was left out") if kept.size < numbers.size
        kept
      end

      # The words about a metric, said with its first line only.
      def declaration(name, unit: nil, better: nil, take: nil)
        better &&= one_of("better", better.to_s, %w[lower higher])
        take &&= one_of("take", take.to_s, TAKES)
        words = { unit: unit&.to_s, better: better, take: take }.compact
        @lock.synchronize do
          drop_what_the_parent_writes
          fresh = words.reject { |word, text| @declared[[name.to_s, word]] == text }
          fresh.each { |word, text| @declared[[name.to_s, word]] = text }
          fresh
        end
      end

      def one_of(what, text, allowed)
        return text if allowed.include?(text)

        raise ArgumentError, "#{what}: is one of #{allowed.join(", ")}, not #{text.inspect}"
      end

      def add(members)
        line = JSON.generate(members) << "\n"
        @lock.synchronize do
          flush_at_exit
          drop_what_the_parent_writes
          @lines << line
          write(@lines.slice!(0..)) if @lines.size > BUFFER
        end
      end

      # Asked for anew after it ran: what runs at exit behind it, such as a test runner, may give numbers too.
      def flush_at_exit
        return if @at_exit

        @at_exit = true
        at_exit do
          @at_exit = false
          flush
        end
      end

      # A forked process inherits lines that its parent will write itself.
      def drop_what_the_parent_writes
        pid = Process.pid
        return if @pid == pid

        @lines.clear unless @pid.nil?
        @declared.clear
        @pid = pid
      end

      def write(text)
        kind, where = place
        case kind
        when :fd then IO.for_fd(where, "a", autoclose: false).tap { |io| io.sync = true }.write(text)
        when :path then File.write(where, text, mode: "a")
        end
      rescue SystemCallError, IOError, ArgumentError => e
        @broken = true
        tell(:broken, "numbers for assay could not be written to #{ENV[VARIABLE]}: #{e.message}. The program goes on, without giving any")
      end

      def tell(what, message)
        return if @told[what]

        @told[what] = true
        warn("assay: #{message}")
      rescue IOError, SystemCallError
        # Standard error is closed as well: there is nobody left to tell, and the program must go on.
      end
    end
  end
end
