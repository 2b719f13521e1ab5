# frozen_string_literal: true

# The frames visible to samplers: the running test, and the setup of groups; they change nothing
# else.

require_relative "../support/suites"

class SuiteFramesTest < Minitest::Test
  include FrontEnd
  include Suites

  # Returns the frames of the stack, innermost first: kind and name.
  SEEN = <<~'RUBY'
    def self.seen(what) = puts("SEEN #{what} = #{caller.filter_map { |line| line[/assay-frame:([^:]*:[^:]*)/, 1] }.join(" ")}")
  RUBY

  MINITEST = SEEN + <<~'RUBY'
    require "minitest/autorun"
    $main = self
    $main.singleton_class.class_eval { public :seen }
    $main.seen("loading")
    class PlainTest < Minitest::Test
      def setup = $main.seen("setup")
      def test_one = $main.seen("one")
      def test_fails = assert_equal(1, 2)
      def teardown = ($main.seen("teardown") if name == "test_one")
    end
    class OwnTest < Minitest::Test
      def self.run(...) = ($main.seen("own run"); super)
      def test_two = $main.seen("two")
    end
    describe("a thing; (odd) /") { it("works %") { $main.seen("odd") } }
  RUBY

  RSPEC = SEEN + <<~'RUBY'
    $main = self
    RSpec.configure { |config| config.before(:suite) { $main.seen("suite") } }
    RSpec.describe "User; (odd)\nname" do
      before(:all) { $main.seen("before all") }
      after(:all) { $main.seen("after all") }
      before { $main.seen("before") }
      it("works") { $main.seen("one") }
      it("fails") { expect(1).to eq 2 }
    end
  RUBY

  TEST_UNIT = SEEN + <<~'RUBY'
    require "test/unit"
    $main = self
    class UnitTest < Test::Unit::TestCase
      def self.startup = $main.seen("startup")
      def self.shutdown = $main.seen("shutdown")
      def setup = $main.seen("setup")
      def test_one = $main.seen("one")
      def test_fails = assert_equal(1, 2)
    end
  RUBY

  def test_minitest
    seen, alone = both(MINITEST, "--seed", "1")
    one = "test:PlainTest%3A%20test_one run:"
    assert_equal({"setup" => one, "one" => one, "teardown" => one}, seen.slice("setup", "one", "teardown"))
    assert_equal ["", "group:OwnTest run:", "test:OwnTest%3A%20test_two group:OwnTest run:"], seen.values_at("loading", "own run", "two")
    assert_equal "test:a%20thing%3B%20%28odd%29%20%2F%3A%20test_0001_works%20%25 run:", seen["odd"]
    assert_empty alone.values.uniq - [""]
  end

  def test_rspec
    skip("needs RSpec (Debian: ruby-rspec)") unless there?("rspec/core/version")
    seen, = both(RSPEC, "--no-color", command: [RbConfig.ruby, "-S", "rspec"], file: "user_spec.rb")
    group = "User%3B%20%28odd%29%0Aname"
    assert_equal "suite_setup: run:", seen["suite"]
    assert_equal ["group_setup:#{group} run:", "group_teardown:#{group} run:"], seen.values_at("before all", "after all")
    assert_match(/\Atest:user_spec.rb%3A%20User%3B%20%28odd%29%0Aname%20(works|fails) run:\z/, seen["before"])
    assert_equal "test:user_spec.rb%3A%20#{group}%20works run:", seen["one"]
  end

  def test_test_unit
    skip("needs test-unit (Debian: ruby-test-unit)") unless there?("test/unit/version")
    seen, = both(TEST_UNIT)
    assert_equal ["group_setup:UnitTest run:", "group_teardown:UnitTest run:"], seen.values_at("startup", "shutdown")
    assert_equal "test:UnitTest%3A%20test_one run:", seen["one"]
  end

  private

  # The results with frames and without. The rest of the suite's output, including backtraces of failures, is the same.
  def both(source, *arguments, **how)
    framed, alone = [{"ASSAY_TESTS_FRAMES" => "1"}, {}].map { |env| watched(source, *arguments, **how, env: env) }
    plain = ->(out) { out.gsub(/SEEN .*$/, "").gsub(/\d+\.\d+(?:e-\d+)?/, "N") }
    assert_equal plain[alone.out], plain[framed.out]
    assert_equal alone.status.exitstatus, framed.status.exitstatus
    assert_equal alone.names, framed.names
    assert_empty framed.of("problem")
    [framed, alone].map { |run| run.out.scan(/SEEN (.*) = (.*)$/).to_h }
  end
end
