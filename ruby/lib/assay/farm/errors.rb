# frozen_string_literal: true

# What can go wrong between a program and a farm, each with a class of its own, so that a program can tell what to do about it.

module Assay
  module Farm
    # Everything that a farm refuses, or that keeps it from answering.
    class Error < StandardError
      # The word for it in the API, such as `not_found`; nil where no farm answered.
      attr_reader :code
      # The status of HTTP; nil where nobody answered.
      attr_reader :status

      def initialize(message, code: nil, status: nil)
        super(message)
        @code = code
        @status = status
      end
    end

    # What was asked for is not there.
    class NotFound < Error; end

    # The token does not allow it.
    class NotAllowed < Error; end

    # There is no token, or the farm does not know it (any more).
    class NotKnown < NotAllowed; end

    # The server speaks another version of the API.
    class WrongVersion < Error; end

    # The server can't make sense of what was sent.
    class Rejected < Error; end

    # Something else is there already under that name, or it has changed meanwhile.
    class Conflict < Error; end

    # More was sent, or answered, than is taken.
    class TooLarge < Error; end

    # Too many requests in a short time: try again after `retry_after` seconds.
    class TooMany < Error
      # Seconds to wait.
      attr_reader :retry_after

      def initialize(message, retry_after:, **rest)
        super(message, **rest)
        @retry_after = retry_after
      end
    end

    # Nobody answers, or the server can't at the moment: try again later. What was to be added may have been added; adding it again is safe.
    class Unavailable < Error; end

    # What answers is no farm, or it failed.
    class Broken < Error; end

    # Classes by the codes of the API.
    CLASSES = {
      "bad_request" => Rejected, "unauthorized" => NotKnown, "forbidden" => NotAllowed, "not_found" => NotFound, "conflict" => Conflict,
      "lease_lost" => Conflict, "too_large" => TooLarge, "too_many" => TooMany, "wrong_version" => WrongVersion,
      "unavailable" => Unavailable, "internal" => Broken
    }.freeze
    # Classes by the status, where something in front of the server answers in its stead.
    STATUSES = {
      400 => Rejected, 401 => NotKnown, 403 => NotAllowed, 409 => Conflict, 413 => TooLarge, 429 => TooMany, 502 => Unavailable,
      503 => Unavailable, 504 => Unavailable
    }.freeze
    private_constant :CLASSES, :STATUSES

    # Makes the error of an answer.
    def self.error(status, code, message, retry_after: nil) # :nodoc:
      kind = CLASSES[code] || STATUSES[status] || Broken
      return kind.new(message, code: code, status: status, retry_after: retry_after || 1) if kind == TooMany

      kind.new(message, code: code, status: status)
    end
  end
end
