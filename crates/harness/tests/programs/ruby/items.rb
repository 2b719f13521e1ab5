# frozen_string_literal: true

# Two blocks of benchmark-ips, with labels that come twice, all ways to give an item, and what a script does afterwards.
require 'benchmark/ips'

report = Benchmark.ips do |x|
  x.config(time: 60, warmup: 60)
  x.report('sum') { 100.times.sum }
  x.report('loop') do |times|
    i = 0
    i += 1 while i < times
  end
  x.report(:text, '[1, 2].sum')
  x.report("a \"label\"\n\u00fc") { 'x' * 10 }
  x.json!('/nowhere/left.json')
  x.compare!
end

raise 'no report' unless report.entries.all? { |entry| entry.ips.positive? }

Benchmark.ips do |x|
  x.report('sum') { [1, 2, 3].map(&:to_s) }
  x.report('broken') { raise ArgumentError, 'not today' }
  x.hold!('/nowhere/held')
end
