# frozen_string_literal: true

module Kit
  # Rows of cells, parsed from text with separators and quotes.
  class Table
    attr_reader :head, :rows

    def self.parse(text, separator: ",")
      rows = text.lines.map(&:chomp).reject(&:empty?).map { |line| cells(line, separator) }
      new(rows[0] || [], rows.drop(1))
    end

    def self.cells(line, separator)
      found = [+""]
      quoted = false
      line.each_char do |char|
        if char == "\""
          quoted = !quoted
        elsif char == separator && !quoted
          found << +""
        else
          found[-1] << char
        end
      end
      raise ArgumentError, "a quote is open" if quoted

      found.map(&:strip)
    end
    private_class_method :cells

    def initialize(head, rows)
      @head = head
      @rows = rows.map { |row| row.size < head.size ? row + [nil] * (head.size - row.size) : row.first(head.size) }
    end

    def column(name)
      place = head.index(name) or raise(KeyError, "no column is called #{name}")
      rows.map { |row| row[place] }
    end

    def where(name, value = nil)
      place = head.index(name) or raise(KeyError, "no column is called #{name}")
      Table.new(head, rows.select { |row| block_given? ? yield(row[place]) : row[place] == value })
    end

    def sum(name)
      column(name).compact.sum { |cell| cell.include?(".") ? cell.to_f : cell.to_i }
    end

    def widths
      [head, *rows].transpose.map { |cells| cells.map { |cell| cell.to_s.size }.max }
    end

    def to_s
      [head, *rows].map do |row|
        row.zip(widths).map { |cell, width| number?(cell) ? cell.rjust(width) : cell.to_s.ljust(width) }.join("  ").rstrip
      end.join("\n")
    end

    private

    def number?(cell)
      !cell.nil? && cell.match?(/\A-?\d+(?:\.\d+)?\z/)
    end
  end
end
