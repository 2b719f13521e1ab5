# frozen_string_literal: true

# The JSON messages of the socket's protocol. Ruby's own JSON library is not used because the
# command may need another version of it.

module AssayWarm
  # Reads and writes the protocol's lines of JSON.
  module Json
    TOKEN = /\G[ \t\r\n]*(?:([{}\[\],:])|"((?:[^"\\]|\\.)*)"|(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(true|false|null))/.freeze
    ESCAPES = {"n" => "\n", "t" => "\t", "r" => "\r", "b" => "\b", "f" => "\f"}.freeze
    WORDS = {"true" => true, "false" => false, "null" => nil}.freeze

    class << self
      def read(text)
        value, = value(text, 0)
        value
      end

      def write(value)
        case value
        when Hash then "{#{value.map { |key, each| "#{write(key.to_s)}:#{write(each)}" }.join(",")}}"
        when Array then "[#{value.map { |each| write(each) }.join(",")}]"
        when String, Symbol then AssayCoverage.json(value.to_s)
        when nil then "null"
        else value.to_s
        end
      end

      private

      def token(text, at)
        found = TOKEN.match(text, at) or raise(ArgumentError, "no JSON at #{at}")
        [found, found.end(0)]
      end

      def value(text, at)
        found, at = token(text, at)
        return [string(found[2]), at] if found[2]
        return [found[3].match?(/[.eE]/) ? found[3].to_f : found[3].to_i, at] if found[3]
        return [WORDS.fetch(found[4]), at] if found[4]

        case found[1]
        when "{" then members(text, at, "}", {}) { |all, key, each| all[key] = each }
        when "[" then members(text, at, "]", []) { |all, _, each| all << each }
        else raise(ArgumentError, "no JSON at #{at}")
        end
      end

      def members(text, at, ending, all)
        found, after = token(text, at)
        return [all, after] if found[1] == ending

        loop do
          if ending == "}"
            key, at = value(text, at)
            at = token(text, at)[1]
          end
          each, at = value(text, at)
          yield all, key, each
          found, at = token(text, at)
          return [all, at] if found[1] == ending
        end
      end

      def string(text)
        return text unless text.include?("\\")

        text.gsub(/\\u[dD][89abAB]\h\h\\u[dD][c-fC-F]\h\h|\\u\h{4}|\\./) do |escape|
          units = escape.scan(/\\u(\h{4})/).flatten.map(&:hex)
          case units.size
          when 0 then ESCAPES.fetch(escape[1], escape[1])
          when 1 then [units[0]].pack("U").scrub
          else [0x10000 + ((units[0] - 0xd800) << 10) + units[1] - 0xdc00].pack("U")
          end
        end
      end
    end
  end
end
