# frozen_string_literal: true

# What the hooks write of each framework: names as in the framework's own report, phases, groups, how tests ended; and that the suite says
# and does the same with them and without.

require_relative "../support/suites"

class SuiteFrameworksTest < Minitest::Test
  include FrontEnd
  include Suites

  MINITEST = <<~'RUBY'
    require "minitest/autorun"
    class AlphaTest < Minitest::Test
      def setup = sleep(0.002)
      def test_ok = assert(true)
      def test_fails = assert_equal(1, 2)
      def test_raises = raise("a \"quoted\"\nword, ünd \x01")
      def test_skips = skip("why not")
    end
    class BetaTest < Minitest::Test
      def self.run(...) = (sleep(0.002); super)
      def setup = name == "test_setup" ? raise("in setup") : super
      def teardown = name == "test_teardown" ? raise("in teardown") : super
      def test_setup; end
      def test_teardown; end
    end
    describe("a thing") { it("works") { expect(1).must_equal 1 } }
  RUBY

  RSPEC = <<~'RUBY'
    RSpec.configure { |config| config.before(:suite) { sleep 0.002 } }
    RSpec.describe "User" do
      before(:all) { sleep 0.002 }
      after(:all) { sleep 0.002 }
      before { sleep 0.002 }
      it("works") { expect(1).to eq 1 }
      it("works") { expect(1).to eq 1 }
      it("fails") { expect(1).to eq 2 }
      it("is pending")
      it { expect(5).to be_positive }
      context("around") { around { |example| example.run; sleep 0.002 }; it("ends late") {} }
      context("without group") { before(:all) { raise "no group" }; it("never runs") {} }
      context("without setup") { before { raise "no setup" }; it("is not set up") {} }
      context("without end") { after { raise "no end" }; it("is not torn down") {} }
    end
  RUBY

  TEST_UNIT = <<~'RUBY'
    require "test/unit"
    class UnitTest < Test::Unit::TestCase
      def self.startup = sleep(0.002)
      def self.shutdown = sleep(0.002)
      def setup = method_name == "test_setup" ? raise("in setup") : super
      def teardown = method_name == "test_teardown" ? raise("in teardown") : super
      def test_ok = assert(true)
      def test_fails = assert_equal(1, 2)
      def test_omits = omit("why not")
      def test_setup; end
      def test_teardown; end
      data("one" => 1, "two" => 2)
      def test_data(number) = assert(number)
    end
  RUBY

  def test_minitest
    seen = watched(MINITEST, "--seed", "1", "--verbose")
    alone = watched(MINITEST, "--seed", "1", "--verbose", hooks: false)
    assert_same_output alone, seen
    reported = alone.out.scan(/^(\S+(?: \S+)*?)#(test_\S+) = /).map { |group, name| "#{group}: #{name}" }
    assert_equal reported.sort, seen.names.sort
    statuses = %w[ok fails raises skips setup teardown works].map { |name| seen.test(name)["status"] }
    assert_equal %w[passed failed failed skipped error error passed], statuses
    assert_equal "RuntimeError: a \"quoted\"\nword, ünd \u0001", seen.test("raises")["message"]
    assert_equal ["suite_test.rb", 4], seen.test("test_ok").values_at("file", "line")
    assert_equal ["BetaTest"], seen.spans("group_setup").select { |span| seconds(span) > 0.002 }.map { |span| span["group"] }
    assert_whole seen, "minitest", Minitest::VERSION
    assert_operator seen.test("test_ok")["setup"], :>=, 0.002
  end

  def test_rspec
    skip("needs RSpec (Debian: ruby-rspec)") unless there?("rspec/core/version")
    rspec = [RbConfig.ruby, "-S", "rspec", "--no-color"]
    seen = watched(RSPEC, "--format", "json", command: rspec, file: "user_spec.rb")
    alone = watched(RSPEC, "--format", "json", command: rspec, file: "user_spec.rb", hooks: false)
    report, plain = [seen, alone].map { |run| JSON.parse(run.out[/^\{.*\}$/]) }
    # Of the frames only the framework's own report as JSON has all, ours among them.
    without_times = lambda do |run|
      run["examples"].map { |example| [*example.except("run_time", "exception"), example["exception"]&.except("backtrace")] }
    end
    assert_equal without_times[plain], without_times[report]
    assert_equal alone.status.exitstatus, seen.status.exitstatus
    names = report["examples"].map { |example| "#{example["file_path"].delete_prefix("./")}: #{example["full_description"]}" }
    names[1] += " #2"
    # What its matcher says is not known where it fails.
    names[4] = "user_spec.rb: User (example 1)"
    assert_equal names, seen.names
    assert_equal %w[passed passed failed skipped passed passed error error error], seen.tests.map { |test| test["status"] }
    positive = seen.test("(example 1)")
    assert_nil positive["started"]
    assert_equal "./user_spec.rb[1:5]", positive["id"]
    assert_operator seen.test("ends late")["teardown"], :>=, 0.002
    assert_equal "User", seen.spans("group_setup").first["group"]
    assert_equal 1, seen.spans("suite_setup").size
    assert_equal 1, seen.spans("group_teardown").count { |span| span["group"] == "User" }
    assert_whole seen, "rspec", nil
  end

  def test_test_unit
    skip("needs test-unit (Debian: ruby-test-unit)") unless there?("test/unit/version")
    seen = watched(TEST_UNIT, "--verbose=normal")
    alone = watched(TEST_UNIT, "--verbose=normal", hooks: false)
    assert_same_output alone, seen
    assert_equal %w[data[one] data[two] fails ok omits setup teardown].map { |name| "UnitTest: test_#{name}" }, seen.names
    assert_equal %w[passed passed failed passed skipped error error], seen.tests.map { |test| test["status"] }
    assert_equal [1, 1], %w[group_setup group_teardown].map { |kind| seen.spans(kind).size }
    assert_whole seen, "test-unit", nil
  end

  def test_what_fails_beside_tests_is_told
    if there?("rspec/core/version")
      seen = watched(<<~'RUBY', command: [RbConfig.ruby, "-S", "rspec"], file: "end_spec.rb")
        RSpec.describe("End") { after(:all) { raise "no end" }; it("works") {} }
      RUBY
      beside = seen.of("beside").map { |event| event.values_at("status", "message") }
      assert_equal [["error", "RuntimeError: no end"]], beside
      assert_includes seen.of("beside")[0]["test"], "after(:context)"
      # No example runs if a file cannot be loaded.
      seen = watched("require 'none_such'", command: [RbConfig.ruby, "-S", "rspec"], file: "load_spec.rb")
      faults = seen.of("fault").map { |event| event["fault"] }
      assert_equal ["An error occurred while loading ./load_spec.rb: LoadError: cannot load such file -- none_such"], faults
    end
    skip("needs test-unit (Debian: ruby-test-unit)") unless there?("test/unit/version")
    seen = watched(<<~'RUBY')
      require "test/unit"
      class BeginTest < Test::Unit::TestCase
        def self.startup = raise("no begin")
        def test_never = nil
      end
      class EndTest < Test::Unit::TestCase
        def self.shutdown = raise("no end")
        def test_ok = nil
      end
    RUBY
    assert_equal ["BeginTest: startup", "EndTest: shutdown"], seen.of("beside").map { |event| event["test"] }
  end

  def test_tests_that_are_chosen_run_in_exactly_that_order
    minitest = watched(MINITEST, only: ["BetaTest: test_setup", "AlphaTest: test_skips", "no such", "BetaTest: test_teardown"])
    assert_equal ["BetaTest: test_setup", "AlphaTest: test_skips", "BetaTest: test_teardown"], minitest.started
    assert_equal [["no such"]], minitest.of("missing").map { |event| event["missing"] }
    assert_match(/^3 runs/, minitest.out)
    if there?("rspec/core/version")
      names = ["user_spec.rb: User around ends late", "user_spec.rb: User works #2", "./user_spec.rb[1:1]", "user_spec.rb: User around ends late"]
      rspec = watched(RSPEC, "--order", "random", command: [RbConfig.ruby, "-S", "rspec"], file: "user_spec.rb", only: names)
      assert_equal [*names.first(2), "user_spec.rb: User works", names[0]], rspec.started
      assert_match(/^4 examples, 0 failures/, rspec.out)
    end
    return unless there?("test/unit/version")

    unit = watched(TEST_UNIT, only: ["UnitTest: test_ok", "UnitTest: test_data[two]", "UnitTest: test_fails"])
    assert_equal ["UnitTest: test_ok", "UnitTest: test_data[two]", "UnitTest: test_fails"], unit.started
    assert_match(/^3 tests/, unit.out)
  end

  def test_all_tests_of_a_file_run_after_those_that_are_named
    whole = ->(source, **how) { watched(source, **how).started.sort }
    first = "BetaTest: test_teardown"
    minitest = watched(MINITEST, only: [first, "no such", "file:suite_test.rb", "file:other_test.rb"])
    assert_equal [first, whole.(MINITEST)], [minitest.started.first, minitest.started.sort]
    assert_equal [["no such"]], minitest.of("missing").map { |event| event["missing"] }
    unit = ["file:suite_test.rb"]
    assert_equal whole.(TEST_UNIT), whole.(TEST_UNIT, only: unit) if there?("test/unit/version")
    return unless there?("rspec/core/version")

    how = {command: [RbConfig.ruby, "-S", "rspec"], file: "user_spec.rb"}
    assert_equal whole.(RSPEC, **how), whole.(RSPEC, only: ["file:user_spec.rb"], **how)
  end

  def test_a_seed_gives_test_unit_an_order
    skip("needs test-unit (Debian: ruby-test-unit)") unless there?("test/unit/version")
    orders = [1, 1, 2].map { |seed| watched(TEST_UNIT, order: seed).started }
    assert_equal orders[0], orders[1]
    assert_operator orders.uniq.size, :>, 1
    assert_equal 1, orders.map(&:sort).uniq.size
  end

  private

  def assert_same_output(alone, seen)
    plain = ->(out) { out.gsub(/\d+\.\d+(?:e-\d+)?/, "N").gsub(/ +$/, "") }
    assert_equal plain[alone.out], plain[seen.out]
    assert_equal alone.status.exitstatus, seen.status.exitstatus
  end

  # One file, its header first and its end last; phases within each test, tests and spans in order and not within each other.
  def assert_whole(seen, framework, version)
    assert_equal ["#{seen.pid}.jsonl"], seen.files
    header = seen.events.first
    about = header.values_at("assay_tests", "framework", "language", "language_version", "process")
    assert_equal [1, framework, "ruby", RUBY_VERSION, seen.pid], about
    assert_equal version, header["framework_version"] if version
    assert_empty seen.of("problem")
    assert seen.events.last.key?("end")
    assert_equal ["load"], seen.of("span").first(1).map { |span| span["span"] }
    known = [*seen.tests, *seen.of("span")].sort_by { |event| [event["begin"], event["end"]] }
    known.each_cons(2) { |one, after| assert_operator one["end"], :<=, after["begin"] + 1e-9, "#{one} and #{after}" }
    seen.tests.each do |test|
      assert_operator test.values_at("setup", "body", "teardown").compact.sum, :<=, seconds(test) + 1e-9
      assert_operator test["gc"], :>=, 0 if test["gc"]
    end
    assert_equal seen.started, seen.tests.reject { |test| test["begin"] == test["end"] }.map { |test| test["started"] || test["test"] }
  end

  def seconds(event) = event["end"] - event["begin"]
end
