# frozen_string_literal: true

# The life of one request: the profiles of its parts, its end, and its attributes. The parts are the
# application's `call` and each read of the body, each with a profile of its own: in between, the
# thread belongs to the server, which may never return to this request, or do so in another thread.

module Assay
  class Rack
    # A counted request.
    class Request
      # Its Totals up to now.
      attr_reader :totals

      # Method and path of the request, saved at the start since applications modify env: Rails
      # requests /500 from itself after a failure.
      attr_reader :verb, :path
      # The response status; nil if there was none.
      attr_reader :status
      # :error, the class of an exception; :hijacked.
      attr_reader :facts

      # outputs:: each receives `request(self)` at the end
      def initialize(env, scope, outputs)
        @env = env
        @verb = env["REQUEST_METHOD"]
        @path = "#{env["SCRIPT_NAME"]}#{env["PATH_INFO"]}"
        @scope = scope
        @outputs = outputs
        @totals = Totals.new
        @facts = {}
        @open = [] # Parts that have not ended.
        @finished = false
      end

      def finished? = @finished
      def hijacked? = @facts.key?(:hijacked)

      # Runs the application and returns its response, with the body replaced by one that counts if
      # it is still to be read.
      def answer(&application)
        answer = nil
        returned = false
        begin
          answer = part(&application)
          returned = true
        ensure
          finish unless returned # By an exception, or a `throw` (servers have caught :async).
        end
        status, headers, body = *answer
        @status = status
        return finished(answer) if taken_over?(status)
        return with_hijack(status, headers, body) if headers.respond_to?(:[]) && headers["rack.hijack"].respond_to?(:call)
        return finished(answer) if body.nil? || body.instance_of?(Array) # No more work follows.

        [status, headers, Body.new(body, self)]
      end

      # Runs a part of the request and adds its totals.
      def part
        # Not `current_scheduler`: servers also read bodies by Enumerator#next, and in Ruby 3.1 its
        # fiber sees none.
        running = MethodProfiler.start(scope: @scope || (Fiber.scheduler ? :fiber : :thread), nested: true)
        @open << running
        @env[PROFILE] = running
        yield
      rescue Exception => e # The error is only recorded, and propagates.
        @facts[:error] ||= e.class.name || e.class.to_s
        raise
      ensure
        settle(running) if running
      end

      # Ends the request and notifies the outputs, once. Also ends a part that was interrupted, such
      # as a body closed before its end.
      def finish
        return if @finished

        @finished = true
        @open.dup.each { |running| settle(running) }
        @outputs.each { |output| output.request(self) }
      end

      private

      # The application may have stopped it itself.
      def settle(running)
        @totals.add(running.running? ? running.stop : running.profile) if @open.delete(running)
      end

      def finished(answer)
        finish
        answer
      end

      # The application took over the connection from the server, which will send nothing.
      def taken_over?(status)
        return false unless @env["rack.hijack_io"] || (status.is_a?(Integer) && status.negative?)

        @facts[:hijacked] = true
      end

      # The application responds through the connection, after the server has sent the headers.
      def with_hijack(status, headers, body)
        talk = headers["rack.hijack"]
        headers = headers.dup
        headers["rack.hijack"] = lambda do |stream|
          part { talk.call(stream) }
        ensure
          finish
        end
        [status, headers, body]
      end
    end
    private_constant :Request
  end
end
