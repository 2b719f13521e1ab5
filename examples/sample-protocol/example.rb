# Reports a value and the time of a region by the sample protocol.   ruby example.rb
require "json"

LINES = [] # Written once at the end, not while the clock runs.

def give(**members)
  LINES << JSON.generate(members) << "\n"
end

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

at_exit do
  kind, place = ENV.fetch("ASSAY_SAMPLES", "").split(":", 2)
  case kind # Not set: nothing is measuring, so nothing is reported.
  when "fd" then IO.open(Integer(place), "a") { |samples| samples.write(LINES.join) }
  when "path" then File.open(place, "a") { |samples| samples.write(LINES.join) }
  end
end

give(start: "parse", t: clock)
numbers = (0...100_000).to_a.join(" ").split.map(&:to_i)
give(stop: "parse", t: clock)
give(metric: "items", better: "higher", value: numbers.size)
puts numbers.sum
