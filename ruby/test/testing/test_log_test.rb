# frozen_string_literal: true

require "minitest/autorun"
require "open3"
require "tmpdir"

# Each framework in a process of its own, with a suite of two tests, the second of which logs a line.
class TestLogTest < Minitest::Test
  LIB = File.expand_path("../../lib", __dir__)
  MINITEST = <<~RUBY
    require "minitest/autorun"
    require "assay/test_log"
    Assay::TestLog.install
    class CartTest < Minitest::Test
      i_suck_and_my_tests_are_order_dependent!
      def setup = Assay::TestLog.logger.debug("set up")
      def test_a = assert(true)
      def test_b = Assay::TestLog.logger.debug("work")
    end
  RUBY
  TEST_UNIT = <<~RUBY
    require "test/unit"
    require "assay/test_log"
    load "assay/test_log.rb"
    class CartTest < Test::Unit::TestCase
      def setup = Assay::TestLog.logger.debug("set up")
      def test_a = assert(true)
      def test_b = Assay::TestLog.logger.debug("work")
    end
  RUBY
  RSPEC = <<~RUBY
    require "rspec/autorun"
    require "assay/test_log"
    Assay::TestLog.install
    RSpec.describe "Cart" do
      before { Assay::TestLog.logger.debug("set up") }
      it("test_a") { expect(1).to eq(1) }
      it("test_b") { Assay::TestLog.logger.debug("work") }
    end
  RUBY

  # The messages in the log of a suite; nil without a log.
  def messages(suite, asked)
    Dir.mktmpdir do |directory|
      said, status = Open3.capture2e({"PROFILE_LOG" => asked}, "ruby", "-I", LIB, "-e", suite, chdir: directory)
      assert_predicate(status, :success?, said)
      log = File.join(directory, "log/test.log")
      File.exist?(log) ? File.readlines(log, chomp: true).grep_v(/\A#/).map { |line| line.split(" -- : ").last } : nil
    end
  end

  def each_framework
    {"minitest" => MINITEST, "test-unit" => TEST_UNIT, "rspec" => RSPEC}.each do |name, suite|
      yield(name, suite) if name == "minitest" || Gem::Specification.any? { |gem| gem.name.start_with?(name) }
    end
  end

  def test_each_test_is_named_once_before_what_it_logs
    each_framework do |name, suite|
      expected = ["RUNNING", "Cart", "test_a", "set up", "RUNNING", "Cart", "test_b", "set up", "work"]
      found = messages(suite, "1").flat_map { |line| line.start_with?("RUNNING") ? line.sub("CartTest", "Cart").split : [line] }
      assert_equal(expected, found, name)
    end
  end

  def test_nothing_is_named_unless_it_is_asked_for
    each_framework { |name, suite| refute_includes(messages(suite, "").to_a.join, "RUNNING", name) }
  end
end
