# frozen_string_literal: true

# Two questions: do the totals reported by the middleware equal those of the databases, and does the
# middleware reduce the server's throughput? Started by run.sh, which lists the requirements. The
# answer to the second question is computed by `assay`, not here.

require "pg"
require "redis"
require "json"
require "shellwords"
require_relative "servers"
require_relative "load"

# Starts all servers, and answers both questions.
class Experiment
  # Kinds of TOTALS in config.ru.
  KINDS = %w[off idle on].freeze

  def initialize(smoke)
    @requests = smoke ? 120 : 3000
    @smoke = smoke
    @servers = []
  end

  # Starts the databases, yields, and stops everything.
  def run
    @postgres = keep(Servers::Postgres.new)
    @redis = keep(Servers::Redis.new)
    puts "PostgreSQL on port #{@postgres.port}, Redis on port #{@redis.port}, with files in #{@postgres.directory} and #{@redis.directory}"
    sql("CREATE EXTENSION pg_stat_statements")
    sql("CREATE TABLE items AS SELECT id, 'item ' || id AS name FROM generate_series(1, 1000) AS id")
    sql("ALTER TABLE items ADD PRIMARY KEY (id)")
    yield self
  ensure
    %w[INT TERM].each { |signal| trap(signal, "IGNORE") } # Nothing stays, however impatient one is.
    @connection&.close
    @servers.reverse_each(&:stop)
  end

  # Prints a table; returns true if all totals agree.
  def totals
    puma = puma("on", "BACKGROUND" => "1")
    Client.all(puma.port, 60, 5) # Until each thread is connected.
    File.truncate(puma.log, 0)
    sql("SELECT pg_stat_statements_reset()")
    redis.call("CONFIG", "RESETSTAT")
    heads = Client.all(puma.port, @requests, 8)
    asked = @requests.times.map { |number| Client::PAGES[number % Client::PAGES.size] }.transpose.map(&:sum)
    rows = [
      ["SQL statements", asked[0], *reported(puma, heads, "sql"), statements("NOT LIKE")],
      ["Redis commands", asked[1], *reported(puma, heads, "redis"), commands.sum { |name, calls| name == "echo" ? 0 : calls }]
    ]
    puma.stop
    table(rows)
    puts "meanwhile a thread in the background executed #{statements("LIKE")} statements and #{commands["echo"]} commands: none of them " \
         "is any request's"
    rows.all? { |_, *counts| counts.uniq.one? }
  end

  # Lets `assay` decide; returns true if it ran.
  def throughput(assay)
    pumas = KINDS.map { |kind| puma(kind) }
    requests = @smoke ? 30 : 300
    commands = pumas.map { |puma| Shellwords.join(["ruby", File.join(__dir__, "load.rb"), puma.port, puma.pid, requests]) }
    command = [
      assay, "run", *KINDS.flat_map { |kind| ["-n", kind] }, "--metric", "requests:1/s:higher=json:/requests",
      "--metric", "server_cpu:s=json:/server_cpu", "--secondary", "server_cpu", *(@smoke ? ["--runs", "3", "--no-save"] : ["--time", "120s"]), *commands
    ]
    ran = system(*command)
    warn("#{assay} is not to be found: give its path, run.sh path/to/assay") if ran.nil?
    ran
  end

  private

  def keep(server) = server.tap { @servers << server }

  def puma(kind, more = {})
    env = {"TOTALS" => kind, "POSTGRES" => @postgres.port.to_s, "REDIS" => @redis.port.to_s, "RACK_ENV" => "production", **more}
    keep(Servers::Puma.new(File.join(__dir__, "config.ru"), "-t", "5:5", env: env))
  end

  def sql(text) = (@connection ||= PG.connect(host: "127.0.0.1", port: @postgres.port, user: "postgres", dbname: "postgres")).exec(text)
  def redis = @client ||= Redis.new(host: "127.0.0.1", port: @redis.port)

  # Returns the calls in the lines of the log, and in the headers.
  def reported(puma, heads, row)
    lines = File.readlines(puma.log).map { |line| JSON.parse(line) }
    raise "there are #{lines.size} lines for #{heads.size} requests" unless lines.size == heads.size

    [lines.sum { |line| line["methods"].dig(row, "calls").to_i }, heads.sum { |head| head[/[ ,]#{row};dur=[\d.]+;desc="(\d+) call/, 1].to_i }]
  end

  # Returns the number of statements that PostgreSQL executed, either in the background only or
  # without those. Statements of this script do not count.
  def statements(like)
    sql("SELECT coalesce(sum(calls), 0)::int FROM pg_stat_statements WHERE query #{like} '%background%' AND query NOT LIKE '%pg_stat%'")
      .getvalue(0, 0).to_i
  end

  # Returns {command => calls} as reported by Redis.
  def commands
    redis.info("commandstats").transform_values { |command| command["calls"].to_i }.reject { |name, _| name.match?(/\A(info|config)/) }
  end

  def table(rows)
    heads = ["#{@requests} requests, 8 at once", "asked for", "in the log", "in the headers", "the server's own"]
    [heads, *rows].each { |first, *others| puts first.ljust(28) + others.map { |cell| cell.to_s.rjust(18) }.join }
  end
end

%w[INT TERM].each { |signal| trap(signal) { exit(130) } }
$stdout.sync = true
assay, mode = ARGV
agree = ran = nil
Experiment.new(mode == "--smoke").run do |experiment|
  puts "", "Question 1: are the totals right?", ""
  agree = experiment.totals
  puts agree ? "They are: the same in all columns." : "They are NOT the same."
  puts "", "Question 2: what do they cost? (off: the gem is not loaded; idle: patched, nobody profiles; on: header and log)", ""
  ran = experiment.throughput(assay)
end
exit(agree && ran ? 0 : 1)
