# frozen_string_literal: true

# The same API under each framework: a small suite runs in a separate process, and its results are
# checked. One test passes, one fails, one is inconclusive, one uses a fake and raises; the last one
# checks that nothing of the others is left.

require_relative "../support/front_end"

class FrameworksTest < Minitest::Test
  include FrontEnd

  # The contents of every suite.
  WORKER = <<~'RUBY'
    class Worker
      def work = (sleep 2**30; system("exit 4"); @done = true)
    end
    WORKER = Worker.new

    # A count that changes from run to run.
    module Flaky
      def self.run = ((@runs = @runs.to_i + 1).even? ? [] : nil)
    end

    def left = [WORKER.singleton_methods(false), WORKER.singleton_class.private_instance_methods(false), Kernel.instance_method(:sleep).source_location]
  RUBY

  METHODS = <<~'RUBY'
    def test_1_fakes
      fake_sleep(WORKER)
      fake_system(WORKER)
      WORKER.work
      assert_equal [[2**30], ["exit 4"], 2**30], [sleeps(WORKER), commands(WORKER), clock.elapsed]
    end

    def test_2_fails
      sandbox
      assert_allocations(1) { [[]] }
    end

    def test_3_is_inconclusive = assert_allocations(1) { Flaky.run }

    def test_4_raises
      fake_sleep(WORKER)
      fake_system(WORKER, results: [])
      WORKER.work
    end

    def test_5_nothing_is_left
      assert_equal [[], [], nil], left
      assert_equal START, Dir.pwd
    end
  RUBY

  def test_minitest_with_the_test_case
    out = suite(<<~RUBY)
      require "minitest/autorun"
      require "assay/test_case"
      #{WORKER}
      class Suite < Assay::TestCase
        i_suck_and_my_tests_are_order_dependent!
        #{METHODS.sub("START, Dir.pwd", "directory, Dir.pwd")}
      end
    RUBY
    assert_match(/5 runs, \d+ assertions, 1 failures, 1 errors, 1 skips/, out)
    assert_messages(out)
  end

  def test_minitest_with_the_module_and_a_teardown_that_forgets_super
    out = suite(<<~RUBY)
      require "minitest/autorun"
      require "assay/testing"
      START = Dir.pwd
      #{WORKER}
      class Suite < Minitest::Test
        include Assay::Testing
        i_suck_and_my_tests_are_order_dependent!
        def teardown; end
        #{METHODS}
      end
    RUBY
    assert_match(/5 runs, \d+ assertions, 1 failures, 1 errors, 1 skips/, out)
    assert_messages(out)
  end

  def test_test_unit
    skip("needs test-unit (Debian: ruby-test-unit)") unless there?("test/unit/version")
    out = suite(<<~RUBY, "--verbose=normal")
      require "test/unit"
      require "assay/testing"
      START = Dir.pwd
      #{WORKER}
      class Suite < Test::Unit::TestCase
        include Assay::Testing
        def teardown; end
        #{METHODS}
      end
    RUBY
    assert_match(/5 tests, \d+ assertions, 1 failures, 1 errors, 0 pendings, 1 omissions/, out)
    assert_messages(out)
  end

  def test_rspec
    skip("needs RSpec (Debian: ruby-rspec)") unless there?("rspec/core/version")
    need_program
    out = suite(<<~RUBY)
      require "rspec/autorun"
      require "assay/rspec"
      START = Dir.pwd
      #{WORKER}
      RSpec.describe Worker do
        it "fakes" do
          fake_sleep(WORKER)
          fake_system(WORKER)
          WORKER.work
          expect([sleeps(WORKER), commands(WORKER), clock.elapsed]).to eq([[2**30], ["exit 4"], 2**30])
        end

        it("fails by a matcher") { sandbox; expect { [[]] }.to allocate(1) }
        it("fails by an assertion") { assert_allocations(1) { [[]] } }
        it("is inconclusive by a matcher") { expect { Flaky.run }.to allocate(1) }
        it("is inconclusive by an assertion") { assert_allocations(1) { Flaky.run } }
        it("is inconclusive and fails") { expect { Flaky.run }.to allocate(1).inconclusive(:fail) }
        it("raises") { fake_sleep(WORKER); fake_system(WORKER, results: []); WORKER.work }
        it("leaves nothing") { expect([*left, Dir.pwd]).to eq([[], [], nil, START]) }

        it "has every matcher" do
          list = (1..5_000).to_a
          expect { list.first(2) }.to make_calls(Array, :first, 1)
          expect { list.bsearch { |i| i > 4_000 } }.to be_faster_than { list.find { |i| i > 4_000 } }.by("50%").with(primary: "cpu", time: 20)
          expect { list.bsearch { |i| i > 4_000 } }.to be_no_slower_than { list.find { |i| i > 4_000 } }.with(primary: "cpu", time: 20)
          expect { |n| n.times { |i| i } }.to grow(:linear).over([2_000, 4_000, 8_000]).with(primary: "cpu", time: 20)
        end

        it("has nothing to say to the contrary") { expect { 1 }.not_to allocate(1) }
        it("fails a speed") { expect { 3_000.times { |i| i } }.to be_faster_than { 300.times { |i| i } }.with(primary: "cpu", time: 20) }
      end
    RUBY
    assert_match(/11 examples, 6 failures, 2 pending/, out)
    assert_messages(out)
    assert_match(/expected the block to allocate 1 objects: the block allocates 2 objects, expected 1/, out)
    assert_match(/expected the block to allocate 1 objects: inconclusive: the block allocates/, out)
    assert_match(%r{Failure/Error: it\("fails by an assertion"\)}, out)
    assert_match(/`not_to allocate 1 objects` is not asked/, out)
    assert_match(/expected the block to be faster than the other: .* × the CPU time of/, out)
  end

  def test_without_a_framework_an_assertion_raises
    out, err, status = ruby(<<~'RUBY')
      require "assay/testing"
      include Assay::Testing
      begin
        assert_allocations(1) { [[]] }
      rescue Assay::Testing::Failed => e
        puts e.message.lines.first
      end
      runs = 0
      begin
        assert_allocations(1) { (runs += 1).even? ? Object.new : nil }
      rescue Assay::Testing::Inconclusive => e
        puts e.message[0, 12]
      end
      puts assert_allocations(0) { 1 }.kind
    RUBY
    assert_equal ["the block allocates 2 objects, expected 1\ninconclusive\npass\n", true], [out, status.success?], err
  end

  private

  def suite(program, *arguments)
    out, err, = ruby(program, *arguments, env: { "ASSAY" => ENV["ASSAY"], "LANG" => "C.UTF-8", "TESTOPTS" => nil, "MT_NO_PLUGINS" => "1" })
    "#{out}#{err}"
  end

  # The expected messages of each suite for the failure, the skip and the error, in terms of the API.
  def assert_messages(out)
    assert_match(/the block allocates 2 objects, expected 1/, out)
    assert_match(/call 1 of `system` on an object of Worker was not expected: results were scripted for 0/, out)
    refute_match(/warning:/, out)
  end

  def there?(library) = system(RbConfig.ruby, "-e", "require #{library.inspect}", out: File::NULL, err: File::NULL)
end
