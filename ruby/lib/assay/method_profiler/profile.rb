# frozen_string_literal: true

# The result of a profile: a row for each name, with the profiler's own cost subtracted and stated. It must not measure.

require_relative "../plain"

module Assay
  module MethodProfiler
    # The result of a profile: the Hash of the article, with methods for what a Hash has no place for.
    #
    #   profile                           # => {total_duration: 0.21, sql: {duration: 0.111, calls: 12}}
    #   profile[:sql]                     # => {duration: 0.111, calls: 12}
    #   profile.dig(:sql, :calls)         # => 12
    #   profile.to_json                   # => {"total_duration":0.21,"sql":{"duration":0.111,"calls":12}}
    #   profile => {sql: {calls:}}        # calls is 12 afterwards
    #   profile.rows[:sql].errors         # => 1
    #   puts profile                      # a table
    #
    # Names without a call are absent. The members `exclusive:` and `allocations:` are optional, and `errors:` appears if there were any.
    class Profile < Hash
      # Where things are in the recorder's rows.
      ID, CALLS, OUTERMOST, OPEN, ERRORS, OUTERMOST_ERRORS, NS, NESTED, EXCLUSIVE_NS, CHILDREN, ALLOCATIONS = *0..10
      private_constant :ID, :CALLS, :OUTERMOST, :OPEN, :ERRORS, :OUTERMOST_ERRORS, :NESTED, :EXCLUSIVE_NS, :CHILDREN, :ALLOCATIONS

      # One name. Durations are seconds on the scale of CLOCK_MONOTONIC, the own cost subtracted.
      #
      # calls::        how often its methods were called; calls within calls of the same name too, unless patched with `nested: false`
      # outermost::    those of them that were not within another call of the same name
      # duration::     time in the outermost calls, with everything that they called
      # exclusive::    the same without other patched methods that they called; nil unless asked for
      # allocations::  objects made by the whole process during the outermost calls; nil unless asked for
      # errors::       calls that ended by an exception. `throw` (by which Timeout interrupts), `break` and Thread#kill are none
      # open::         calls that had not ended when the profile stopped; their time until then is in `duration`
      # raw_duration:: `duration` as measured, with the own cost
      Row = Struct.new(:name, :calls, :outermost, :duration, :exclusive, :allocations, :errors, :open, :raw_duration) { include Plain }

      # What the profiler itself cost, as calibrated in this process, in seconds.
      #
      # per_call::   for each patched call
      # total::      for all of them: so much of total_duration is the profiler's
      # subtracted:: per call, from the duration that was measured: the part of `per_call` between the two readings of the clock
      # recorder::   :native or :ruby
      # clock::      :os, or :counter for the processor's time stamp counter, where Linux itself keeps time by it
      Overhead = Struct.new(:per_call, :total, :subtracted, :recorder, :clock, keyword_init: true) { include Plain }

      # duration:: in ns; records:: as Session#finish gives them; cost:: a Calibration::Cost
      def initialize(duration, records, cost)
        super()
        # In one variable, since those of a Hash are slow; rows are made when they are asked for, since most programs read the Hash.
        @measured = [self[:total_duration] = duration / 1e9, records, cost]
        records.each { |record| self[Patches.row(record[ID])] = brief(record, cost) }
      end

      # The result of the block of MethodProfiler.profile.
      attr_accessor :value

      # Seconds from start to stop, as measured; `overhead` has the part of it that is the profiler's.
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

      # Also where the program has not loaded `json`.
      def to_json(*arguments)
        require "json"
        to_h.to_json(*arguments)
      end

      # Psych (YAML) asks for this.
      def encode_with(coder) = coder.represent_map(nil, to_h)

      # All but the result of the block, which may be anything.
      def marshal_dump = [to_h, total_duration, rows, overhead]

      def marshal_load(dumped)
        contents, *@measured = dumped
        replace(contents)
      end

      # A table for people.
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

      # Without what lies between the readings of the clock of each call, and what its patched callees cost around theirs.
      def exclusive(record, cost)
        less(record[EXCLUSIVE_NS], record[CALLS] * cost.inside + record[CHILDREN] * [cost.per_call - cost.inside, 0].max)
      end

      # Seconds. The cost is an estimate: what would be below nothing is nothing.
      def less(ns, cost) = [ns - cost, 0].max / 1e9
    end
  end
end
