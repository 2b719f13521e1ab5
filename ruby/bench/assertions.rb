# frozen_string_literal: true

# Error rates of each assertion for known relations: A/A, and the like for those that do not compare. An assertion that holds must not
# fail, and one that does not hold must not pass, beyond the level of its intervals (95 %); counts have no such level.
#
#   ruby -I ruby/lib -I ruby/tmp ruby/bench/assertions.rb [--rounds 120] [--time 0.5] [--json FILE]     needs `assay`
#
# Every round runs each assertion once, in random order. `--time` is for each side of a comparison. An interrupt (Ctrl-C) ends it with the
# complete rounds.

require "assay/testing"
require "json"
require "logger"
require "optparse"

OPTIONS = { rounds: 120, time: 0.5 }.tap do |options|
  OptionParser.new do |parser|
    parser.on("--rounds N", Integer) { |n| options[:rounds] = n }
    parser.on("--time SECONDS", Float) { |n| options[:time] = n }
    parser.on("--json FILE") { |file| options[:json] = file }
  end.parse!
end

# A test that keeps its outcomes.
class Bench
  include Assay::Testing

  LENGTH = 2_000

  def store = Class.new { def read = Array.new(3) { |i| i.to_s } }

  # A separate Proc for each side, as two versions of a program have.
  def burn(times) = eval("->() { i = 0; i += 1 while i < #{times} }", binding, __FILE__, __LINE__)

  # One Proc for both sides: two copies of it may differ by their addresses.
  def same = yield(burn(LENGTH))

  def wait(seconds) = -> { sleep seconds }

  # Name => whether the assertion holds, and the assertion.
  def assertions(time)
    log = Logger.new(File::NULL)
    {
      "assert_no_slower, the same" => [true, -> { same { |side| assert_no_slower side, side, time: time } }],
      "assert_no_slower, 20 % longer" => [false, -> { assert_no_slower burn(2_400), burn(LENGTH), time: time }],
      "assert_no_slower, the same waits" => [true, -> { assert_no_slower wait(0.002), wait(0.002), by: "20%", time: time }],
      "assert_faster, the same" => [false, -> { same { |side| assert_faster side, side, time: time } }],
      "assert_faster, 20 % shorter" => [true, -> { assert_faster burn(1_600), burn(LENGTH), time: time }],
      "assert_complexity, linear" => [true, -> { assert_complexity(:linear, [500, 1000, 2000, 4000], time: time) { |n| i = 0; i += 1 while i < n } }],
      "assert_complexity, quadratic for linear" => [false, lambda do
        assert_complexity(:linear, [20, 40, 80, 160], time: time) { |n| n.times { i = 0; i += 1 while i < n } }
      end],
      "assert_allocations" => [true, -> { kind = @kind ||= store; one = kind.new; assert_allocations(4) { one.read } }],
      "assert_calls" => [true, -> { kind = store; assert_calls(kind, :read, 3) { 3.times { kind.new.read } } }],
      "assert_budget" => [true, lambda do
        assert_budget(max_log_lines: 2, max_processes: 1, max_sleep: 0.5) { 2.times { log.info("line") }; system("true"); sleep 0.001 }
      end]
    }
  end

  def outcome(assertion)
    assertion.call
    "passed"
  rescue Failed
    "failed"
  rescue Inconclusive
    "inconclusive"
  end
end

bench = Bench.new
assertions = bench.assertions(OPTIONS[:time])
rounds = []
loads = []
begin
  OPTIONS[:rounds].times do
    loads << (File.exist?("/proc/loadavg") ? File.read("/proc/loadavg").to_f : 0.0)
    rounds << assertions.to_a.shuffle.to_h { |name, (_, assertion)| [name, bench.outcome(assertion)] }
  end
rescue Interrupt
  OPTIONS[:rounds] = rounds.size
end

puts "#{RUBY_DESCRIPTION}, #{OPTIONS[:rounds]} rounds, #{OPTIONS[:time]} s a side, load #{loads.minmax.join(" to ")}"
puts format("%-42s %6s %7s %7s %8s %6s", "assertion", "holds", "passed", "failed", "unknown", "wrong")
answers = assertions.map do |name, (holds, _)|
  counts = %w[passed failed inconclusive].to_h { |kind| [kind, rounds.count { |said| said[name] == kind }] }
  wrong = counts[holds ? "failed" : "passed"]
  puts format("%-42s %6s %7d %7d %8d %6d", name, holds ? "yes" : "no", *counts.values, wrong)
  { assertion: name, holds: holds, **counts, wrong: wrong }
end
if OPTIONS[:json]
  facts = { language: RUBY_DESCRIPTION, rounds: OPTIONS[:rounds], seconds: OPTIONS[:time], loads: loads.minmax, answers: answers }
  File.write(OPTIONS[:json], JSON.pretty_generate(facts) << "\n")
end
