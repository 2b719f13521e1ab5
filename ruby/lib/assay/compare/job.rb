# frozen_string_literal: true

# The configuration block of Assay.compare. It has the vocabulary of benchmark-ips, so such scripts
# run unchanged. Only collects; measures nothing.

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

      # Adds a side; the first one is the reference for all others. See Side for its forms.
      def report(name, text = nil, &block)
        side = Side.new(name, text, &block)
        twice = @sides.any? { |other| other.name == side.name }
        raise ArgumentError, "two reports are called `#{side.name}`: names tell them apart" if twice

        @sides << side
        self
      end

      # Sets options of the measurement: `time`, `warmup`, `threshold`, `confidence`, `primary`,
      # `seed` (see Plan), and `quiet: true` to print nothing.
      def config(quiet: @quiet, **options)
        known = Plan.instance_method(:initialize).parameters.map(&:last)
        strange = options.keys - known
        raise ArgumentError, "there is no setting #{strange.join(", ")}: there are #{[*known, :quiet].join(", ")}" unless strange.empty?

        @quiet = quiet
        @options.merge!(options)
        self
      end

      # Same as `config(time: …)` and `config(warmup: …)`.
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

      # Does nothing, since comparing is the default; scripts written for benchmark-ips call it.
      def compare!(**) = self

      # The plan.
      def plan = Plan.new(**@options)
    end
  end
end
