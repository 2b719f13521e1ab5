# frozen_string_literal: true

# The parameters fixed before the first block: time limit, confidence, and the smallest relevant
# difference. Measures nothing.

module Assay
  module Compare
    # The plan of a comparison.
    #
    # time::       maximum measuring time per side in seconds; ends earlier if the answer is clear
    #              (5)
    # warmup::     unmeasured warm-up time per side in seconds (0.25)
    # threshold::  smallest difference that matters: "1%", 0.01, or an amount of time per iteration
    #              such as "50ns" ("1%")
    # confidence:: confidence level of the verdict, a share or a percentage ("95%")
    # primary::    the deciding metric: "wall"; "cpu", the process's CPU time, for machines kept
    #              busy by other programs; or "auto", CPU time if no side waits for more than 1 % of
    #              its time, wall time otherwise ("wall")
    # seed::       seed of the order within blocks; random by default
    class Plan
      UNITS = { "ns" => 1e-9, "us" => 1e-6, "µs" => 1e-6, "ms" => 1e-3, "s" => 1.0 }.freeze
      # Level of the interval at each look for a confidence of 95 %, scaled for others. The program
      # uses the same (docs/concepts/deciding.md): it permits looking after any block and stopping
      # at any of them.
      LOOK_LEVEL = 0.002
      # Maximum number of blocks for which the level is valid.
      MOST_BLOCKS = 1024
      # Fewer blocks cannot give an interval at that level.
      FEWEST_BLOCKS = 10
      # If blocks take longer than this many seconds, the first look comes after the minimum number
      # of blocks, as in `assay run`.
      LONG_BLOCK = 0.5
      # Numbers of blocks after which to look. They start at 24, since independence of the blocks
      # cannot be tested with fewer, and are every second one of the program's own looks
      # (docs/concepts/deciding.md), where the interval is narrower than elsewhere; each look costs
      # a process.
      LOOKS = [*5.step(25, 2).map { |k| (FEWEST_BLOCKS * 2**(k / 4.0)).round }, MOST_BLOCKS].freeze
      private_constant :UNITS, :LOOK_LEVEL, :LOOKS

      # Returns the number of blocks of the next look after this many.
      def self.look_after(blocks) = LOOKS.find { |look| look > blocks } || MOST_BLOCKS

      attr_reader :time, :warmup, :threshold, :confidence, :primary, :seed

      # Raises ArgumentError for invalid options.
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

      # The plan as stored in a sample file; the deciding metric is only known after measuring.
      def to_h(primary)
        {
          confidence: confidence, threshold: threshold,
          stop: { rule: "sequential", look_level: LOOK_LEVEL * (1 - confidence) / 0.05, max_blocks: MOST_BLOCKS },
          budget_seconds: time, warmup: 0, primary: primary, seed: seed
        }
      end

      # Parses a share ("5%", 0.05) or an amount of time ("50ns") into the form used in sample
      # files. Shares must be below `limit`.
      def self.amount(what, given, limit: 1)
        text = given.to_s.strip
        unit = text[/[a-zµ]+\z/]
        if unit
          factor = UNITS[unit]
          value = Float(text.delete_suffix(unit), exception: false)
          return { absolute: { value: value * factor, unit: "s" } } if factor && value && !value.negative? && value.finite?
        else
          value = share(what, given)
          bare = !given.to_s.strip.end_with?("%") && value >= 1 # 5 may mean 5 % or 500 %.
          return { relative: value } if value < limit && !bare
        end
        raise ArgumentError, "#{what}: is a share such as \"5%\" or 0.05, or an amount such as \"50ns\" (#{UNITS.keys.join(", ")}), " \
                             "not #{given.inspect}"
      end

      # Parses a share into a Float: "5%" and 0.05 are the same.
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
