# frozen_string_literal: true

# What the tests of the middleware share: an application whose work is counted, and what came out. It stays free of assertions.

require "json"
require "stringio"
require "support/profiled"

module Requests
  include Profiled

  # What applications call here.
  class Database
    def query(sql = true) = sql
    def fail = raise(IOError, "gone")
  end

  def setup
    patch(Database, %i[query fail], :sql)
    @log = StringIO.new
  end

  # What a server gives the application.
  def env(path = "/", **more) = {"REQUEST_METHOD" => "GET", "SCRIPT_NAME" => "", "PATH_INFO" => path, "QUERY_STRING" => "token=1", **more}

  # The middleware around this application, which may be a block.
  def middleware(application = nil, **options, &block)
    Assay::Rack.new(application || block, log: @log, format: :json, samples: false, **options)
  end

  # An application that does `count` queries and answers with this body.
  def querying(count, body = ["ok"], headers = {}) = ->(_) { count.times { Database.new.query } and [200, headers, body] }

  # The lines that were logged, read.
  def lines = @log.string.lines.map { |line| JSON.parse(line) }

  # How many calls of this name each line has.
  def logged(name = "sql") = lines.map { |line| line["methods"].dig(name, "calls") }

  # {"sql" => "2 calls"} of a header Server-Timing.
  def described(headers) = headers["server-timing"].scan(/(\w+);dur=[\d.]+;desc="(.*?)"/).to_h
end
