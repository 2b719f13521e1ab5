# frozen_string_literal: true

# What the program says about one side against the reference, with names instead of keys. It reads an answer; it decides nothing.

require_relative "../plain"
require_relative "words"

module Assay
  module Compare
    # An estimate with its interval; `lower` and `upper` are nil where too little is known for an interval. That which decides (the ratio,
    # unless the threshold is an amount) has one wherever the verdict is not "inconclusive". The other may have none all the same: where the
    # machine changed its speed meanwhile, a steady ratio is no steady amount, and the other way round.
    Interval = Struct.new(:estimate, :lower, :upper) do
      include Plain

      # True when the interval lies wholly at or below the bound.
      def below?(bound) = !upper.nil? && upper <= bound

      # True when the interval lies wholly above the bound.
      def above?(bound) = !lower.nil? && lower > bound
    end

    # One comparison of an analysis (docs/reference/json.md).
    class Comparison
      include Plain

      # The fields as the program gives them.
      attr_reader :to_h

      def initialize(fields)
        @to_h = fields
      end

      # Name of the side, and of the reference that it is held against.
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

      # True when measuring on would not change what is said: the rule by which `assay run` stops.
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
