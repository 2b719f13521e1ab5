# frozen_string_literal: true

# Writes a line for each request, as logfmt or JSON. Writing must neither fail nor block: a full
# disk, a closed descriptor or a pipe without a reader costs the line, not the request. Dropped
# lines are reported once on standard error, and in the next line that is written.

require "json"
require "io/wait"

module Assay
  class Rack
    # Writes the lines.
    class Log
      FORMATS = %i[logfmt json].freeze
      # Number of bytes that a pipe accepts without blocking once it is writable at all.
      AT_ONCE = 4096
      LONGEST_PATH = 1024
      # The logfmt keys of a row. A blank, = or " would end a key, so those are replaced.
      KEYS = Hash.new do |keys, name|
        keys[name] = %w[calls ms errors].map { |what| "#{name.name.gsub(/[^[:word:].#:-]/, "_")}_#{what}" }
      end
      private_constant :AT_ONCE, :LONGEST_PATH, :KEYS

      # sink:: an IO, or anything with `<<`; form:: one of FORMATS
      def initialize(sink, form)
        if sink.is_a?(String) || !(sink.respond_to?(:<<) || sink.respond_to?(:to_io))
          raise ArgumentError, "log: takes an IO or a Logger, not #{sink.inspect}; for a file File.open(path, \"a\")"
        end
        raise ArgumentError, "format: is #{FORMATS.map(&:inspect).join(" or ")}, not #{form.inspect}" unless FORMATS.include?(form)

        @sink = sink
        @form = form
        @turn = Mutex.new
        @count = Mutex.new
        @lost = 0
        @told = false
        return unless (@io = IO.try_convert(sink))

        @io.sync = true # Data in Ruby's own buffer is neither written nor lost.
        @file = @io.stat.file?
      end

      # See Request#finish. A file takes each line atomically, even with several writers; for other
      # sinks requests write one at a time, so that nothing happens between the check for room and
      # the write.
      def request(request)
        lost = @lost
        line = send(@form, fields(request, lost), request.totals)
        @file ? write(line, lost) : @turn.synchronize { write(line, lost) }
      end

      private

      def fields(request, lost)
        {
          time: Time.now.utc.strftime("%Y-%m-%dT%H:%M:%S.%LZ"), method: text(request.verb), path: path(request.path),
          status: request.status, total_ms: ms(request.totals.duration), own_ms: ms(request.totals.own_cost), **request.facts, lost: (lost if lost.positive?)
        }.compact
      end

      # Excludes the query string, which may contain secrets.
      def path(given)
        path = text(given)
        path.size > LONGEST_PATH ? "#{path[0, LONGEST_PATH]}…" : path
      end

      def text(bytes) = String.new(bytes.to_s, encoding: Encoding::UTF_8).scrub("�")

      def ms(seconds) = (seconds * 1e3).round(3)

      def json(fields, totals)
        methods = totals.rows.transform_values do |row|
          {calls: row.calls, ms: ms(row.duration), **(row.errors.positive? ? {errors: row.errors} : {})}
        end
        "#{JSON.generate({**fields, methods: methods})}\n"
      end

      def logfmt(fields, totals)
        totals.rows.each do |name, row|
          calls, milliseconds, errors = KEYS[name]
          fields[calls] = row.calls
          fields[milliseconds] = ms(row.duration)
          fields[errors] = row.errors if row.errors.positive?
        end
        line = +""
        fields.each { |key, value| line << (line.empty? ? "" : " ") << key.to_s << "=" << logfmt_value(value) }
        line << "\n"
      end

      def logfmt_value(value)
        return value.to_s if value.is_a?(Numeric)

        word = value.to_s
        word.empty? || word.match?(/[\s"=\\\x00-\x08\x0e-\x1f\x7f]/) ? JSON.generate(word) : word
      end

      # `lost`: number of dropped lines that this line reports.
      def write(line, lost)
        return lose("nobody reads it, and it is full") unless put(line)

        @count.synchronize { @lost -= lost } if lost.positive?
      rescue SystemCallError, IOError => e
        lose(e.message)
      end

      # Returns false if writing would block. This is checked before writing instead of making the
      # IO non-blocking, which would affect all processes that share it.
      def put(line)
        return @sink << line unless @io
        return false unless @file || (line.bytesize <= AT_ONCE && ready?)

        @io.write(line)
      end

      # A signal during the check looks like a negative answer, so it is repeated.
      def ready? = @io.wait_writable(0) || @io.wait_writable(0)

      def lose(why)
        @count.synchronize { @lost += 1 }
        return if @told

        @told = true
        warn("assay: a request's line could not be written to the log (#{why}). Requests go on, their lines are lost until it can be")
      rescue SystemCallError, IOError
        # Standard error is closed as well; the request must go on.
      end
    end
    private_constant :Log
  end
end
