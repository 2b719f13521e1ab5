# frozen_string_literal: true

# The gem mysql2.

module Assay
  module Patches
    class Mysql2 < Library
      def self.key = :mysql2
      def self.counts = :sql

      def versions = defined?(::Mysql2::Client) ? [["mysql2", ::Mysql2::VERSION, ">= 0.4"]] : []

      # With `async: true`, a query counts with the time taken to send it.
      def targets
        [
          [::Mysql2::Client, %i[query], :sql, true],
          [::Mysql2::Statement, %i[execute], :sql, true],
          [::Mysql2::Client, %i[prepare], :sql_prepare, true]
        ]
      end
    end
    private_constant :Mysql2
  end
end
