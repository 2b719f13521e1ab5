# frozen_string_literal: true

# Error rates of Assay.compare and benchmark-ips for known differences: two loops, of which the second is equally long, 2 % longer, 10 %
# longer or four times as long. Each tool gets the same blocks and the same time. An answer is right if it names the direction, or for
# loops of equal length claims no difference.
#
#   ruby -I ruby/lib ruby/bench/compare.rb [--rounds 10] [--time 0.5] [--json FILE]     needs benchmark-ips and `assay`

require "assay"
require "benchmark/ips"
require "etc"
require "json"
require "optparse"
require "stringio"

OPTIONS = { rounds: 10, time: 0.5 }.tap do |options|
  OptionParser.new do |parser|
    parser.on("--rounds N", Integer) { |n| options[:rounds] = n }
    parser.on("--time SECONDS", Float) { |n| options[:time] = n }
    parser.on("--json FILE") { |file| options[:json] = file }
  end.parse!
end

LENGTH = 2_000
FACTORS = [1.0, 1.02, 1.1, 4.0].freeze

def burn(times)
  i = 0
  i += 1 while i < times
end

# Returns the verdict on the second loop: "longer", "shorter", "same" or "unknown".
def assay(longer, primary)
  comparison = Assay.compare(time: OPTIONS[:time], warmup: 0.1, quiet: true, primary: primary) do |x|
    x.report("reference") { burn(LENGTH) }
    x.report("longer") { burn(longer) }
  end.comparison
  { "slower" => "longer", "faster" => "shorter", "equivalent" => "same", "inconclusive" => "unknown" }.fetch(comparison.verdict)
end

# The output of `compare!`: "same-ish" if two bars of one standard deviation overlap, otherwise the faster one first.
def benchmark_ips(longer)
  printed = printed_by do
    Benchmark.ips do |x|
      x.config(time: OPTIONS[:time], warmup: 0.1)
      x.report("reference") { burn(LENGTH) }
      x.report("longer") { burn(longer) }
      x.compare!
    end
  end
  comparison = printed[/Comparison:.*/m]
  return "same" if comparison.include?("same-ish")

  comparison[/(reference|longer):/, 1] == "reference" ? "longer" : "shorter"
end

def printed_by
  before = $stdout
  $stdout = StringIO.new
  yield
  $stdout.string
ensure
  $stdout = before
end

TOOLS = {
  "Assay.compare" => ->(longer) { assay(longer, "wall") },
  "Assay.compare, cpu" => ->(longer) { assay(longer, "cpu") },
  "benchmark-ips" => ->(longer) { benchmark_ips(longer) }
}.freeze

rows = FACTORS.product(TOOLS.keys).to_h { |key| [key, Hash.new(0)] }
OPTIONS[:rounds].times do
  FACTORS.product(TOOLS.keys).shuffle.each do |factor, tool|
    rows[[factor, tool]][TOOLS.fetch(tool).call((LENGTH * factor).round)] += 1
  end
end

load = File.exist?("/proc/loadavg") ? File.read("/proc/loadavg").split.first(3).join(" ") : "unknown"
puts "#{RUBY_DESCRIPTION}, benchmark-ips #{Benchmark::IPS::VERSION}, #{Etc.nprocessors} CPUs, load #{load}, #{OPTIONS[:rounds]} rounds, #{OPTIONS[:time]} s a side"
puts format("%-8s %-20s %7s %7s %7s %7s", "longer", "tool", "longer", "shorter", "same", "unknown")
rows.each do |(factor, tool), said|
  puts format("%-8s %-20s %7d %7d %7d %7d", "#{factor} ×", tool, *said.values_at("longer", "shorter", "same", "unknown"))
end
if OPTIONS[:json]
  answers = rows.map { |(factor, tool), said| { factor: factor, tool: tool, said: said } }
  File.write(OPTIONS[:json], JSON.pretty_generate(ruby: RUBY_DESCRIPTION, load: load, **OPTIONS, answers: answers) << "\n")
end
