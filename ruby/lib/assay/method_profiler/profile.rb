# frozen_string_literal: true

# The result of a profile: a row for each name, with the profiler's own cost subtracted and
# reported. It must not measure.

require_relative "../plain"

module Assay
  module MethodProfiler
    # The result of a profile: a Hash of names and totals, with methods for everything beyond that.
    #
    #   profile                           # => {total_duration: 0.21, sql: {duration: 0.111, calls: 12}}
    #   profile[:sql]                     # => {duration: 0.111, calls: 12}
    #   profile.dig(:sql, :calls)         # => 12
    #   profile.to_json                   # => {"total_duration":0.21,"sql":{"duration":0.111,"calls":12}}
    #   profile => {sql: {calls:}}        # calls is 12 afterwards
    #   profile.rows[:sql].errors         # => 1
    #   puts profile                      # a table
    #
    # Names without calls are absent. The members `exclusive:` and `allocations:` are optional;
    # `errors:` is present if there were any.
    class Profile < Hash
      # Indexes into the recorder's rows.
      ID, CALLS, OUTERMOST, OPEN, ERRORS, OUTERMOST_ERRORS, NS, NESTED, EXCLUSIVE_NS, CHILDREN, ALLOCATIONS = *0..10
      private_constant :ID, :CALLS, :OUTERMOST, :OPEN, :ERRORS, :OUTERMOST_ERRORS, :NESTED, :EXCLUSIVE_NS, :CHILDREN, :ALLOCATIONS

      # The row of one name. Durations are in seconds by CLOCK_MONOTONIC, without the profiler's own
      # cost.
      #
      # calls::        number of calls of its methods, including calls within calls of the same name
      #                unless patched with `nested: false`
      # outermost::    those not within another call of the same name
      # duration::     time in the outermost calls, including everything they called
      # exclusive::    the same without other patched methods that they called; nil unless requested
      # allocations::  objects allocated by the whole process during the outermost calls; nil unless
      #                requested
      # errors::       calls that ended by an exception. `throw` (with which Timeout interrupts),
      #                `break` and Thread#kill do not count
      # open::         calls that had not ended when the profile stopped; their time until then is
      #                in `duration`
      # raw_duration:: `duration` as measured, including the profiler's own cost
      Row = Struct.new(:name, :calls, :outermost, :duration, :exclusive, :allocations, :errors, :open, :raw_duration) { include Plain }

      # The profiler's own cost, as calibrated in this process, in seconds.
      #
      # per_call::   for each patched call
      # total::      for all of them: the profiler's part of total_duration
      # subtracted:: per call, from the measured duration: the part of `per_call` between the two
      #              clock readings
      # recorder::   :native or :ruby
      # clock::      :os, or :counter for the processor's time stamp counter, if Linux itself uses
      #              it as clock source
      Overhead = Struct.new(:per_call, :total, :subtracted, :recorder, :clock, keyword_init: true) { include Plain }

      # duration:: in ns; records:: as Session#finish gives them; cost:: a Calibration::Cost
      def initialize(duration, records, cost)
        super()
        # In a single variable, since a Hash's instance variables are slow; rows are created on
        # demand, since most programs read only the Hash.
        @measured = [self[:total_duration] = duration / 1e9, records, cost]
        records.each { |record| self[Patches.row(record[ID])] = brief(record, cost) }
      end

      # The result of the block of MethodProfiler.profile.
      attr_accessor :value

      # Seconds from start to stop, as measured; see `overhead` for the profiler's part.
      def total_duration = @measured[0]

      # {name => Row}, in the order in which the names were patched.
      def rows
        _, records, cost = @measured
        records.is_a?(Hash) ? records : records.to_h { |record| [Patches.row(record[ID]), row(record, cost)] }
      end

      # An Overhead.
      def overhead
        _, records, cost = @measured
        return cost if cost.is_a?(Overhead)

        Overhead.new(per_call: cost.per_call / 1e9, total: records.sum { |record| record[CALLS] } * cost.per_call / 1e9,
                     subtracted: cost.inside / 1e9, recorder: Recorder::KIND, clock: Recorder.clock)
      end

      # Works even if the program has not loaded `json`.
      def to_json(*arguments)
        require "json"
        to_h.to_json(*arguments)
      end

      # Called by Psych (YAML).
      def encode_with(coder) = coder.represent_map(nil, to_h)

      # Everything but the result of the block, which may be any object.
      def marshal_dump = [to_h, total_duration, rows, overhead]

      def marshal_load(dumped)
        contents, *@measured = dumped
        replace(contents)
      end

      # A human-readable table.
      def to_s
        width = [*rows.keys.map(&:size), 5].max
        lines = rows.values.sort_by { |row| -row.duration }.map do |row|
          extra = +""
          extra << format("  self %10.3f ms", row.exclusive * 1e3) if row.exclusive
          extra << format("  %8d %s", row.allocations, row.allocations == 1 ? "object" : "objects") if row.allocations
          extra << "  #{row.errors} failed" if row.errors.positive?
          extra << "  #{row.open} not ended" if row.open.positive?
          format("%-#{width}s  %10.3f ms  %7d %s%s", row.name, row.duration * 1e3, row.calls, row.calls == 1 ? "call" : "calls", extra)
        end
        lines.unshift(format("%-#{width}s  %10.3f ms", "total", total_duration * 1e3))
        lines << format("own cost: %.0f ns a call (%s recorder), %.3f ms in all; subtracted from each method's time, not from the total",
                        overhead.per_call * 1e9, overhead.recorder, overhead.total * 1e3)
        lines.join("\n")
      end

      private

      def row(record, cost)
        name = Patches.row(record[ID])
        nested = Patches.nested?(name)
        Row.new(name, record[nested ? CALLS : OUTERMOST], record[OUTERMOST], duration(record, cost), (exclusive(record, cost) if cost.exclusive),
                (record[ALLOCATIONS] if cost.allocations), record[nested ? ERRORS : OUTERMOST_ERRORS], record[OPEN], record[NS] / 1e9)
      end

      def brief(record, cost)
        nested = Patches.nested?(Patches.row(record[ID]))
        brief = {duration: duration(record, cost), calls: record[nested ? CALLS : OUTERMOST]}
        brief[:exclusive] = exclusive(record, cost) if cost.exclusive
        brief[:allocations] = record[ALLOCATIONS] if cost.allocations
        errors = record[nested ? ERRORS : OUTERMOST_ERRORS]
        brief[:errors] = errors if errors.positive?
        brief
      end

      def duration(record, cost) = less(record[NS], record[OUTERMOST] * cost.inside + record[NESTED] * cost.per_call)

      # Subtracts the cost between the clock readings of each call, and the cost of its patched
      # callees outside theirs.
      def exclusive(record, cost)
        less(record[EXCLUSIVE_NS], record[CALLS] * cost.inside + record[CHILDREN] * [cost.per_call - cost.inside, 0].max)
      end

      # In seconds. The cost is an estimate, so negative results become zero.
      def less(ns, cost) = [ns - cost, 0].max / 1e9
    end
  end
end
