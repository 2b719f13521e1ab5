# frozen_string_literal: true

# The client of the sample protocol, run in separate programs: their output, and that no problem
# with the descriptor breaks them.

require_relative "support/front_end"

class SamplesTest < Minitest::Test
  include FrontEnd

  PROGRAM = <<~RUBY
    require "assay"
    Assay::Samples.give("latency", 1.25, unit: "ms", better: :lower)
    Assay::Samples.give("latency", [1.5, 2], unit: "ms", better: :lower)
    value = Assay::Samples.region("parse", take: :max) { :parsed }
    puts "the program goes on with \#{value.inspect}"
  RUBY

  def test_values_and_regions_are_written_at_exit_to_a_file
    lines = lines_of(PROGRAM)
    assert_equal({ "metric" => "latency", "unit" => "ms", "better" => "lower", "value" => 1.25 }, lines[0])
    assert_equal({ "metric" => "latency", "values" => [1.5, 2.0] }, lines[1].transform_values { |v| v.is_a?(Array) ? v.map(&:to_f) : v })
    assert_equal %w[region take ns], lines[2].keys
    assert_operator lines[2]["ns"], :>=, 0
  end

  def test_values_are_written_to_a_descriptor
    reader, writer = IO.pipe
    out, err, status = ruby(PROGRAM, env: { "ASSAY_SAMPLES" => "fd:9" }, options: { 9 => writer })
    writer.close
    assert_equal [3, "", true], [reader.read.lines.size, err, status.success?]
    assert_equal "the program goes on with :parsed\n", out
  ensure
    reader.close
  end

  def test_nothing_is_written_where_nobody_measures
    [{ "ASSAY_SAMPLES" => nil }, { "ASSAY_SAMPLES" => "" }, { "ASSAY_SAMPLES" => "socket:1" }].each do |env|
      assert_equal ["the program goes on with :parsed\n", "", 0], said(*ruby(PROGRAM, env: env))
    end
  end

  def test_a_closed_descriptor_is_told_once_and_the_program_goes_on
    program = PROGRAM + "Assay::Samples.flush; Assay::Samples.give('more', 1); Assay::Samples.flush\n"
    out, err, status = ruby(program, env: { "ASSAY_SAMPLES" => "fd:63" })
    assert_equal ["the program goes on with :parsed\n", 0], [out, status.exitstatus]
    assert_equal 1, err.lines.size, err
    assert_match(/\Aassay: numbers for assay could not be written to fd:63: .*The program goes on/, err)
  end

  def test_a_full_device_is_told_once_and_the_program_goes_on
    skip("there is no /dev/full here") unless File.exist?("/dev/full")
    out, err, status = ruby(PROGRAM, env: { "ASSAY_SAMPLES" => "path:/dev/full" })
    assert_equal ["the program goes on with :parsed\n", 0], [out, status.exitstatus]
    assert_match(/No space left/, err)
  end

  def test_a_closed_standard_error_does_not_break_the_program_either
    out, _, status = ruby("$stderr.close\n#{PROGRAM}", env: { "ASSAY_SAMPLES" => "fd:63" })
    assert_equal ["the program goes on with :parsed\n", 0], [out, status.exitstatus]
  end

  def test_a_forked_process_does_not_write_its_parents_lines_again
    program = <<~RUBY
      require "assay"
      Assay::Samples.give("parent", 1)
      Process.wait(fork { Assay::Samples.give("child", 2) })
      Assay::Samples.give("parent", 3)
    RUBY
    assert_equal [["child", 2], ["parent", 1], ["parent", 3]], lines_of(program).map { |line| line.values_at("metric", "value") }
  end

  def test_what_is_given_while_the_program_exits_is_written_too
    program = <<~RUBY
      require "assay"
      at_exit { Assay::Samples.give("late", 2) }
      Assay::Samples.give("early", 1)
    RUBY
    assert_equal %w[early late], lines_of(program).map { |line| line["metric"] }
  end

  def test_many_values_become_lines_that_are_not_too_long
    lines = lines_of('require "assay"; Assay::Samples.give("x", (1..100_000).map { |i| i * 1.1 })')
    assert_equal 100_000, lines.sum { |line| line["values"].size }
    assert_operator lines.map { |line| line["values"].size }.max, :<=, Assay::Samples::VALUES_PER_LINE
  end

  def test_threads_do_not_tear_lines
    program = 'require "assay"; 8.times.map { |t| Thread.new { 500.times { |i| Assay::Samples.give("t#{t}", i) } } }.each(&:join)'
    assert_equal [500] * 8, lines_of(program).group_by { |line| line["metric"] }.values.map(&:size)
  end

  def test_a_value_that_is_not_finite_is_left_out_and_told
    out, err, status = nil
    lines = lines_of('require "assay"; Assay::Samples.give("x", [1, 0.0 / 0, 2], unit: "B"); Assay::Samples.give("y", 1 / 0.0)') do |*said|
      out, err, status = said
    end
    assert_equal [{ "metric" => "x", "unit" => "B", "values" => [1, 2] }], lines
    assert_equal "assay: a value of `x` is not a finite number and was left out\n", err
    assert_equal ["", 0], [out, status.exitstatus]
  end

  def test_a_region_that_raises_gives_its_time_and_lets_the_exception_through
    lines = lines_of('require "assay"; begin; Assay::Samples.region("r") { raise "no" }; rescue => e; Assay::Samples.give(e.message, 1); end')
    assert_equal [["region", "ns"], ["metric", "value"]], lines.map(&:keys)
  end

  def test_what_can_not_be_meant_is_an_error_that_says_what_can
    program = <<~'RUBY'
      require "assay"
      [-> { Assay::Samples.give("x", "much") }, -> { Assay::Samples.give("x" * 101, 1) },
       -> { Assay::Samples.give("x", 1, take: :middle) }, -> { Assay::Samples.give("x", 1, better: :red) }].each do |wrong|
        wrong.call
      rescue ArgumentError => e
        puts e.message
      end
    RUBY
    Dir.mktmpdir do |directory|
      out, = ruby(program, env: { "ASSAY_SAMPLES" => "path:#{directory}/lines" })
      assert_equal 4, out.lines.size
      assert_match(/the values of `x` are numbers, not "much"/, out)
      assert_match(/1 to 100 characters/, out)
      assert_match(/take: is one of first, last, sum/, out)
      assert_match(/better: is one of lower, higher, not "red"/, out)
    end
  end

  def test_assay_run_takes_the_values
    need_program
    Dir.mktmpdir do |directory|
      program = File.join(directory, "p.rb")
      File.write(program, 'require "assay"; Assay::Samples.give("rows", 512, better: :higher); Assay::Samples.region("work") { 1 + 1 }')
      run = "#{RbConfig.ruby} -I #{FrontEnd::LIB} #{program}"
      out, err, = Open3.capture3(Assay::Binary.path, "run", "--samples", "--runs", "2", "--no-save", "--json", run)
      metrics = JSON.parse(out)["descriptions"][0]["metrics"]
      assert_equal [512, 512], metrics["rows"].values_at("min", "max"), err
      assert_equal [2, "s"], metrics["work"].values_at("n", "unit")
    end
  end

  private

  def said(out, err, status) = [out, err, status.exitstatus]

  # The program's output, line by line.
  def lines_of(program)
    Dir.mktmpdir do |directory|
      file = File.join(directory, "lines")
      said = ruby(program, env: { "ASSAY_SAMPLES" => "path:#{file}" })
      block_given? ? yield(*said) : assert_equal([true, ""], [said[2].success?, said[1]])
      File.readlines(file).map { |line| JSON.parse(line) }
    end
  end
end
