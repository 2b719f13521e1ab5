# frozen_string_literal: true

module Kit
  # The range from one number to another, excluding the end.
  Interval = Struct.new(:from, :to) do
    def self.merged(all)
      all.reject(&:empty?).sort_by(&:from).each_with_object([]) do |own, found|
        if found.any? && found[-1].to >= own.from
          found[-1] = new(found[-1].from, [found[-1].to, own.to].max)
        else
          found << own
        end
      end
    end

    def empty?
      to <= from
    end

    def length
      empty? ? 0 : to - from
    end

    def cover?(number)
      from <= number && number < to
    end

    def overlap?(other)
      from < other.to && other.from < to
    end

    def &(other)
      self.class.new([from, other.from].max, [to, other.to].min)
    end

    def -(other)
      return [self] unless overlap?(other)

      [self.class.new(from, other.from), self.class.new(other.to, to)].reject(&:empty?)
    end

    def to_s
      "[#{from}, #{to})"
    end
  end
end
