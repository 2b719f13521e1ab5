# frozen_string_literal: true

# The gem sqlite3. A statement begins in Database#execute, in Statement#execute, or, in
# ActiveRecord, by reading a statement that was only bound: Statement#each. But Statement#execute!
# calls `execute` and then `each`, and reading after an `execute` must not count again: a method
# prepended to `each` distinguishes the two.

module Assay
  module Patches
    class Sqlite3 < Library
      # Prepended to SQLite3::Statement: if `execute` was called, the statement has been counted.
      module Reading
        def execute(...)
          @assay_executed = true
          super
        end

        def each(&block)
          return super if @assay_executed || block.nil?

          assay_execute { super(&block) }
        end

        private

        def assay_execute = yield
      end
      private_constant :Reading

      def self.key = :sqlite3
      def self.counts = :sql

      def versions = defined?(::SQLite3::Database) ? [["sqlite3", ::SQLite3::VERSION, [">= 1.3", "< 3"]]] : []

      # Several statements in one string (execute_batch) count as one call.
      def targets
        [
          [::SQLite3::Database, %i[execute execute_batch], :sql, true],
          [::SQLite3::Database, %i[execute_batch2], :sql, false],
          [::SQLite3::Statement, %i[execute assay_execute], :sql, true]
        ]
      end

      private

      def seams = {::SQLite3::Statement => Reading}
    end
    private_constant :Sqlite3
  end
end
