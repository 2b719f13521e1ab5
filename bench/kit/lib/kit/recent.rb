# frozen_string_literal: true

module Kit
  # Keeps the most recently used entries, and discards the rest.
  class Recent
    attr_reader :hits, :misses

    def initialize(limit)
      raise ArgumentError, "there must be room for one" if limit < 1

      @limit = limit
      @kept = {}
      @hits = @misses = 0
    end

    def [](key)
      unless @kept.key?(key)
        @misses += 1
        return
      end
      @hits += 1
      @kept[key] = @kept.delete(key)
    end

    def []=(key, value)
      @kept.delete(key)
      @kept[key] = value
      @kept.shift while @kept.size > @limit
    end

    def fetch(key)
      return self[key] if @kept.key?(key)

      @misses += 1
      self[key] = yield(key)
    end

    def keys
      @kept.keys.reverse
    end

    def size
      @kept.size
    end

    def share
      asked = @hits + @misses
      asked.zero? ? 0.0 : @hits.fdiv(asked)
    end

    def clear
      @kept.clear
      @hits = @misses = 0
      self
    end
  end
end
