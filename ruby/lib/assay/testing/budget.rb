# frozen_string_literal: true

# Limits for a test: SQL statements, log lines, requests, programs, seconds of sleep, objects. The
# counts are exact, and the `assay` program is not needed. Faked or stubbed calls do not happen, and
# are not counted. The intercepted methods are in budget/points.rb.

require_relative "outcome"
require_relative "budget/points"
require_relative "budget/shape"

module Assay
  module Testing
    # Counts the operations of a block or a test. Everything in this process counts, in any thread.
    class Budget
      # A limit: the kind of operation, and its name in plural and singular.
      Limit = Struct.new(:kind, :many, :one)

      LIMITS = {
        max_sql: Limit.new(:sql, "SQL statements", "SQL statement"),
        max_redis: Limit.new(:redis, "Redis commands", "Redis command"),
        max_log_lines: Limit.new(:log_lines, "lines of log", "line of log"),
        max_http: Limit.new(:http, "HTTP requests", "HTTP request"),
        max_processes: Limit.new(:processes, "started programs", "started program"),
        max_sleep: Limit.new(:sleep, "seconds of sleep", "second of sleep"),
        max_allocations: Limit.new(:allocations, "objects", "object")
      }.freeze
      # The rows of the profiler for the same operations.
      ROWS = { sql: :sql, redis: :redis, http: :net }.freeze
      # Maximum number of statements, lines or programs in a message, and of different ones that are
      # counted separately.
      LISTED = 8
      TOLD_APART = 10_000
      OBJECTS = GC.method(:stat)
      private_constant :Limit, :LIMITS, :ROWS, :LISTED, :TOLD_APART, :OBJECTS

      # limits:: `max_sql: 10`, `max_redis:`, `max_log_lines:`, `max_http:`, `max_processes:`, `max_sleep:` (seconds), `max_allocations:`
      # uncounted:: :ok to allow loaded libraries whose statements or requests cannot be counted;
      #             otherwise they are an error
      def initialize(uncounted: nil, **limits)
        raise ArgumentError, "uncounted: is :ok or left out, not #{uncounted.inspect}" unless [nil, :ok].include?(uncounted)

        @uncounted = uncounted
        raise ArgumentError, "a budget has at least one limit: #{LIMITS.keys.join(", ")}" if limits.empty?

        limits.each do |name, most|
          raise ArgumentError, "#{name} is no limit of a budget: #{LIMITS.keys.join(", ")}" unless LIMITS.key?(name)
          next if name == :max_sleep ? most.is_a?(Numeric) && !most.negative? : most.is_a?(Integer) && !most.negative?

          raise ArgumentError, "#{name} is #{name == :max_sleep ? "a number of seconds" : "a whole number"}, not #{most.inspect}"
        end
        @limits = limits
        @counts = Hash.new(0)
        @shapes = Hash.new { |shapes, kind| shapes[kind] = Hash.new(0) }
        @lock = Mutex.new
        @watches = []
      end

      # The outcome of the assertion that the block stays within the budget. Exceptions of the block
      # propagate.
      def outcome
        raise ArgumentError, "assert_budget takes a block" unless block_given?

        start
        begin
          yield
        ensure
          stop
        end
        result
      end

      # Starts counting. Raises CannotCount if a library is loaded that would not be counted.
      def start
        check_countable
        @loaded = loaded
        @watches = Points.of(@limits.keys.map { |name| LIMITS[name].kind }, self)
        @watches.each(&:put)
        @objects = OBJECTS.call(:total_allocated_objects)
        self
      end

      # Stops counting. Idempotent.
      def stop
        return unless @objects

        @counts[:allocations] = OBJECTS.call(:total_allocated_objects) - @objects
        @objects = nil
        @watches.each(&:remove)
      end

      # The outcome, after stopping.
      def result
        late = loaded - @loaded
        unless late.empty? || @uncounted
          return Outcome.new(:fail, "#{late.join(", ")} was loaded while the budget counted, so that what it did is not counted: load it before")
        end

        over = @limits.reject { |name, most| @counts[LIMITS[name].kind] <= most }
        return Outcome.new(:pass, "within the budget") if over.empty?

        Outcome.new(:fail, over.map { |name, most| said(LIMITS[name], most) }.join("\n"))
      end

      # Called by the points: adds `amount` of a kind; `text` describes the operation.
      def add(kind, amount, text)
        @lock.synchronize do
          @counts[kind] += amount
          shapes = @shapes[kind]
          shape = Shape.of(kind, text)
          shapes[shape] += amount if shapes.key?(shape) || shapes.size < TOLD_APART
        end
      rescue ThreadError # In a signal's handler.
        @counts[kind] += amount
      end

      private

      def kinds = @limits.keys.map { |name| LIMITS[name].kind } & ROWS.keys
      def loaded = kinds.flat_map { |kind| Patches.loaded(kind) }

      # Raises CannotCount if a loaded library is not counted.
      def check_countable
        return if @uncounted

        kinds.each do |kind|
          library, reason = Patches.uncounted(kind, ROWS[kind]).first
          next if library.nil?

          limit = @limits.keys.find { |name| LIMITS[name].kind == kind }
          raise CannotCount, "#{limit}: #{LIMITS[limit].many} can't be counted: #{library} is loaded, and #{reason}. " \
                             "`uncounted: :ok` counts the others alone"
        end
      end

      def said(limit, most)
        count = @counts[limit.kind]
        lines = @shapes[limit.kind].sort_by { |shape, times| [-times, shape] }.first(LISTED)
        lines.map! { |shape, times| "\n  #{number(times)} × #{shape}" }
        "#{number(count)} #{count == 1 ? limit.one : limit.many}, at most #{number(most)} #{most == 1 ? "was" : "were"} allowed#{lines.join}"
      end

      def number(value) = value.is_a?(Integer) ? value.to_s : format("%.3g", value)
    end
  end
end
