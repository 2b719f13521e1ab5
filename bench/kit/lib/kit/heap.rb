# frozen_string_literal: true

module Kit
  # Returns the smallest element first.
  class Heap
    include Enumerable

    def initialize(items = [])
      @items = []
      items.each { |item| push(item) }
    end

    def push(item)
      @items << item
      at = @items.size - 1
      while at.positive?
        above = (at - 1) / 2
        break if @items[above] <= @items[at]

        swap(above, at)
        at = above
      end
      self
    end
    alias << push

    def pop
      return if @items.empty?

      swap(0, @items.size - 1)
      least = @items.pop
      sink
      least
    end

    def peek
      @items[0]
    end

    def size
      @items.size
    end

    def empty?
      @items.empty?
    end

    def each
      return to_enum(:each) { size } unless block_given?

      copy = Heap.new(@items)
      yield copy.pop until copy.empty?
      self
    end

    private

    def sink
      at = 0
      loop do
        below = [2 * at + 1, 2 * at + 2].select { |child| child < @items.size }
        least = below.min_by { |child| @items[child] }
        break if least.nil? || @items[at] <= @items[least]

        swap(at, least)
        at = least
      end
    end

    def swap(one, other)
      @items[one], @items[other] = @items[other], @items[one]
    end
  end
end
