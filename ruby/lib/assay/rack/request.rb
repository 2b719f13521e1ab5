# frozen_string_literal: true

# The life of one request: the profiles of its parts, its end, and what it was. Parts are the application's `call` and each reading of
# the body, each with a profile of its own: between them the thread is the server's, which may never come back to this request, or in
# another thread.

module Assay
  class Rack
    # One request that is counted.
    class Request
      # Its Totals so far.
      attr_reader :totals

      # What was asked for. Applications write into env what they make of it: Rails asks itself for /500 when it fails.
      attr_reader :verb, :path
      # The status that was answered; nil if there was none.
      attr_reader :status
      # :error, the class of an exception; :hijacked.
      attr_reader :facts

      # outputs:: each gets `request(self)` at the end
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

      # Runs the application, and gives its answer, the body replaced by one that counts where it is still to be read.
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
        return finished(answer) if body.nil? || body.instance_of?(Array) # It is there already: nothing more will be done for it.

        [status, headers, Body.new(body, self)]
      end

      # Runs a part of the request and adds its totals.
      def part
        # Not `current_scheduler`: servers read bodies by Enumerator#next, too, and in Ruby 3.1 its fiber sees none.
        running = MethodProfiler.start(scope: @scope || (Fiber.scheduler ? :fiber : :thread), nested: true)
        @open << running
        @env[PROFILE] = running
        yield
      rescue Exception => e # It is only noted, and goes on.
        @facts[:error] ||= e.class.name || e.class.to_s
        raise
      ensure
        settle(running) if running
      end

      # It is over: tells the outputs, once. A part that was left in the middle, as a body that was closed half read, ends here.
      def finish
        return if @finished

        @finished = true
        @open.dup.each { |running| settle(running) }
        @outputs.each { |output| output.request(self) }
      end

      private

      # The application may have stopped it by itself.
      def settle(running)
        @totals.add(running.running? ? running.stop : running.profile) if @open.delete(running)
      end

      def finished(answer)
        finish
        answer
      end

      # The application took the connection away from the server, which will send nothing.
      def taken_over?(status)
        return false unless @env["rack.hijack_io"] || (status.is_a?(Integer) && status.negative?)

        @facts[:hijacked] = true
      end

      # The application answers through the connection, once the server has sent the headers.
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
