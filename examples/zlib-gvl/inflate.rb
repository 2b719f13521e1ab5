# Four threads inflate the same 10,000 small strings; prints the seconds that this took, and nothing else.
# Usage: ruby inflate.rb parallel|locked     (the variable STRINGS changes their number)
#
#   parallel   Zlib::Inflate.inflate as it is: Ruby gives up its global lock around every call into zlib
#   locked     the same calls, one at a time under one Mutex: no two threads inflate simultaneously
#
# The strings are very small, so that taking and releasing locks is most of the work.
require "zlib"

LOCK = Mutex.new
WAYS = {
  "parallel" => ->(deflated) { Zlib::Inflate.inflate(deflated) },
  "locked" => ->(deflated) { LOCK.synchronize { Zlib::Inflate.inflate(deflated) } }
}.freeze

inflate = WAYS.fetch(ARGV[0]) { abort "usage: ruby inflate.rb #{WAYS.keys.join('|')}" }

# Random bytes cannot be compressed, so zlib has little to do. The seed makes every run the same.
random = Random.new(1)
strings = Array.new(Integer(ENV.fetch("STRINGS", "10000"))) { Zlib::Deflate.deflate(random.bytes(1000)) }

clock = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
began = clock.call
threads = Array.new(4) do
  Thread.new { strings.sum { |deflated| inflate.call(deflated).bytesize } }
end
bytes = threads.sum(&:value)
took = clock.call - began

abort "#{bytes} bytes came out" unless bytes == 4 * 1000 * strings.size
printf "%.9f\n", took
