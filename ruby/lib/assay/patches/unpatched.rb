# frozen_string_literal: true

# Clients of databases and servers without a ready-made patch. If one of them is loaded, a count of
# zero may be wrong. This file must not load anything.

module Assay
  module Patches
    # Well-known libraries without a ready-made patch.
    module Unpatched
      # By kind: a class unique to the library => the gem.
      KNOWN = {
        sql: {
          "TinyTds::Client" => "tiny_tds", "OCI8" => "ruby-oci8", "Extralite::Database" => "extralite", "DuckDB::Connection" => "duckdb",
          "ODBC::Database" => "ruby-odbc", "IBM_DB" => "ibm_db", "Amalgalite::Database" => "amalgalite", "Fb::Connection" => "fb",
          "Mysql::Stmt" => "ruby-mysql", "Cassandra::Session" => "cassandra-driver", "Trino::Client" => "trino-client",
          "Libsql::Database" => "turso_libsql"
        },
        redis: {"Valkey" => "valkey-rb", "Async::Redis::Client" => "async-redis", "EventMachine::Hiredis" => "em-hiredis"},
        http: {
          "HTTPX::Session" => "httpx", "Ethon::Easy" => "typhoeus", "Curl::Easy" => "curb", "Excon::Connection" => "excon", "HTTP::Redirector" => "http",
          "Patron::Session" => "patron", "HTTPClient" => "httpclient", "Async::HTTP::Client" => "async-http"
        }
      }.freeze
      private_constant :KNOWN

      # Returns [[gem, class], …] of the loaded ones of a kind.
      def self.loaded(kind)
        KNOWN.fetch(kind, {}).filter_map { |name, gem| (found = constant(name)) && [gem, found] }
      end

      # Returns the constant if it is defined, without autoloading it.
      def self.constant(path)
        path.split("::").reduce(Object) do |outer, name|
          return unless outer.is_a?(Module) && outer.const_defined?(name, false) && !outer.autoload?(name)

          outer.const_get(name, false)
        end
      end
      private_class_method :constant
    end
    private_constant :Unpatched
  end
end
