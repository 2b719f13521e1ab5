# frozen_string_literal: true

# The cost of a patched method: the benchmark of the article that this profiler is based on (a method that calls an empty method), for
# the plain method, the article's profiler and ours, with the recorder in C and in Ruby, interpreted and under YJIT.
#
#   ruby bench/method_profiler.rb [--rounds 60] [--json FILE]      the extension is looked for in ruby/tmp, where test/run.sh builds it
#
# Within a process all variants run alternately in random order, round by round; the result is the median over the rounds of the
# difference to the plain method of the same round, in nanoseconds of CPU time of this thread, so that other processes have little influence.
# It must not decide anything: no figure here is a test.

require "json"
require "optparse"
require "rbconfig"

LIB = File.expand_path("../lib", __dir__)
EXTENSION = File.expand_path("../tmp", __dir__)

# The article's profiler, rewritten: an alias chain, arguments and block passed on as an array and a block, a hash in a fiber-local
# variable, the clock as a Float.
module ArticleProfiler
  KEY = :article_profile

  def self.clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def self.patch(owner, method, row)
    owner.class_eval(<<~RUBY, __FILE__, __LINE__ + 1)
      alias_method :#{method}_without_profile, :#{method}
      def #{method}(*args, &block)
        unless (rows = Thread.current[:#{KEY}])
          return #{method}_without_profile(*args, &block)
        end
        begin
          began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
          #{method}_without_profile(*args, &block)
        ensure
          row = (rows[:#{row}] ||= {duration: 0.0, calls: 0})
          row[:duration] += Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
          row[:calls] += 1
        end
      end
    RUBY
  end

  def self.start = Thread.current[KEY] = {began: clock}

  def self.stop
    rows = Thread.current[KEY]
    Thread.current[KEY] = nil
    rows[:total_duration] = clock - rows.delete(:began)
    rows
  end
end

# One process: measures every variant, and prints JSON.
class Measurement
  CALLS = 20_000
  WARM_UP = 2_000

  Variant = Struct.new(:name, :loop, :before, :after)

  def initialize(rounds)
    $LOAD_PATH.unshift(LIB, EXTENSION)
    require "assay"
    @profiler = Assay::MethodProfiler
    @rounds = rounds
    @owners = []
  end

  # A new class as in the article, with a separate loop, so that variants do not share the caches of call sites.
  def subject
    owner = Class.new do
      def work; end

      class_eval("def method\n  work\nend", __FILE__, __LINE__)
    end
    looping = Module.new { module_eval("def self.run(t, n)\n i = 0\n while i < n\n  t.method\n  i += 1\n end\nend", __FILE__, __LINE__) }
    object = owner.new
    [owner, ->(n) { looping.run(object, n) }]
  end

  def patched(name, before, after, **options)
    owner, loop = subject
    @profiler.patch(owner, :method, :thing, **options)
    @owners << owner
    Variant.new(name, loop, before, after)
  end

  def variants
    nothing = -> {}
    empty = Module.new { module_eval("def self.run(n)\n i = 0\n while i < n\n  i += 1\n end\nend", __FILE__, __LINE__) }
    article, article_loop = subject
    ArticleProfiler.patch(article, :method, :thing)
    start = ->(**options) { -> { @profiler.start(**options) } }
    stop = -> { @profiler.stop }
    [
      Variant.new("empty loop", ->(n) { empty.run(n) }, nothing, nothing),
      Variant.new("plain", subject.last, nothing, nothing),
      Variant.new("plain, again", subject.last, nothing, nothing),
      Variant.new("article, idle", article_loop, nothing, nothing),
      Variant.new("article, active", article_loop, -> { ArticleProfiler.start }, -> { ArticleProfiler.stop }),
      patched("idle", nothing, nothing),
      patched("idle, kept", nothing, nothing, keep: true),
      patched("idle, another thread profiles", -> { elsewhere }, -> { @elsewhere.kill.join }),
      patched("idle, kept, another thread profiles", -> { elsewhere }, -> { @elsewhere.kill.join }, keep: true),
      patched("active", start.(), stop),
      patched("active, kept", start.(), stop, keep: true),
      patched("active, kept, exclusive", start.(exclusive: true), stop, keep: true),
      patched("active, kept, allocations", start.(allocations: true), stop, keep: true)
    ]
  end

  # A thread that profiles and waits, until it is killed.
  def elsewhere
    ready = Queue.new
    @elsewhere = Thread.new do
      @profiler.start
      ready << true
      sleep
    ensure
      @profiler.stop
    end
    ready.pop
  end

  def cpu = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)

  def time(variant, calls)
    variant.before.call
    variant.loop.call(WARM_UP)
    began = cpu
    variant.loop.call(calls)
    (cpu - began).fdiv(calls)
  ensure
    variant.after.call
  end

  # ns for one start and stop, per variant of keeping, with one patched method in the process.
  def start_and_stop
    @owners.each { |owner| @profiler.unpatch(owner) }
    {"swapped" => false, "kept" => true}.to_h do |name, keep|
      owner, = subject
      @profiler.patch(owner, :method, :thing, keep: keep)
      times = Array.new(@rounds) do
        began = cpu
        50.times { @profiler.start && @profiler.stop }
        (cpu - began) / 50.0
      end
      @profiler.unpatch(owner)
      [name, times.sort[times.size / 2]]
    end
  end

  def run
    all = variants
    random = Random.new(1)
    5.times { all.each { |variant| time(variant, WARM_UP) } }
    rounds = Array.new(@rounds) { all.shuffle(random: random).to_h { |variant| [variant.name, time(variant, CALLS)] } }
    puts JSON.generate(recorder: @profiler.recorder, yjit: defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled? ? true : false,
                       names: all.map(&:name), rounds: rounds, start_and_stop: start_and_stop,
                       own_cost: @profiler.profile { nil }.overhead.per_call * 1e9)
  end
end

def quantile(values, share) = values.sort[((values.size - 1) * share).round]

def summary(run)
  run["names"].to_h do |name|
    added = run["rounds"].map { |round| round[name] - round["plain"] }
    ratio = run["rounds"].map { |round| round[name] / round["plain"] }
    [name, {median: quantile(run["rounds"].map { |round| round[name] }, 0.5), added: quantile(added, 0.5),
            quartiles: [quantile(added, 0.25), quantile(added, 0.75)], ratio: quantile(ratio, 0.5)}]
  end
end

# The C recorder with the clock that it chooses, and with the system's.
RECORDERS = [["C", {}], ["C, OS clock", {"ASSAY_CLOCK" => "os"}], ["Ruby", {"ASSAY_PURE" => "1"}]].freeze

# Each combination of recorder and execution mode of Ruby runs in its own process.
def processes(rounds)
  ways = [["interpreter", []], ["YJIT", %w[--yjit --yjit-call-threshold=10]]]
  ways.pop unless system(RbConfig.ruby, "--yjit", "-e", "exit RubyVM::YJIT.enabled?", err: File::NULL)
  ways.product(RECORDERS).map do |(way, options), (recorder, environment)|
    output = IO.popen([environment, RbConfig.ruby, *options, __FILE__, "--child", "--rounds", rounds.to_s], &:read)
    raise "the process for #{way}, recorder in #{recorder}, failed" unless $?.success?

    run = JSON.parse(output)
    raise "the extension in C was not found: run test/run.sh first" if recorder != "Ruby" && run["recorder"] != "native"

    {way: way, recorder: recorder, results: summary(run), start_and_stop: run["start_and_stop"], own_cost: run["own_cost"]}
  end
end

def print_table(runs)
  puts "added ns per call over the plain method (ratio), medians of interleaved rounds"
  puts format("%-38s%s", "", runs.map { |run| format("%24s", "#{run[:way].sub("interpreter", "interp.")}, #{run[:recorder]}") }.join)
  runs.first[:results].each_key do |name|
    cells = runs.map do |run|
      result = run[:results][name]
      ["plain", "empty loop"].include?(name) ? format("%24s", format("%.1f ns", result[:median])) : format("%15.1f (%6.2f)", *result.values_at(:added, :ratio))
    end
    puts format("%-38s%s", name, cells.join)
  end
  %w[swapped kept].each do |name|
    puts format("%-38s%s", "start and stop, #{name}, µs", runs.map { |run| format("%24.1f", run[:start_and_stop][name] / 1e3) }.join)
  end
  puts format("%-38s%s", "own cost as calibrated, ns", runs.map { |run| format("%24.0f", run[:own_cost]) }.join)
end

rounds, json, child = 60, nil, false
OptionParser.new do |options|
  options.on("--rounds N", Integer) { |n| rounds = n }
  options.on("--json FILE") { |file| json = file }
  options.on("--child") { child = true }
end.parse!

if child
  Measurement.new(rounds).run
else
  load_before = File.exist?("/proc/loadavg") ? File.read("/proc/loadavg").split.first(3) : []
  runs = processes(rounds)
  print_table(runs)
  puts "#{RUBY_DESCRIPTION}; load before #{load_before.join(" ")}; #{rounds} rounds"
  File.write(json, JSON.pretty_generate(ruby: RUBY_DESCRIPTION, load: load_before, rounds: rounds, runs: runs)) if json
end
