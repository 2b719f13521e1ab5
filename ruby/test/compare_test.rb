# frozen_string_literal: true

# Assay.compare, end to end with the program. Only relations are asserted: doing work four times
# takes longer than doing it once.

require_relative "support/front_end"

class CompareTest < Minitest::Test
  include FrontEnd

  WORK = 300

  def setup = need_program

  def test_four_times_the_work_is_never_called_the_same
    result = decided do
      quick do |x|
        x.report("once") { burn(WORK) }
        x.report("four times") { burn(4 * WORK) }
      end
    end
    comparison = result.comparison("four times")
    assert_equal ["slower", "slower"], [comparison.verdict, result.verdict]
    assert_operator comparison.ratio.lower, :>, 1
    assert_operator comparison.ratio.estimate, :>, 2
    assert_equal "once", comparison.against
    # If the difference changes during the run, as on a busy machine, more blocks are measured than the verdict needs.
    drifted = %w[noticed too_strong].include?(comparison.to_h["dependence"])
    assert(result.stop == "clear" || drifted, result.screen)
    assert_match(/four times.* uses .* × the CPU time of once/, result.screen)
  end

  def test_cpu_time_decides_where_it_is_asked_for_and_sleeping_costs_none
    works_and_waits = lambda do |x|
      x.report("works") { burn(40_000) }
      x.report("waits") { sleep(0.02) }
    end
    by_cpu = decided { quick(&works_and_waits) }
    assert_equal %w[cpu faster], [by_cpu.to_h["primary"], by_cpu.verdict]
    by_wall = decided { quick(primary: "wall", &works_and_waits) }
    assert_equal %w[wall slower], [by_wall.to_h["primary"], by_wall.verdict]
  end

  # On a busy machine measurements may drift too much for a verdict, so there are a few attempts. A wrong verdict fails immediately.
  def decided
    result = yield
    2.times { result = yield if result.verdict == "inconclusive" }
    result
  end

  def test_a_side_is_faster_the_other_way_round
    result = decided do
      quick do |x|
        x.report("four times") { burn(4 * WORK) }
        x.report("once") { burn(WORK) }
      end
    end
    assert_equal "faster", result.verdict
    # The verdict is about the ratio. Seconds have no interval if they drifted too much, as on a
    # busy machine.
    assert_operator result.comparison.ratio.upper, :<, 1
    assert_operator result.comparison.shift.estimate, :<, 0
  end

  def test_all_three_forms_are_run_as_often_as_asked_for
    result = quick(threshold: "30%") do |x|
      x.report("block") { burn(WORK) }
      x.report("times") { |times| i = 0; while i < times; burn(WORK); i += 1; end }
      x.report("text", "j = 0; while j < #{20 * WORK}; j += 1; end")
    end
    assert_equal %w[times text], result.comparisons.map(&:of)
    assert_equal "slower", result.verdict("text")
    assert_equal({ "block" => "block", "times" => "times", "text" => "text" }, result.to_h["environment"]["forms"])
    assert_match(/some sides are called by a loop and some loop themselves/, result.screen)
  end

  def test_allocations_are_exact_counts_for_one_iteration
    result = quick(threshold: "50%") do |x|
      x.report("none") { burn(WORK) }
      x.report("three") { burn(WORK); Object.new; Object.new; Object.new }
    end
    assert_equal [0, 3], [result.allocations("none"), result.allocations("three")]
    counted = result.to_h["comparisons"].find { |comparison| comparison["metric"] == "allocations" }
    assert_equal [3.0, "slower"], [counted["shift"]["estimate"], counted["verdict"]]
  end

  def test_a_comparison_with_itself_is_not_called_a_difference_that_matters
    result = quick(threshold: "60%") do |x|
      x.report("a") { burn(WORK) }
      x.report("b") { burn(WORK) }
    end
    refute_includes %w[faster slower], result.comparison.verdict.then { |v| result.comparison.to_h["possibly_below_threshold"] ? "small" : v }
  end

  def test_samples_keep_their_blocks_with_every_side_once_in_each_in_an_order_that_varies
    file = nil
    Dir.mktmpdir do |directory|
      file = File.join(directory, "run.assay")
      result = quick(seed: 7) do |x|
        x.report("a") { burn(WORK) }
        x.report("b") { burn(4 * WORK) }
        x.save! file
        x.json! "#{file}.json"
      end
      lines = File.readlines(file).map { |line| JSON.parse(line) }
      timed = lines.select { |line| line["kind"] == "obs" && line["values"]["wall"] }
      blocks = timed.group_by { |line| line["block"] }
      assert_equal result.recording.blocks, blocks.size
      assert(blocks.values.all? { |block| block.map { |line| line["subject"] }.sort == [0, 1] && block.map { |line| line["pos"] } == [0, 1] })
      assert_equal [[0, 1], [1, 0]], blocks.values.map { |block| block.map { |line| line["subject"] } }.uniq.sort
      assert_equal result.to_h, JSON.parse(File.read("#{file}.json"))
      assert_equal result.verdict, Assay::Binary.analysis(file)["verdict"]
      assert_equal({ "kind" => "stop", "reason" => result.stop, "blocks" => blocks.size }, lines.last)
    end
  end

  def test_a_side_that_is_a_thousand_times_slower_gets_iterations_of_its_own
    result = quick do |x|
      x.report("short") { burn(3) }
      x.report("long") { burn(30_000) }
    end
    iterations = result.to_h["environment"]["iterations"]
    assert_operator iterations["short"], :>, 20 * iterations["long"]
    assert_equal "slower", result.verdict
  end

  def test_batches_last_equally_long_so_that_the_longer_work_is_not_interrupted_more_often
    result = quick do |x|
      x.report("a") { burn(WORK) }
      x.report("b") { burn(4 * WORK) }
    end
    assert_includes 2.0..8.0, result.to_h["environment"]["iterations"].values.then { |a, b| a.fdiv(b) }
  end

  def test_the_screen_goes_to_standard_output_unless_it_is_told_to_be_quiet
    out, err = capture_io { quick(quiet: false, &method(:two)) }
    assert_match(/b uses .* × the CPU time of a/, out)
    assert_empty err
    assert_equal ["", ""], capture_io { quick(&method(:two)) }
  end

  def test_an_exception_of_a_report_passes_through
    error = assert_raises(ZeroDivisionError) do
      quick do |x|
        x.report("a") { 1 / 0 }
        x.report("b") { burn(WORK) }
      end
    end
    assert_equal "divided by 0", error.message
  end

  def test_an_interrupted_comparison_tells_what_is_known_and_ends_the_program
    program = <<~RUBY
      require "assay"
      trap("INT", "DEFAULT") # Tests that run in the background ignore interrupts.
      Assay::Compare::Recording.prepend(Module.new { def block(turns) = super.tap { Process.kill(:INT, $$) if blocks == 5 } })
      Assay.compare(time: 100, warmup: 0) do |x|
        x.report("a") { 1 }
        x.report("b") { 2 }
      end
      puts "never here"
    RUBY
    out, err, status = ruby(program, env: { "ASSAY" => Assay::Binary.path, "LANG" => "C.UTF-8" })
    assert_match(/5 blocks/, out, err)
    refute_match(/never here/, out)
    assert_equal Signal.list["INT"], status.termsig
  end

  def test_under_assay_run_the_values_are_handed_over
    Dir.mktmpdir do |directory|
      program = File.join(directory, "p.rb")
      File.write(program, <<~RUBY)
        require "assay"
        Assay.compare(time: 0.1, warmup: 0.01) do |x|
          x.report("once") { Object.new }
          x.report("often") { Array.new(9) { Object.new } }
        end
      RUBY
      run = "#{RbConfig.ruby} -I #{FrontEnd::LIB} #{program}"
      out, err, = Open3.capture3({ "ASSAY" => Assay::Binary.path }, Assay::Binary.path, "run", "--samples", "--runs", "2", "--no-save", "--json", run)
      metrics = JSON.parse(out)["descriptions"][0]["metrics"]
      assert_equal "s", metrics["once"]["unit"], err
      # Counts, since a busy machine makes any time longer.
      assert_equal [1, 10], ["once allocations", "often allocations"].map { |name| metrics[name]["min"].round }
    end
  end

  def test_without_a_program_values_are_handed_over_and_it_is_said_that_there_is_no_verdict
    Dir.mktmpdir do |directory|
      program = 'require "assay"; r = Assay.compare(time: 0.02, warmup: 0) { |x| x.report("a") { 1 }; x.report("b") { 2 } }; r.verdict rescue puts $!.class'
      out, err, status = ruby(program, env: { "ASSAY" => nil, "PATH" => "/nowhere", "ASSAY_SAMPLES" => "path:#{directory}/lines" })
      assert_equal ["Assay::Binary::Missing\n", true], [out, status.success?], err
      assert_match(/no verdict here/, err)
      assert_equal ["a", "a allocations", "b", "b allocations"], File.readlines("#{directory}/lines").map { |line| JSON.parse(line)["metric"] }
    end
  end

  def test_without_a_program_and_a_listener_nothing_is_measured
    program = 'require "assay"; Assay.compare { |x| x.report("a") { print "ran" }; x.report("b") { print "ran" } }'
    out, err, status = ruby(program, env: { "ASSAY" => nil, "PATH" => "/nowhere", "ASSAY_SAMPLES" => nil })
    assert_equal ["", false], [out, status.success?]
    assert_match(/cargo install/, err)
  end

  private

  # By CPU time, since the machine may also run other programs.
  def quick(time: 2, warmup: 0.01, quiet: true, primary: "cpu", **options, &block)
    Assay.compare(time: time, warmup: warmup, quiet: quiet, primary: primary, **options, &block)
  end

  def two(x)
    x.report("a") { burn(WORK) }
    x.report("b") { burn(4 * WORK) }
  end

  def burn(times)
    i = 0
    i += 1 while i < times
  end
end
