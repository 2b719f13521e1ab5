# frozen_string_literal: true

# Measures the experiments of subjects.rb in blocks of random order, and prints the ratios to the
# plain method next to those of the article. With `assay`, every comparison has a verdict, and its
# power: the smallest difference that it could have detected.

require "json"
require "open3"
require "tempfile"
require_relative "server"
require_relative "subjects"

$LOAD_PATH.unshift(*%w[lib tmp].map { |place| File.expand_path("../../ruby/#{place}", __dir__) })
require "assay"

# Measures one experiment.
class Experiment
  THRESHOLD = 0.01

  # clock:: without work the CPU time of this thread, which other processes disturb little; with Redis the time of day, since most of
  #         the work is done by another process
  def initialize(subjects, clock:, calls:, blocks:, seed:)
    @subjects, @clock, @calls, @blocks, @seed = subjects, clock, calls, blocks, seed
  end

  # Seconds per call: {subject => [one per block]}.
  def run
    random = Random.new(@seed)
    @order = []
    @times = @subjects.to_h { |subject| [subject, []] }
    3.times { @subjects.each { |subject| time(subject) } }
    @blocks.times do
      turn = @subjects.shuffle(random: random)
      turn.each { |subject| @times[subject] << time(subject) }
      @order << turn
    end
    @times
  end

  # Median over the blocks of the ratio to the plain method in the same block.
  def ratio(subject)
    ratios = @times[subject].zip(@times[@subjects.first]).map { |own, plain| own / plain }.sort
    ratios[ratios.size / 2]
  end

  # Returns the result of `assay compare`: {name of subject => a comparison of its JSON}.
  def verdicts(assay)
    Tempfile.create(["experiment", ".assay"]) do |file|
      file.write(recorded.map { |record| JSON.generate(record) << "\n" }.join)
      file.close
      output, errors, status = Open3.capture3(assay, "compare", "--json", file.path)
      raise "#{assay} compare failed: #{errors}" unless status.success?

      JSON.parse(output)["comparisons"].select { |c| c["family"] == "primary" }.to_h { |comparison| [comparison["of"], comparison] }
    end
  end

  private

  def time(subject)
    subject.before.call
    subject.loop.call(@calls / 10)
    GC.start if @calls < 1000
    began = Process.clock_gettime(@clock)
    subject.loop.call(@calls)
    (Process.clock_gettime(@clock) - began) / @calls
  ensure
    subject.after.call
  end

  # The format is docs/reference/sample-file.md.
  def recorded
    plan = {confidence: 0.95, threshold: {relative: THRESHOLD}, stop: {rule: "fixed", blocks: @blocks}, warmup: 3, primary: "wall",
            seed: @seed}
    head = [{assay: 1, kind: "run", tool: "examples/method-instrumentation", seed: @seed, plan: plan},
            {kind: "environment", ruby: RUBY_DESCRIPTION}]
    sides = @subjects.map { |subject| {kind: "side", name: subject.name} }
    subjects = @subjects.each_with_index.map { |subject, side| {kind: "subject", side: side, row: 0, name: subject.name} }
    metric = {kind: "metric", name: "wall", unit: "s", better: "lower"}
    values = @order.each_with_index.flat_map do |turn, block|
      turn.each_with_index.map do |subject, position|
        {kind: "obs", subject: @subjects.index(subject), block: block, pos: position, values: {wall: @times[subject][block]}}
      end
    end
    [*head, *sides, {kind: "row", name: ""}, *subjects, metric, *values]
  end
end

# Additional seconds of a call compared to the plain one, without work: {[title, name] => seconds}.
ADDED = {}

# Prints one experiment as a table. With Redis it includes the expected ratio: the cost measured
# without work, added to a GET.
def table(title, what, experiment, subjects, unit, article, assay)
  times = experiment.run
  verdicts = assay ? experiment.verdicts(assay) : {}
  columns = ["a call", "ratio", "article", *("expected" if article == 1)].map { |word| format("%12s", word) }.join
  puts "", "#{title}, #{what}", format("  %-38s%s%s", "", columns, assay ? "  the difference, 95 % confidence" : "")
  middle = ->(subject) { times[subject].sort[times[subject].size / 2] }
  base = subjects.first
  subjects.each do |subject|
    ADDED[[title, subject.name]] ||= middle.(subject) - middle.(base)
    cells = [unit.(middle.(subject)), format("%.3f", experiment.ratio(subject)),
             subject.article ? format("%.3f", base.article[article] / subject.article[article]) : "",
             *(format("%.4f", 1 + ADDED[[title, subject.name]] / middle.(base)) if article == 1)]
    puts "  #{subject.name.ljust(38)}#{cells.map { |cell| cell.rjust(12) }.join}#{said(verdicts[subject.name])}".rstrip
  end
end

# Formats an interval, the verdict, and the smallest difference that this experiment finds in 4 of 5
# cases.
def said(comparison)
  return "" unless comparison

  interval = comparison["ratio"]&.then { |ratio| format("%.3f … %.3f", *ratio.values_at("lower", "upper")) }
  power = comparison["detectable"]&.then { |share| format("could see %.1f %%", share * 100) }
  "  " + [comparison["verdict"], interval, power].compact.join(", ")
end

smoke = ARGV.delete("--smoke")
assay = ARGV.first || ENV["PATH"].split(":").map { |place| File.join(place, "assay") }.find { |file| File.executable?(file) }
blocks = smoke ? 10 : 200
nanoseconds = ->(seconds) { format("%.1f ns", seconds * 1e9) }
microseconds = ->(seconds) { format("%.2f µs", seconds * 1e6) }

puts RUBY_DESCRIPTION, "recorder of Assay::MethodProfiler: #{Assay::MethodProfiler.recorder}; #{blocks} blocks in random order"
puts "no `assay` was found: ratios only, without verdicts (give its path as an argument)" unless assay

Subjects.all("").each do |title, subjects|
  experiment = Experiment.new(subjects, clock: Process::CLOCK_THREAD_CPUTIME_ID, calls: smoke ? 2_000 : 20_000, blocks: blocks, seed: 4)
  table(title, "without work", experiment, subjects, nanoseconds, 0, assay)
end

if (reason = Server.missing)
  warn "", "without Redis: #{reason}"
  exit
end
Server.run do |redis|
  $redis = redis
  Subjects.all("$redis.get(\"x\")").each do |title, subjects|
    experiment = Experiment.new(subjects, clock: Process::CLOCK_MONOTONIC, calls: smoke ? 10 : 100, blocks: blocks, seed: 4)
    table(title, "with a Redis GET", experiment, subjects, microseconds, 1, assay)
  end
end
