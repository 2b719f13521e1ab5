# frozen_string_literal: true

# A proxy for a body that has yet to be read: counts during reading, and ends the request when the
# body is closed. Everything else is delegated to the body: a server must find exactly the methods
# (to_path, to_ary, call) by which it decides how to send it.

module Assay
  class Rack
    # Passed to the server instead of the application's body.
    class Body
      # The methods in which a body does its work.
      READERS = %i[each call to_ary].freeze
      private_constant :READERS

      def initialize(body, request)
        @body = body
        @request = request
      end

      # Called by the server after sending the body, or giving up.
      def close
        @request.part { @body.close } if @body.respond_to?(:close)
      ensure
        @request.finish
      end

      def respond_to_missing?(name, include_all = false) = @body.respond_to?(name, include_all)

      def method_missing(name, ...)
        return super unless @body.respond_to?(name)
        return @body.public_send(name, ...) unless READERS.include?(name)

        begin
          @request.part { @body.public_send(name, ...) }
        ensure
          @request.finish if name == :to_ary # Rack requires it to close the body.
        end
      end
    end
    private_constant :Body
  end
end
