# frozen_string_literal: true

module Kit
  # Text laid out in lines.
  module Lines
    module_function

    def wrap(text, width)
      lines = [""]
      text.split.each do |word|
        longer = lines[-1].empty? ? word : "#{lines[-1]} #{word}"
        if longer.size <= width || lines[-1].empty?
          lines[-1] = longer
        else
          lines << word
        end
      end
      lines
    end

    def center(line, width)
      left = [(width - line.size) / 2, 0].max
      " " * left + line
    end

    def indent(text, by, first: true)
      blanks = " " * by
      lines = text.lines.each_with_index.map do |line, index|
        line.strip.empty? || (index.zero? && !first) ? line : blanks + line
      end
      lines.join
    end

    def outdent(text)
      full = text.lines.reject { |line| line.strip.empty? }
      least = full.map { |line| line[/\A */].size }.min || 0
      text.lines.map { |line| line.strip.empty? ? "\n" : line[least..-1] }.join
    end

    def shorten(line, width)
      return line if line.size <= width
      return "…" if width < 2

      half = width - 1
      "#{line[0, half].rstrip}…"
    end
  end
end
