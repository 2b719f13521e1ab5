# frozen_string_literal: true

# A line for each request, as logfmt or JSON. Writing must neither fail nor wait: a disk that is full, a descriptor that was closed and a
# pipe that nobody reads cost the line, not the request. What was lost is told, once on standard error and in the next line that gets
# through.

require "json"
require "io/wait"

module Assay
  class Rack
    # Writes the lines.
    class Log
      FORMATS = %i[logfmt json].freeze
      # What a pipe takes without waiting, as soon as it takes anything.
      AT_ONCE = 4096
      LONGEST_PATH = 1024
      # The keys of a row in logfmt, where a blank, = or " would end one.
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

        @io.sync = true # What lies in Ruby's own buffer is neither written nor lost.
        @file = @io.stat.file?
      end

      # See Request#finish. A file takes each line whole, whoever else writes; else requests write one after the other, so that nothing
      # comes between asking whether there is room and taking it.
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

      # Without the query, in which secrets are.
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

      # `lost`: what this line tells of.
      def write(line, lost)
        return lose("nobody reads it, and it is full") unless put(line)

        @count.synchronize { @lost -= lost } if lost.positive?
      rescue SystemCallError, IOError => e
        lose(e.message)
      end

      # False where it would have to wait. Whether an IO takes anything is asked first, and not by making it non-blocking: that would
      # change it for all processes that have it.
      def put(line)
        return @sink << line unless @io
        return false unless @file || (line.bytesize <= AT_ONCE && ready?)

        @io.write(line)
      end

      # A signal that comes meanwhile looks like a no, so that it is asked twice.
      def ready? = @io.wait_writable(0) || @io.wait_writable(0)

      def lose(why)
        @count.synchronize { @lost += 1 }
        return if @told

        @told = true
        warn("assay: a request's line could not be written to the log (#{why}). Requests go on, their lines are lost until it can be")
      rescue SystemCallError, IOError
        # Standard error is closed as well: there is nobody left to tell, and the request must go on.
      end
    end
    private_constant :Log
  end
end
