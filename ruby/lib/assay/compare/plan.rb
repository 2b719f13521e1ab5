# frozen_string_literal: true

# What is decided before the first block: how long, how sure, and which difference matters. Only words and numbers; nothing is measured.

module Assay
  module Compare
    # The plan of a comparison.
    #
    # time::       seconds that each side is measured at most; it ends sooner when the answer is clear (5)
    # warmup::     seconds that each side runs beforehand, unmeasured (0.25)
    # threshold::  smallest difference that matters: "1%", 0.01, or an amount of time for one iteration such as "50ns" ("1%")
    # confidence:: how sure the verdict must be, a share or a percentage ("95%")
    # primary::    what decides: "wall", or "cpu", the process's CPU time, where other programs keep the machine busy, or "auto": CPU time if
    #              no side waits for more than 1 % of its time, wall time otherwise ("wall")
    # seed::       of the order within blocks; a new one unless given
    class Plan
      UNITS = { "ns" => 1e-9, "us" => 1e-6, "µs" => 1e-6, "ms" => 1e-3, "s" => 1.0 }.freeze
      # Level of the interval at every look, for a confidence of 95 %; in proportion for another. It is the product's own
      # (docs/concepts/deciding.md): it allows to look after any block and to stop at any of them.
      LOOK_LEVEL = 0.002
      # The level holds for runs of up to so many blocks.
      MOST_BLOCKS = 1024
      # Fewer blocks can't give an interval at that level.
      FEWEST_BLOCKS = 10
      # Where blocks last longer than so many seconds the first look is taken with the fewest, as `assay run` does.
      LONG_BLOCK = 0.5
      # Numbers of blocks to look after: from 24 on, since whether blocks depend on each other can't be tested with fewer, every second one
      # of those that the program has for looks (docs/concepts/deciding.md). There the interval is narrower than elsewhere; asking costs
      # a process.
      LOOKS = [*5.step(25, 2).map { |k| (FEWEST_BLOCKS * 2**(k / 4.0)).round }, MOST_BLOCKS].freeze
      private_constant :UNITS, :LOOK_LEVEL, :LOOKS

      # The number of blocks of the next look after so many.
      def self.look_after(blocks) = LOOKS.find { |look| look > blocks } || MOST_BLOCKS

      attr_reader :time, :warmup, :threshold, :confidence, :primary, :seed

      # Raises ArgumentError for what can't be meant.
      def initialize(time: 5, warmup: 0.25, threshold: "1%", confidence: "95%", primary: "wall", seed: nil)
        @time = seconds("time", time)
        @warmup = seconds("warmup", warmup)
        @threshold = Plan.amount("threshold", threshold)
        @confidence = Plan.share("confidence", confidence)
        sure = @confidence.between?(0.5, 0.9999)
        raise ArgumentError, "confidence: is from 50% to below 100%, such as \"95%\", not #{confidence.inspect}" unless sure

        @primary = primary.to_s
        raise ArgumentError, "primary: is \"wall\", \"cpu\" or \"auto\", not #{primary.inspect}" unless %w[wall cpu auto].include?(@primary)

        @seed = seed || Random.new_seed % (1 << 53)
        return if @seed.is_a?(Integer) && @seed.between?(0, (1 << 53) - 1)

        raise ArgumentError, "seed: is a whole number from 0 to 2^53 - 1, not #{seed.inspect}"
      end

      # As a sample file holds it; what decides is known when it is measured.
      def to_h(primary)
        {
          confidence: confidence, threshold: threshold,
          stop: { rule: "sequential", look_level: LOOK_LEVEL * (1 - confidence) / 0.05, max_blocks: MOST_BLOCKS },
          budget_seconds: time, warmup: 0, primary: primary, seed: seed
        }
      end

      # A share ("5%", 0.05) or an amount of time ("50ns"), as a sample file holds a threshold. Shares stay below `limit`.
      def self.amount(what, given, limit: 1)
        text = given.to_s.strip
        unit = text[/[a-zµ]+\z/]
        if unit
          factor = UNITS[unit]
          value = Float(text.delete_suffix(unit), exception: false)
          return { absolute: { value: value * factor, unit: "s" } } if factor && value && !value.negative? && value.finite?
        else
          value = share(what, given)
          bare = !given.to_s.strip.end_with?("%") && value >= 1 # Whoever writes 5 means 5 %, or 500 %.
          return { relative: value } if value < limit && !bare
        end
        raise ArgumentError, "#{what}: is a share such as \"5%\" or 0.05, or an amount such as \"50ns\" (#{UNITS.keys.join(", ")}), " \
                             "not #{given.inspect}"
      end

      # A share as a Float: "5%" and 0.05 are the same.
      def self.share(what, given)
        text = given.to_s.strip
        value = text.end_with?("%") ? Float(text.chomp("%"), exception: false)&./(100) : Float(text, exception: false)
        return value if value && value.finite? && !value.negative?

        raise ArgumentError, "#{what}: is a share such as \"5%\" or 0.05, not #{given.inspect}"
      end

      private

      def seconds(what, given)
        return given.to_f if given.is_a?(Numeric) && given.real? && given.to_f.finite? && given >= 0

        raise ArgumentError, "#{what}: is a number of seconds, not #{given.inspect}"
      end
    end
  end
end
