# frozen_string_literal: true

# The hooks' record of what tests use of a project: blocks of code, files, directories, programs; for each framework, with the
# library in C and without.

require_relative "../support/suites"

class SuiteCoverageTest < Minitest::Test
  include FrontEnd
  include Suites

  FOO = <<~'RUBY'
    class Foo
      def a
        1
      end
      def b = [1].map { |x|
        x }
      define_method(:c) { 3 }
      def self.build
        new
      end
      autoload :Late, "#{__dir__}/late.rb"
      class_eval <<~TEXT, __FILE__, __LINE__ + 1
        def evaluated = 1
      TEXT
    end
  RUBY
  FILES = {"lib/foo.rb" => FOO, "lib/late.rb" => "class Foo::Late\n  def x = 1\n  Foo.build\nend\n", "fixtures/a.json" => "{}",
           "views/a.erb" => "<%= 1 %>", "gems/other.rb" => "class Other; def x = 1; end"}.freeze

  MINITEST = <<~'RUBY'
    require_relative "lib/foo"
    require_relative "gems/other"
    require "minitest/autorun"
    require "erb"
    require "open3"
    require "pathname"
    File.read("fixtures/a.json")
    class FooTest < Minitest::Test
      i_suck_and_my_tests_are_order_dependent!
      def self.run(...)
        Foo.new.c
        super
      end
      def setup
        @foo = Foo.build
        Other.new.x
      end
      def test_a = @foo.a
      def test_b = @foo.b
      def test_c = @foo.evaluated
      def test_d_late = Foo::Late.new.x
      def test_e_files
        File.open("fixtures/a.json") {}
        ERB.new(Pathname("views/a.erb").read).result
        File.write("out.txt", "x")
        assert_equal "x", File.read("out.txt")
        assert_raises(Errno::ENOENT) { open("none.txt") }
        File.read("/etc/hostname") rescue nil
        File.read(__dir__ + "/gems/other.rb")
      end
      def test_f_lists = [Dir["fixtures/*.json"], Dir.glob("lib/**/*.rb"), Dir.glob("*", base: "views"), Dir.children(".")]
      def test_g_programs
        system("true 1 2")
        `echo "a" | cat`
        Open3.capture2e({"A" => "b"}, "echo", "x")
        IO.popen(["cat", "none"], err: File::NULL, &:read)
      end
      def test_h_forks
        Process.wait(fork { @foo.b; load("gems/other.rb"); load("lib/late.rb"); File.read("views/a.erb"); exit!(0) })
      end
    end
  RUBY

  def test_minitest
    %i[library ruby].each do |way|
      seen = watched(MINITEST, covers: way, files: FILES)
      assert_match(/^8 runs, .* 0 failures, 0 errors/, seen.out)
      assert_empty seen.of("problem")
      # A file that a test loads late is also used by the tests after it.
      assert_equal ["lib/foo.rb", "lib/late.rb", "suite_test.rb"], seen.loaded.flat_map { |line| line["loaded"] }.sort
      assert_equal ["fixtures/a.json"], seen.loaded.flat_map { |line| line["opens"].to_a }
      # Includes its setup and that of its class, but not the code of others.
      assert_equal({"lib/foo.rb" => [2, 7, 8], "suite_test.rb" => [14, 18]}, without_groups(seen.covers("test_a")))
      assert_equal [5, 7, 8], seen.covers("test_b")["blocks"]["lib/foo.rb"]
      assert_equal [7, 8, 13], seen.covers("test_c")["blocks"]["lib/foo.rb"]
      late = seen.covers("test_d_late")
      assert_equal [["lib/late.rb"], [2]], [late["loads"], late["blocks"]["lib/late.rb"]]
      files = seen.covers("test_e_files")
      assert_equal ["fixtures/a.json", "none.txt", "views/a.erb"], files["opens"].sort
      assert_equal [".", "fixtures", "lib/**", "views"], seen.covers("test_f_lists")["lists"].sort
      programs = [%w[true 1 2], ["sh", "-c", "echo \"a\" | cat"], %w[echo x], %w[cat none]]
      assert_equal programs, seen.covers("test_g_programs")["spawns"]
      forks = seen.covers("test_h_forks")
      assert_equal [5, 7, 8], forks["blocks"]["lib/foo.rb"]
      assert_equal [["lib/late.rb"], ["views/a.erb"]], forks.values_at("loads", "opens")
      assert_equal ["#{seen.pid}.jsonl"], seen.files
    end
  end

  def test_what_tests_look_at_and_how_they_start_programs
    seen = watched(<<~'RUBY', covers: :library, files: FILES)
      require "minitest/autorun"
      require "pathname"
      class LooksTest < Minitest::Test
        def test_stat = File::Stat.new("views/a.erb")
        def test_descriptor = IO.for_fd(IO.sysopen("views/a.erb")).close
        def test_word = test(?e, "views/a.erb")
        def test_same = File.identical?("views/a.erb", "fixtures/a.json")
        def test_pathname = Pathname("views/a.erb").size
        def test_owner = File.owned?("views/a.erb")
        def test_children = Pathname("views").children
        def test_place = IO.popen(["cat", "a.erb", {chdir: "views"}], &:read)
        def test_variables = system({"A" => "b"}, "true", "a.erb", chdir: "views")
      end
    RUBY
    assert_match(/^9 runs, .* 0 failures, 0 errors/, seen.out)
    assert_equal ["views"], seen.covers("test_children")["lists"]
    %w[stat descriptor word pathname owner].each { |name| assert_equal ["views/a.erb"], seen.covers("test_#{name}")["opens"], name }
    assert_equal ["fixtures/a.json", "views/a.erb"], seen.covers("test_same")["opens"].sort
    [%w[place cat], %w[variables true]].each do |name, program|
      spawn = seen.covers("test_#{name}")["spawns"][0]
      assert_equal [program, "a.erb"], spawn["words"]
      assert spawn["in"].end_with?("/views"), spawn.inspect
    end
  end

  # A file is loaded once: tests that use it later also depend on the data that it read at that time.
  def test_what_a_late_file_reads_while_it_is_loaded_is_used_by_later_tests
    files = FILES.merge("lib/config.rb" => "require 'json'\nCONFIG = JSON.parse(File.read('fixtures/a.json'))\nVIEWS = Dir.children('views')\n" \
                                           "def templates = File.read('views/a.erb')\n", "lib/auto.rb" => "AUTO = File.size('fixtures/b.json')",
                        "fixtures/b.json" => "[]")
    seen = watched(<<~'RUBY', covers: :library, files: files)
      require "minitest/autorun"
      autoload :AUTO, "#{__dir__}/lib/auto.rb"
      class LateTest < Minitest::Test
        i_suck_and_my_tests_are_order_dependent!
        def test_a_loads = require_relative("lib/config")
        def test_b_uses = CONFIG
        def test_c_reads = templates
        def test_d_loads = AUTO
      end
    RUBY
    assert_match(/^4 runs, .* 0 failures, 0 errors/, seen.out)
    assert_equal [["fixtures/a.json"], ["views"]], seen.covers("test_a_loads").values_at("opens", "lists")
    # Excludes what its methods read when a test calls them.
    assert_equal ["views/a.erb"], seen.covers("test_c_reads")["opens"]
    assert_equal [%w[fixtures/a.json fixtures/b.json], ["views"]], %w[opens lists].map { |kind| seen.loaded.flat_map { |line| line[kind].to_a } }
  end

  def test_tests_in_threads_are_never_given_too_little
    seen = watched(<<~'RUBY', covers: :library, files: FILES, env: {"N" => "2"})
      require_relative "lib/foo"
      require "minitest/autorun"
      class ThreadsTest < Minitest::Test
        parallelize_me!
        8.times { |number| define_method("test_#{number}") { sleep 0.01; Foo.new.a; sleep 0.01; Foo.new.b if number == 3; File.read("views/a.erb") } }
      end
    RUBY
    assert_match(/^8 runs, .* 0 failures, 0 errors/, seen.out)
    8.times do |number|
      used = seen.covers("test_#{number}")
      assert_empty (number == 3 ? [2, 5] : [2]) - used["blocks"].fetch("lib/foo.rb"), number.to_s
      assert_equal ["views/a.erb"], used["opens"]
    end
  end

  def test_forked_workers_tell_what_was_loaded_before
    seen = watched(<<~'RUBY', covers: :library, files: FILES)
      require_relative "lib/foo"
      require "minitest"
      class WorkerTest < Minitest::Test
        def test_1 = Foo.new.a
        def test_2 = Foo.new.b
      end
      at_exit { %w[test_1 test_2].map { |name| fork { WorkerTest.new(name).run; exit(0) } }.each { |pid| Process.wait(pid) } }
    RUBY
    assert_equal 2, seen.files.size, seen.out
    assert_equal [["lib/foo.rb", "suite_test.rb"]] * 2, seen.loaded.map { |line| line["loaded"].sort }
    assert_equal [2], seen.covers("test_1")["blocks"]["lib/foo.rb"]
  end

  RSPEC = <<~'RUBY'
    require_relative "lib/foo"
    RSpec.describe Foo do
      before(:all) { Foo.new.c; File.read("fixtures/a.json") }
      let(:foo) { Foo.build }
      before { foo.a }
      it("one") { expect(1).to eq 1 }
      context "within" do
        before(:all) { Foo.new.b }
        it("two") { foo.evaluated }
      end
      context "later" do
        it("three") { Foo::Late.new }
      end
    end
  RUBY

  def test_rspec
    skip("needs RSpec (Debian: ruby-rspec)") unless there?("rspec/core/version")
    seen = watched(RSPEC, covers: :library, command: [RbConfig.ruby, "-S", "rspec"], file: "foo_spec.rb", files: FILES)
    assert_match(/^3 examples, 0 failures/, seen.out)
    assert_equal({"lib/foo.rb" => [2, 7, 8], "foo_spec.rb" => [3, 4, 5, 6]}, seen.covers("Foo one")["blocks"])
    within = seen.covers("Foo within two")
    assert_equal({"lib/foo.rb" => [2, 5, 7, 8, 13], "foo_spec.rb" => [3, 4, 5, 8, 9]}, within["blocks"])
    assert_equal ["fixtures/a.json"], within["opens"]
    later = seen.covers("Foo later three")
    assert_equal [2, 7, 8], later["blocks"]["lib/foo.rb"]
    assert_equal ["lib/late.rb"], later["loads"]
    assert_equal({"foo_spec.rb" => [2, 7, 11]}, seen.loaded[0]["blocks"])
  end

  def test_test_unit
    skip("needs test-unit (Debian: ruby-test-unit)") unless there?("test/unit/version")
    seen = watched(<<~'RUBY', covers: :library, files: FILES)
      require "test/unit"
      require_relative "lib/foo"
      class UnitTest < Test::Unit::TestCase
        def self.startup = Foo.new.c
        def self.shutdown = Foo.new.evaluated
        def setup = Foo.build
        def test_one = Foo.new.a
        data("two" => 2)
        def test_data(number) = Foo.new.b
      end
    RUBY
    assert_match(/^2 tests, .* 0 failures, 0 errors/, seen.out)
    assert_equal({"lib/foo.rb" => [2, 7, 8], "suite_test.rb" => [4, 6, 7]}, seen.covers("test_one")["blocks"])
    assert_equal({"lib/foo.rb" => [5, 7, 8], "suite_test.rb" => [4, 6, 9]}, seen.covers("test_data[two]")["blocks"])
    assert_equal [13], seen.loaded.last["blocks"]["lib/foo.rb"]
  end

  # Every watched text stays in memory, so their number is limited, and reaching the limit is reported.
  def test_where_too_much_is_evaluated_that_is_said
    seen = watched(<<~'RUBY', covers: :library, files: FILES)
      require_relative "lib/foo"
      require "minitest/autorun"
      class EvaluatedTest < Minitest::Test
        i_suck_and_my_tests_are_order_dependent!
        def test_1 = Foo.new.a
        def test_2 = 5_001.times { eval("1 + 1", nil, __FILE__, 6) }
        def test_3 = Foo.new.b
      end
    RUBY
    assert_match(/^3 runs, .* 0 failures, 0 errors/, seen.out)
    assert_nil seen.covers("test_1")["unseen"]
    %w[test_2 test_3].each { |name| assert_match(/more than 5000 texts/, seen.covers(name)["unseen"]) }
    assert_equal [2, 5], %w[test_1 test_3].map { |name| seen.covers(name)["blocks"]["lib/foo.rb"][0] }
  end

  # SimpleCov starts Ruby's `Coverage` when it is loaded, before the covered code, and queries it at
  # the end.
  def test_ruby_s_own_coverage_is_as_without
    program = <<~'RUBY'
      require "coverage"
      Coverage.start(lines: true, branches: true)
      require_relative "lib/foo"
      require "minitest/autorun"
      class CoveredTest < Minitest::Test
        def test_a = Foo.new.a
      end
      Minitest.after_run { p Coverage.result.select { |path, _| path.include?("/project/lib/") }.values }
    RUBY
    alone, seen = [nil, :library].map { |covers| watched(program, "--seed", "1", covers: covers, files: FILES, hooks: !covers.nil?) }
    assert_match(/:lines/, alone.out)
    assert_equal alone.out[/^\[.*/], seen.out[/^\[.*/]
    assert_equal [2], seen.covers("test_a")["blocks"]["lib/foo.rb"]
  end

  private

  # The first line of a class's own `run`, which encloses all of its tests.
  def without_groups(covers)
    covers["blocks"].transform_values { |lines| lines - [10] }
  end
end
