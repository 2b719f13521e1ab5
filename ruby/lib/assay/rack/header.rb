# frozen_string_literal: true

# The header Server-Timing, as the W3C's recommendation has it: names are tokens, durations milliseconds, descriptions quoted.

module Assay
  class Rack
    # Writes the header.
    module Header
      NAME = "server-timing"
      # What RFC 9110 leaves out of a token.
      NO_TOKEN = /[^!#$%&'*+\-.^_`|~0-9A-Za-z]/
      # Names of rows as tokens; there are few, and they are the same for each request.
      TOKENS = Hash.new { |tokens, name| tokens[name] = name.name.gsub(NO_TOKEN, "_") }
      private_constant :NO_TOKEN, :TOKENS

      # A copy of these headers with the totals in it, behind what another one measured. A copy, since an application may give the same
      # object each time, or a frozen one.
      def self.added(headers, totals)
        headers = headers.respond_to?(:to_hash) ? headers.to_hash.dup : headers.to_a.to_h
        name = headers.keys.find { |key| key.to_s.casecmp?(NAME) } || NAME
        headers[name] = [*headers[name], value(totals)].join(", ")
        headers
      end

      # What comes behind the colon.
      def self.value(totals)
        text = +""
        totals.rows.each do |name, row|
          text << TOKENS[name] << ";dur=" << milliseconds(row.duration) << ";desc=\"" << row.calls.to_s
          text << (row.calls == 1 ? " call\", " : " calls\", ")
        end
        text << "total;dur=" << milliseconds(totals.duration)
      end

      # To the microsecond.
      def self.milliseconds(seconds) = (seconds * 1e3).round(3).to_s
      private_class_method :milliseconds
    end
    private_constant :Header
  end
end
