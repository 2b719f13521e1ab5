# frozen_string_literal: true

module Kit
  # Words and numbers for people.
  module Words
    ROMAN = {1000 => "M", 900 => "CM", 500 => "D", 400 => "CD", 100 => "C", 90 => "XC", 50 => "L", 40 => "XL", 10 => "X", 9 => "IX", 5 => "V", 4 => "IV", 1 => "I"}.freeze
    UNITS = %w[B KiB MiB GiB].freeze

    class << self
      def roman(number)
        raise ArgumentError, "from 1 to 3999" unless number.between?(1, 3999)

        ROMAN.reduce("") do |text, (value, sign)|
          times, number = number.divmod(value)
          text + sign * times
        end
      end

      def ordinal(number)
        rest = number.abs % 100
        return "#{number}th" if rest > 10 && rest < 14

        number.to_s + {1 => "st", 2 => "nd", 3 => "rd"}.fetch(rest % 10, "th")
      end

      def size(bytes)
        unit = 0
        left = bytes.to_f
        while left >= 1024 && unit < UNITS.size - 1
          left /= 1024
          unit += 1
        end
        unit.zero? ? "#{bytes} B" : format("%.1f %s", left, UNITS[unit])
      end

      def list(words, last = "and")
        return words.join(" #{last} ") if words.size < 3

        "#{words[0..-2].join(", ")}, #{last} #{words[-1]}"
      end

      def distance(one, other)
        before = (0..other.size).to_a
        one.each_char.with_index(1) do |char, row|
          now = [row]
          other.each_char.with_index(1) do |own, column|
            same = before[column - 1] + (char == own ? 0 : 1)
            now << [same, before[column] + 1, now[-1] + 1].min
          end
          before = now
        end
        before[-1]
      end

      def camel(text)
        first, *others = text.split("_")
        [first, *others.map(&:capitalize)].join
      end

      def snake(text)
        text.gsub(/([a-z\d])([A-Z])/) { "#{$1}_#{$2}" }.downcase
      end

      def duration(seconds)
        hours, rest = seconds.divmod(3600)
        minutes, rest = rest.divmod(60)
        return "#{rest} s" if hours.zero? && minutes.zero?
        return "#{minutes} min #{rest} s" if hours.zero?

        "#{hours} h #{minutes} min"
      end
    end
  end
end
