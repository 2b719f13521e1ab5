# frozen_string_literal: true

# The program's verdict on one side against the reference, with names instead of keys. Only reads an
# analysis; decides nothing.

require_relative "../plain"
require_relative "words"

module Assay
  module Compare
    # An estimate with its interval; `lower` and `upper` are nil if there is too little data for
    # one. The deciding quantity (the ratio, unless the threshold is an amount of time) has an
    # interval whenever the verdict is not "inconclusive". The other may lack one even then: if the
    # machine changed its speed during the measurement, a steady ratio does not imply a steady
    # difference, and vice versa.
    Interval = Struct.new(:estimate, :lower, :upper) do
      include Plain

      # Returns true if the whole interval is at or below the bound.
      def below?(bound) = !upper.nil? && upper <= bound

      # Returns true if the whole interval is above the bound.
      def above?(bound) = !lower.nil? && lower > bound
    end

    # One comparison of an analysis (docs/reference/json.md).
    class Comparison
      include Plain

      # The fields as returned by the program.
      attr_reader :to_h

      def initialize(fields)
        @to_h = fields
      end

      # Name of the side, and of the reference it is compared with.
      def of = to_h["of"]
      def against = to_h["against"]

      # "faster", "slower", "equivalent" or "inconclusive".
      def verdict = to_h["verdict"]

      # The verdict in words.
      def sentence = Words.of(to_h["sentence"])

      def faster? = verdict == "faster"
      def slower? = verdict == "slower"
      def equivalent? = verdict == "equivalent"
      def inconclusive? = verdict == "inconclusive"

      # Time of the side / time of the reference, an Interval; nil where a time is 0.
      def ratio = interval("ratio")

      # Time of the side − time of the reference in seconds per iteration, an Interval.
      def shift = interval("shift")

      # Returns true if further measuring would not change the verdict: the stopping rule of `assay
      # run`.
      def settled?
        return false if inconclusive? || %w[noticed too_strong].include?(to_h["dependence"])
        return true unless to_h["possibly_below_threshold"]

        found = interval(to_h["scale"])
        !to_h["threshold"].nil? && !found&.upper.nil? && found.upper - found.lower <= to_h["threshold"]
      end

      private

      def interval(scale)
        to_h[scale]&.then { |fields| Interval.new(*fields.values_at("estimate", "lower", "upper")) }
      end
    end
  end
end
