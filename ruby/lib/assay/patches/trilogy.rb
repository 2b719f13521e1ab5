# frozen_string_literal: true

# The gem trilogy, a MySQL client. Every statement passes through Trilogy#query, which is written in
# C: `query_with_flags` calls it, and ActiveRecord calls either.

module Assay
  module Patches
    class Trilogy < Library
      def self.key = :trilogy
      def self.counts = :sql

      def versions = defined?(::Trilogy::VERSION) ? [["trilogy", ::Trilogy::VERSION, [">= 2.0", "< 3"]]] : []

      # Several statements in one string count as one call, since they are one request to the
      # server.
      def targets = [[::Trilogy, %i[query], :sql, true]]
    end
    private_constant :Trilogy
  end
end
