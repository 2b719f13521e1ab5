# frozen_string_literal: true

module Kit
  # Parses and evaluates arithmetic, with the usual precedence.
  class Calculator
    Wrong = Class.new(StandardError)
    RANKS = {"+" => 1, "-" => 1, "*" => 2, "/" => 2, "^" => 3}.freeze

    def self.value(text)
      new(text).value
    end

    def initialize(text)
      @tokens = tokens(text)
      @at = 0
    end

    def value
      found = sum(1)
      raise Wrong, "more after the end" if @at < @tokens.size

      found
    end

    private

    def tokens(text)
      found = text.scan(/\d+(?:\.\d+)?|[-+*\/^()]|\S/)
      strange = found.find { |token| !token.match?(/\A(?:\d|[-+*\/^()])/) }
      raise Wrong, "what is #{strange}" if strange

      found
    end

    def sum(least)
      left = factor
      while (rank = RANKS[@tokens[@at]]) && rank >= least
        sign = taken
        right = sum(sign == "^" ? rank : rank + 1)
        left = worked(sign, left, right)
      end
      left
    end

    def factor
      token = taken
      case token
      when "-" then -factor
      when "("
        inner = sum(1)
        raise Wrong, "a bracket is open" if taken != ")"

        inner
      when /\A\d/ then token.include?(".") ? token.to_f : token.to_i
      else raise Wrong, "a number is missing"
      end
    end

    def worked(sign, left, right)
      case sign
      when "+" then left + right
      when "-" then left - right
      when "*" then left * right
      when "^" then left**right
      else
        raise Wrong, "nothing can be divided by nothing" if right.zero?

        (left % right).zero? ? left / right : left.fdiv(right)
      end
    end

    def taken
      @at += 1
      @tokens[@at - 1]
    end
  end
end
