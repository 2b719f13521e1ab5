# frozen_string_literal: true

# Ruby's own Net::HTTP. Every request passes through `transport_request` once, whether started by
# get, post, request or get_response, and regardless of how the connection was made; `request` calls
# itself if there is none yet. Reading the response is included.

module Assay
  module Patches
    class NetHttp < Library
      def self.key = :net_http
      def self.counts = :http

      # Up to Ruby 3.0 it had no version number of its own.
      def versions = defined?(::Net::HTTP) ? [["net_http", defined?(::Net::HTTP::VERSION) ? ::Net::HTTP::VERSION : RUBY_VERSION, ">= 0"]] : []

      # `connect` resolves the name, opens the connection, and performs the TLS handshake.
      def targets
        [[::Net::HTTP, %i[transport_request], :net, true], [::Net::HTTP, %i[connect], :net_connect, true]]
      end
    end
    private_constant :NetHttp
  end
end
