# frozen_string_literal: true

# Ruby's own Net::HTTP. All requests pass `transport_request` once, whichever of get, post, request and get_response was called, and
# however the connection came about; `request` calls itself when there is none yet. Reading the answer is within it.

module Assay
  module Patches
    class NetHttp < Library
      def self.key = :net_http
      def self.counts = :http

      # Up to Ruby 3.0 it had no version of its own.
      def versions = defined?(::Net::HTTP) ? [["net_http", defined?(::Net::HTTP::VERSION) ? ::Net::HTTP::VERSION : RUBY_VERSION, ">= 0"]] : []

      # `connect` looks up the name, opens the connection, and makes it secure.
      def targets
        [[::Net::HTTP, %i[transport_request], :net, true], [::Net::HTTP, %i[connect], :net_connect, true]]
      end
    end
    private_constant :NetHttp
  end
end
