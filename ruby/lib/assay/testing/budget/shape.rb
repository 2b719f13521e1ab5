# frozen_string_literal: true

# A statement, a line or a command without its values, so that those that differ only in their
# values are counted together.

module Assay
  module Testing
    class Budget
      # Normalized texts for lists.
      module Shape
        LONGEST = 160
        # Quoted strings, standalone numbers (not those in names, such as `t1`), and lists of
        # replaced values.
        QUOTED = /'(?:[^']|'')*'/
        NUMBER = /(?<![\w$.])-?\d+(?:\.\d+)?(?![\w])/
        LIST = /\(\s*(?:\?|\$\d+)(?:\s*,\s*(?:\?|\$\d+))+\s*\)/
        HEXADECIMAL = /\b(?=[0-9a-f-]*\d)[0-9a-f]{8,}(?:-[0-9a-f]+)*\b/
        # Times and addresses are a single value.
        DIGITS = /\d+(?:[-:.T]\d+)*/
        private_constant :LONGEST, :QUOTED, :NUMBER, :LIST, :HEXADECIMAL, :DIGITS

        class << self
          # Returns the text without its values, truncated to a maximum length.
          def of(kind, text)
            text = text.to_s.scrub.tr("\n\t", "  ").squeeze(" ").strip
            text = text.gsub(QUOTED, "?").gsub(NUMBER, "?").gsub(LIST, "(?, …)") if kind == :sql
            text = text.gsub(/"[^"]*"/, "?").gsub(HEXADECIMAL, "?").gsub(DIGITS, "?") if kind == :log_lines
            text = "(nothing)" if text.empty?
            text.size > LONGEST ? "#{text[0, LONGEST]}…" : text
          end
        end
      end
      private_constant :Shape
    end
  end
end
