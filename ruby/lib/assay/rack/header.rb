# frozen_string_literal: true

# The header Server-Timing per the W3C recommendation: names are tokens, durations are in
# milliseconds, descriptions are quoted.

module Assay
  class Rack
    # Writes the header.
    module Header
      NAME = "server-timing"
      # Characters that RFC 9110 does not allow in a token.
      NO_TOKEN = /[^!#$%&'*+\-.^_`|~0-9A-Za-z]/
      # Cache of row names as tokens; there are few, and they repeat with each request.
      TOKENS = Hash.new { |tokens, name| tokens[name] = name.name.gsub(NO_TOKEN, "_") }
      private_constant :NO_TOKEN, :TOKENS

      # Returns a copy of these headers with the totals appended to any existing measurements. It is
      # a copy, since an application may return the same object each time, or a frozen one.
      def self.added(headers, totals)
        headers = headers.respond_to?(:to_hash) ? headers.to_hash.dup : headers.to_a.to_h
        name = headers.keys.find { |key| key.to_s.casecmp?(NAME) } || NAME
        headers[name] = [*headers[name], value(totals)].join(", ")
        headers
      end

      # The value of the header.
      def self.value(totals)
        text = +""
        totals.rows.each do |name, row|
          text << TOKENS[name] << ";dur=" << milliseconds(row.duration) << ";desc=\"" << row.calls.to_s
          text << (row.calls == 1 ? " call\", " : " calls\", ")
        end
        text << "total;dur=" << milliseconds(totals.duration)
      end

      # Rounded to microseconds.
      def self.milliseconds(seconds) = (seconds * 1e3).round(3).to_s
      private_class_method :milliseconds
    end
    private_constant :Header
  end
end
