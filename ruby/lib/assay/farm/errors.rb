# frozen_string_literal: true

# Errors in communicating with a farm, each with a class of its own, so that programs can react to
# them.

module Assay
  module Farm
    # Base class of all refusals by a farm and all failures to reach it.
    class Error < StandardError
      # The error code of the API, such as `not_found`; nil if no farm answered.
      attr_reader :code
      # The HTTP status; nil if there was no response.
      attr_reader :status

      def initialize(message, code: nil, status: nil)
        super(message)
        @code = code
        @status = status
      end
    end

    # The requested record does not exist.
    class NotFound < Error; end

    # The token does not permit the request.
    class NotAllowed < Error; end

    # There is no token, or the farm does not (or no longer) know it.
    class NotKnown < NotAllowed; end

    # The server uses another version of the API.
    class WrongVersion < Error; end

    # The request is invalid.
    class Rejected < Error; end

    # Another record has that name, or the record was changed concurrently.
    class Conflict < Error; end

    # The request or the response is too large.
    class TooLarge < Error; end

    # Too many requests in a short time: retry after `retry_after` seconds.
    class TooMany < Error
      # Seconds to wait.
      attr_reader :retry_after

      def initialize(message, retry_after:, **rest)
        super(message, **rest)
        @retry_after = retry_after
      end
    end

    # The server does not respond or is unavailable: retry later. A record to be added may have been
    # added; adding it again is safe.
    class Unavailable < Error; end

    # The server is not a farm, or it failed.
    class Broken < Error; end

    # Classes by API error code.
    CLASSES = {
      "bad_request" => Rejected, "unauthorized" => NotKnown, "forbidden" => NotAllowed, "not_found" => NotFound, "conflict" => Conflict,
      "lease_lost" => Conflict, "too_large" => TooLarge, "too_many" => TooMany, "wrong_version" => WrongVersion,
      "unavailable" => Unavailable, "internal" => Broken
    }.freeze
    # Classes by HTTP status, for responses of a proxy in front of the server.
    STATUSES = {
      400 => Rejected, 401 => NotKnown, 403 => NotAllowed, 409 => Conflict, 413 => TooLarge, 429 => TooMany, 502 => Unavailable,
      503 => Unavailable, 504 => Unavailable
    }.freeze
    private_constant :CLASSES, :STATUSES

    # Creates the error for a response.
    def self.error(status, code, message, retry_after: nil) # :nodoc:
      kind = CLASSES[code] || STATUSES[status] || Broken
      return kind.new(message, code: code, status: status, retry_after: retry_after || 1) if kind == TooMany

      kind.new(message, code: code, status: status)
    end
  end
end
