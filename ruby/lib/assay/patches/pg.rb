# frozen_string_literal: true

# The gem pg. Its `exec` family is written in C, and the methods do not call each other through
# Ruby, so each statement counts once, whichever method executed it.

module Assay
  module Patches
    class Pg < Library
      def self.key = :pg
      def self.counts = :sql

      def versions = defined?(::PG::Connection) ? [["pg", ::PG::VERSION, ">= 1.0"]] : []

      # A statement that is only sent (send_query) counts too, with the time taken to send it: the
      # wait is in get_result, possibly in someone else's loop.
      def targets
        [
          [::PG::Connection, %i[exec exec_params exec_prepared], :sql, true],
          [::PG::Connection, %i[query async_query async_exec async_exec_params async_exec_prepared sync_exec sync_exec_params
                                sync_exec_prepared send_query send_query_params send_query_prepared], :sql, false],
          [::PG::Connection, %i[prepare async_prepare sync_prepare send_prepare], :sql_prepare, false]
        ]
      end
    end
    private_constant :Pg
  end
end
