# frozen_string_literal: true

# An item that is slow in its first calls, and one that never gets a warm-up.
require 'benchmark/ips'

# Burns this much CPU time, s.
burn = lambda do |seconds|
  clock = Process::CLOCK_PROCESS_CPUTIME_ID
  ends = Process.clock_gettime(clock) + seconds
  nil while Process.clock_gettime(clock) < ends
end
calls = 0
slow_at_first = -> { burn.call((calls += 1) <= 40 ? 0.004 : 0.0004) }

Benchmark.ips do |x|
  x.config(time: 1, warmup: 1)
  x.report('warmed up', &slow_at_first)
end

Benchmark.ips do |x|
  x.config(time: 1, warmup: 0)
  calls = 0
  x.report('cold') { burn.call(0.02 / (calls += 1)) }
end
