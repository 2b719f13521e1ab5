# frozen_string_literal: true

# What came out: a row for each name, the own cost subtracted, and said. It must not measure.

module Assay
  module MethodProfiler
    # The result of a profile.
    #
    #   profile[:sql]                     # => {duration: 0.111, calls: 12}
    #   profile.to_h                      # => {total_duration: 0.21, sql: {duration: 0.111, calls: 12}}
    #   profile.rows[:sql].errors         # => 1
    #   puts profile                      # a table
    class Profile
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
      Row = Struct.new(:name, :calls, :outermost, :duration, :exclusive, :allocations, :errors, :open, :raw_duration)

      # What the profiler itself cost, as calibrated in this process, in seconds.
      #
      # per_call::   for each patched call
      # total::      for all of them: so much of total_duration is the profiler's
      # subtracted:: per call, from the duration that was measured: the part of `per_call` between the two readings of the clock
      # recorder::   :native or :ruby
      # clock::      :os, or :counter for the processor's time stamp counter, where Linux itself keeps time by it
      Overhead = Struct.new(:per_call, :total, :subtracted, :recorder, :clock, keyword_init: true)

      # Seconds from start to stop, as measured; by how much the profiler itself made it longer is in `overhead`.
      attr_reader :total_duration
      # What the block of MethodProfiler.profile gave.
      attr_accessor :value

      # duration:: in ns; records:: as Session#finish gives them; cost:: a Calibration::Cost
      def initialize(duration, records, cost, exclusive:, allocations:)
        @total_duration = duration / 1e9
        @records = records
        @cost = cost
        @exclusive = exclusive
        @allocations = allocations
      end

      # {name => Row}, in the order in which the names were patched.
      def rows = @rows ||= @records.to_h { |record| [Patches.row(record[ID]), row(record)] }

      # An Overhead.
      def overhead
        @overhead ||= Overhead.new(per_call: @cost.per_call / 1e9, total: @records.sum { |record| record[CALLS] } * @cost.per_call / 1e9,
                                   subtracted: @cost.inside / 1e9, recorder: Recorder::KIND, clock: Recorder.clock)
      end

      # {total_duration:, name: {duration:, calls:}}. What was asked for is there too: exclusive:,
      # allocations:, and errors: where there were any.
      def to_h
        {total_duration: total_duration, **rows.transform_values { |row| brief(row) }}
      end

      # total_duration, or what `to_h` has under this name; nil where nothing was called.
      def [](name) = name == :total_duration ? total_duration : rows[name] && brief(rows[name])

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

      def inspect = "#<#{self.class} #{to_h}>"

      private

      def row(record)
        name = Patches.row(record[ID])
        nested = Patches.nested?(name)
        Row.new(name, record[nested ? CALLS : OUTERMOST], record[OUTERMOST],
                less(record[NS], record[OUTERMOST] * @cost.inside + record[NESTED] * @cost.per_call),
                @exclusive ? less(record[EXCLUSIVE_NS], exclusive_cost(record)) : nil, @allocations ? record[ALLOCATIONS] : nil,
                record[nested ? ERRORS : OUTERMOST_ERRORS], record[OPEN], record[NS] / 1e9)
      end

      # What lies between the readings of the clock of each call, and what its patched callees cost around theirs.
      def exclusive_cost(record)
        record[CALLS] * @cost.inside + record[CHILDREN] * [@cost.per_call - @cost.inside, 0].max
      end

      # Seconds. The cost is an estimate: what would be below nothing is nothing.
      def less(ns, cost) = [ns - cost, 0].max / 1e9

      def brief(row)
        brief = {duration: row.duration, calls: row.calls}
        brief[:exclusive] = row.exclusive if row.exclusive
        brief[:allocations] = row.allocations if row.allocations
        brief[:errors] = row.errors if row.errors.positive?
        brief
      end
    end
  end
end
