# frozen_string_literal: true

# Adapts the program's sentences for the library, replacing the program's options by the library's
# arguments.

module Assay
  module Compare
    # Texts of the program.
    module Words
      # Options that also exist as arguments. Wrapped output may break within an option.
      OPTION = /--(threshold|confidence|primary|warmup|seed)(?:(\s+)(\d[^\s;)]*[^\s;).,]|\d|cpu|wall|auto))?/
      TIME = /--time(?:(\s+)(\d+)(s|min))?/
      private_constant :OPTION, :TIME

      # Returns the adapted text. The program's time limit covers all sides together, the argument's
      # each side.
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
