# frozen_string_literal: true

# The application: /page/5/7 executes five SQL statements and seven Redis commands. TOTALS selects the measurement:
#   off    the gem is not even loaded
#   idle   the libraries are patched, but nothing is profiled
#   on     the middleware reports each request's totals, as a header and as a line of LOG

require "pg"
require "redis"

case ENV.fetch("TOTALS")
when "idle"
  require "assay/patches"
  Assay::Patches.apply(:pg, :redis, keep: true)
when "on"
  require "assay/patches"
  require "assay/rack"
  Assay::Patches.apply(:pg, :redis)
  use Assay::Rack, log: File.open(ENV.fetch("LOG"), "a"), format: :json
end

def connect
  PG.connect(host: "127.0.0.1", port: ENV.fetch("POSTGRES"), user: "postgres", dbname: "postgres").tap do |connection|
    connection.prepare("name", "SELECT name FROM items WHERE id = $1")
  end
end

# As in many applications, all threads share one connection to Redis, and each has its own to PostgreSQL.
REDIS = Redis.new(host: "127.0.0.1", port: ENV.fetch("REDIS"))

def postgres = Thread.current.thread_variable_get(:postgres) || connect.tap { |one| Thread.current.thread_variable_set(:postgres, one) }

def statements(count)
  Array.new(count) do |n|
    id = rand(1..1000)
    (n.even? ? postgres.exec_prepared("name", [id]) : postgres.exec_params("SELECT name FROM items WHERE id = $1", [id])).getvalue(0, 0)
  end
end

# Sends the first command alone, and the others in one pipeline.
def commands(count)
  return [] if count.zero?

  [REDIS.incr("pages"), *REDIS.pipelined { |pipeline| (count - 1).times { |n| pipeline.get("key #{n}") } }]
end

# Background work that belongs to no request.
if ENV["BACKGROUND"]
  Thread.new do
    connection = connect
    loop do
      connection.exec("SELECT 1 AS background")
      REDIS.echo("background")
      sleep 0.002
    end
  end
end

run lambda { |env|
  _, _, sql, redis = env["PATH_INFO"].split("/").map(&:to_i)
  page = [*statements(sql || 0), *commands(redis || 0)].join("\n")
  [200, {"content-type" => "text/plain", "content-length" => page.bytesize.to_s}, [page]]
}
