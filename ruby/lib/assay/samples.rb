# frozen_string_literal: true

# The sample protocol, version 1 (docs/reference/sample-protocol.md), with which a Ruby program
# reports its own numbers to the `assay` that measures it.
#
# Lines are buffered and written at exit, or when the buffer is large, so that no system call falls
# into the measured code. Without the variable ASSAY_SAMPLES nothing is collected. It must never
# break the program that uses it: a descriptor that is closed or full is reported once on standard
# error, and then nothing more is written.

require "json"
require "monitor"
require_relative "real_clock"

module Assay
  # Reports values to the `assay` that measures this process; does nothing if there is none.
  #
  #   Assay::Samples.give("latency", 1.25, unit: "ms")
  #   Assay::Samples.give("rows", [512, 498], better: :higher, take: :sum)
  #   Assay::Samples.region("parse") { parse(text) }
  #
  # Read with `assay run --samples 'ruby program.rb'`, or a single metric with `--metric latency`.
  module Samples
    # Environment variable by which `assay` announces that it is listening.
    VARIABLE = "ASSAY_SAMPLES"
    # Ways to combine the values of one run.
    TAKES = %w[first last sum mean median min max count].freeze
    # Maximum number of values per line: a line must be shorter than 1 MiB.
    VALUES_PER_LINE = 4096
    # Number of buffered characters at which they are written.
    BUFFER = 256 * 1024

    NAME = /\A[^[:cntrl:]]{1,100}\z/
    private_constant :NAME

    @lock = Monitor.new
    @lines = +""
    @declared = {}
    @told = {}
    @broken = false

    class << self
      # Returns true if an `assay` is listening. Programs need not check; it saves computing values
      # that are not used.
      def wanted? = !@broken && !place.nil?

      # Reports one value, or an Array of values, of the metric `name`.
      #
      # unit:: of all values of this metric, such as "ms" or "B"; a plain number without it
      # better:: :lower (default) or :higher
      # take:: how several values of a run are combined: :first, :last, :sum, :mean, :median
      #        (default), :min, :max, :count
      #
      # Raises ArgumentError for invalid arguments: a value that is not a number, a name of more
      # than 100 characters. NaN and infinities cannot be represented in the protocol: they are
      # skipped, with a warning the first time.
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

      # Runs the block, reports its wall time as one value of the region `name`, and returns the
      # block's value. Exceptions propagate, and the time is still reported. Regions of a run are
      # summed unless `take` is given.
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

      # Writes the buffered lines. Automatic at exit; needed before `exec`, `exit!` and `abort` of
      # the process.
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

      # The attributes of a metric, sent only with its first line.
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

      # Registered again after it ran, since exit handlers that run later, such as a test runner's,
      # may also report values.
      def flush_at_exit
        return if @at_exit

        @at_exit = true
        at_exit do
          @at_exit = false
          flush
        end
      end

      # A forked process inherits buffered lines that its parent will write itself.
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
        # Standard error is closed as well; the program must go on.
      end
    end
  end
end
