# frozen_string_literal: true

# What stands in the block of Assay.compare: the words of benchmark-ips, so that such a script needs no change. It collects; it
# measures nothing.

module Assay
  module Compare
    # The `x` of `Assay.compare { |x| … }`.
    class Job
      attr_reader :sides, :quiet, :saved, :json

      def initialize(**options)
        @sides = []
        @options = {}
        @quiet = false
        config(**options)
      end

      # Adds a side; the first is the one that all others are compared with. Its forms are those of Side.
      def report(name, text = nil, &block)
        side = Side.new(name, text, &block)
        twice = @sides.any? { |other| other.name == side.name }
        raise ArgumentError, "two reports are called `#{side.name}`: names tell them apart" if twice

        @sides << side
        self
      end

      # Sets how to measure: `time`, `warmup`, `threshold`, `confidence`, `primary`, `seed` (see Plan), and `quiet: true` to print nothing.
      def config(quiet: @quiet, **options)
        known = Plan.instance_method(:initialize).parameters.map(&:last)
        strange = options.keys - known
        raise ArgumentError, "there is no setting #{strange.join(", ")}: there are #{[*known, :quiet].join(", ")}" unless strange.empty?

        @quiet = quiet
        @options.merge!(options)
        self
      end

      # As `config(time: …)` and `config(warmup: …)`.
      def time=(seconds)
        config(time: seconds)
      end

      def warmup=(seconds)
        config(warmup: seconds)
      end

      # Writes the samples to this file, for `assay compare FILE`, `--report`, and later.
      def save!(file)
        @saved = file
        self
      end

      # Writes the analysis as JSON to this file.
      def json!(file)
        @json = file
        self
      end

      # Comparing is what is done anyway; the call stands in every script that was written for benchmark-ips.
      def compare!(**) = self

      # The plan.
      def plan = Plan.new(**@options)
    end
  end
end
