# frozen_string_literal: true

# The program's sentences, as they read in a library: with the library's arguments in place of the program's options.

module Assay
  module Compare
    # Texts of the program.
    module Words
      # Options that are arguments as well. Lines of a screen may break within an option.
      OPTION = /--(threshold|confidence|primary|warmup|seed)(?:(\s+)(\d[^\s;)]*[^\s;).,]|\d|cpu|wall|auto))?/
      TIME = /--time(?:(\s+)(\d+)(s|min))?/
      private_constant :OPTION, :TIME

      # The text. The program's time is that of all sides together, an argument's that of each.
      def self.of(text, sides = 1)
        text = text.gsub(TIME) do
          next "time: SECONDS" unless $2

          "time:#{$1}#{($2.to_i * ($3 == "min" ? 60 : 1)).fdiv(sides).ceil}"
        end
        text.gsub(OPTION) { $3 ? "#{$1}:#{$2}#{$3.match?(/\A\d+\z/) ? $3 : $3.inspect}" : "#{$1}:" }
      end
    end
    private_constant :Words
  end
end
