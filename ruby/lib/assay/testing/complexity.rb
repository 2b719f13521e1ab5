# frozen_string_literal: true

# Determines how the time of a block grows with the size of its input. It is measured at every size,
# in blocks; the exponent of the growth and its interval are computed by the `assay` program, as for
# a scan of `assay run -P` (docs/guides/scans.md). Nothing is claimed beyond the measured sizes.

require_relative "outcome"

module Assay
  module Testing
    # A question about growth: is it no faster than that of a model?
    class Complexity
      MODELS = {
        constant: ->(_n) { 1.0 },
        logarithmic: ->(n) { Math.log(n) },
        linear: ->(n) { n },
        linearithmic: ->(n) { n * Math.log(n) },
        quadratic: ->(n) { n**2 },
        cubic: ->(n) { n**3 }
      }.freeze
      # Default amount by which the exponent may exceed the model's: caches make a linear walk grow
      # like n^1.1, and the next model is farther away.
      TOLERANCE = 0.25
      FEWEST_SIZES = 3
      private_constant :TOLERANCE, :FEWEST_SIZES

      # model:: one of MODELS, or something to call that returns the model's value for a size
      # sizes:: three or more different sizes, 1 or larger (2 or larger for models with a logarithm)
      # setup:: creates the input of a size, once and untimed; the block is then called with the
      #         input, otherwise with the size
      def initialize(model, sizes, setup: nil, tolerance: TOLERANCE, time: 2, warmup: 0.02, primary: "auto", **options, &block)
        raise ArgumentError, "assert_complexity takes a block" if block.nil?
        raise ArgumentError, "tolerance: is a number, 0 or more, not #{tolerance.inspect}" unless tolerance.is_a?(Numeric) && tolerance >= 0

        @name, @model = model.respond_to?(:call) ? ["the model", model] : [model.to_s, named(model)]
        @sizes = checked_sizes(sizes)
        @bound = slope(@sizes) + tolerance
        @tolerance = tolerance
        @sides = @sizes.map { |size| side(size, setup, block) }
        @plan = Compare::Plan.new(time: time, warmup: warmup, primary: primary, **options)
      end

      # The outcome of the assertion that it grows no faster than the model.
      def outcome
        Binary.path
        found = nil
        @experiment = Compare::Experiment.new(@sides, @plan, scan: "the block {n}")
        @experiment.run do |analysis|
          found = judge(analysis["curves"].first, @experiment.recording)
          found.kind != :inconclusive
        end
        found
      end

      private

      # If the growth accelerates, a single power law would be too favorable: then the larger sizes
      # decide.
      def judge(curve, recording)
        verdict = held(curve, @bound, @sizes)
        return verdict if verdict.kind == :fail || !bends_up?(curve) || @sizes.size <= FEWEST_SIZES

        upper = (@sizes.size - [FEWEST_SIZES, (@sizes.size + 1) / 2].max...@sizes.size).to_a
        sizes = @sizes.values_at(*upper)
        part = recording.only(upper).with_file { |file| Binary.analysis(file) }["curves"].first
        held(part, slope(sizes) + @tolerance, sizes)
      end

      def bends_up?(curve) = curve["curved"] && curve["steps"].last > curve["steps"].first

      def held(curve, bound, sizes)
        interval = Compare::Interval.new(curve["exponent"], *curve["exponent_interval"]&.values_at("lower", "upper"))
        if interval.upper.nil?
          return Outcome.new(:inconclusive, "nothing is known of the growth: #{curve["reason"] || "too few blocks for an interval"}")
        end

        said = format("from n = %s to %s the time grows like n^%.2f [%.2f … %.2f]", sizes.first, sizes.last, *interval.to_a)
        limit = format("%s is n^%.2f there, and n^%.2f is allowed", @name, bound - @tolerance, bound)
        return Outcome.new(:pass, said) if interval.below?(bound)
        return Outcome.new(:fail, "#{said}: #{limit}") if interval.above?(bound)

        Outcome.new(:inconclusive, "#{said}: #{limit}; not settled after #{@plan.time} s for each size (#{Outcome.advice(@experiment)})")
      end

      # The exponent of the model itself over these sizes: a least-squares slope, as computed by the
      # program for the times.
      def slope(sizes)
        xs = sizes.map { |size| Math.log(size) }
        ys = sizes.map { |size| Math.log(positive(size)) }
        mean = xs.sum / xs.size
        xs.zip(ys).sum { |x, y| (x - mean) * y } / xs.sum { |x| (x - mean)**2 }
      end

      def positive(size)
        value = @model.call(size)
        return value if value.is_a?(Numeric) && value.real? && value.positive?

        raise ArgumentError, "#{@name} is #{value.inspect} at n = #{size}; it must be positive: leave that size out"
      end

      def named(model)
        MODELS.fetch(model) { raise ArgumentError, "growth is one of #{MODELS.keys.map(&:inspect).join(", ")}, not #{model.inspect}" }
      end

      def checked_sizes(sizes)
        list = sizes.to_a.uniq
        possible = list.all? { |size| size.is_a?(Numeric) && size.real? && size.positive? && size.to_f.finite? }
        return list.sort if list.size >= FEWEST_SIZES && possible

        raise ArgumentError, "sizes: three or more different positive numbers, such as [1_000, 2_000, 4_000, 8_000], not #{list.inspect[0, 120]}"
      end

      def side(size, setup, block)
        input = setup ? setup.call(size) : size
        Compare::Side.new("n=#{size}", parameters: { "n" => size }) { block.call(input) }
      end
    end
  end
end
