# frozen_string_literal: true

# Helpers for tests of the middleware: an application whose work is counted, and its results. Free of assertions.

require "json"
require "stringio"
require "support/profiled"

module Requests
  include Profiled

  # Called by the applications.
  class Database
    def query(sql = true) = sql
    def fail = raise(IOError, "gone")
  end

  def setup
    patch(Database, %i[query fail], :sql)
    @log = StringIO.new
  end

  # The environment that a server passes to the application.
  def env(path = "/", **more) = {"REQUEST_METHOD" => "GET", "SCRIPT_NAME" => "", "PATH_INFO" => path, "QUERY_STRING" => "token=1", **more}

  # The middleware around this application, which may be a block.
  def middleware(application = nil, **options, &block)
    Assay::Rack.new(application || block, log: @log, format: :json, samples: false, **options)
  end

  # An application that does `count` queries and answers with this body.
  def querying(count, body = ["ok"], headers = {}) = ->(_) { count.times { Database.new.query } and [200, headers, body] }

  # The parsed log lines.
  def lines = @log.string.lines.map { |line| JSON.parse(line) }

  # The number of calls of this name in each line.
  def logged(name = "sql") = lines.map { |line| line["methods"].dig(name, "calls") }

  # Returns {"sql" => "2 calls"} from a header Server-Timing.
  def described(headers) = headers["server-timing"].scan(/(\w+);dur=[\d.]+;desc="(.*?)"/).to_h
end
