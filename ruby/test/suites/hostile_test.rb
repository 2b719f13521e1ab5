# frozen_string_literal: true

# Suites that do everything a suite may do to its process: all events are recorded, and the suite runs as without them.

require_relative "../support/suites"

class HostileSuitesTest < Minitest::Test
  include FrontEnd
  include Suites

  def test_what_a_test_does_to_its_process_is_survived
    seen = watched(<<~'RUBY', "--seed", "1", causes: true)
      require "minitest/autorun"
      require "minitest/mock"
      require "stringio"
      class HostileTest < Minitest::Test
        i_suck_and_my_tests_are_order_dependent!
        def test_a_changes_directory = Dir.chdir("/")
        def test_b_closes_descriptors = (4..1023).each { |number| IO.for_fd(number, autoclose: false).close rescue nil }
        def test_c_closes_objects = ObjectSpace.each_object(IO) { |io| io.close if io.fileno > 2 rescue nil }
        def test_d_stubs_clocks
          Process.stub(:clock_gettime, 5) { Process.stub(:pid, 3) { Time.stub(:now, Time.at(0)) { sleep 0.002 } } }
        end
        def test_e_replaces_output
          $stdout = $stderr = StringIO.new
          puts "lost"
        ensure
          $stdout = STDOUT
          $stderr = STDERR
        end
        def test_f_forks = [fork { exit!(0) }, fork { exit(0) }, fork { self.class.new("test_g").run }].each { |pid| Process.wait(pid) }
        def test_g = nil
        def test_h_runs_a_suite
          inner = "class InnerTest < Minitest::Test; def test_inner = nil; end"
          assert system("ruby", "-rminitest/autorun", "-e", inner, out: File::NULL)
        end
        def test_i_runs_a_test = assert(self.class.new("test_g").run.passed?)
        def test_j_clears_the_environment = ENV.clear
        def test_k_disables_collection = (GC.disable; Array.new(1_000) { "x" }; GC.enable)
      end
    RUBY
    assert_match(/^11 runs, .* 0 failures, 0 errors/, seen.out)
    assert_equal ["#{seen.pid}.jsonl"], seen.files
    assert_equal 11, seen.tests.size
    assert_empty seen.of("problem")
    assert seen.events.last.key?("end")
    assert_equal 1, seen.causes("stubs_clocks")["sleeps"]
    assert_operator seen.causes("stubs_clocks")["sleep_time"], :>=, 0.002
    assert_equal [3, 1], %w[f_forks h_runs_a_suite].map { |name| seen.causes(name)["processes"] }
    assert_operator seen.causes("k_disables_collection")["allocations"], :>=, 1_000
  end

  def test_a_crash_shows_which_test_ran
    seen = watched(<<~'RUBY')
      require "minitest/autorun"
      class CrashTest < Minitest::Test
        i_suck_and_my_tests_are_order_dependent!
        def test_1 = nil
        def test_2 = exit!(7)
      end
    RUBY
    assert_equal 7, seen.status.exitstatus
    assert_equal ["CrashTest: test_1"], seen.names
    assert_equal({"start" => "CrashTest: test_2"}, seen.events.last.slice("start"))
  end

  def test_forked_workers_write_files_of_their_own
    seen = watched(<<~'RUBY', env: {"TEST_ENV_NUMBER" => ""})
      require "minitest"
      class WorkerTest < Minitest::Test
        def test_1 = nil
        def test_2 = nil
      end
      at_exit do
        %w[test_1 test_2].map { |name| fork { WorkerTest.new(name).run; exit!(0) } }.each { |pid| Process.wait(pid) }
        WorkerTest.new("test_1").run
      end
    RUBY
    assert_equal 3, seen.files.size, seen.out
    assert_equal ["1"] * 3, seen.of("assay_tests").map { |header| header["worker"] }
    parents = seen.of("assay_tests").map { |header| header["parent"] }
    assert_equal [seen.pid] * 2, parents.select { |parent| parent == seen.pid }
    assert_equal ["WorkerTest: test_1", "WorkerTest: test_1", "WorkerTest: test_2"], seen.names.sort
  end

  def test_tests_in_threads_have_no_causes_that_may_be_those_of_others
    seen = watched(<<~'RUBY', causes: true, env: {"N" => "2"})
      require "minitest/autorun"
      class ThreadsTest < Minitest::Test
        parallelize_me!
        4.times { |number| define_method("test_#{number}") { sleep 0.05 } }
      end
    RUBY
    assert_equal [1, 2], seen.tests.map { |test| test["thread"] }.uniq.sort
    assert(seen.tests.none? { |test| test.key?("causes") || test.key?("gc") })
  end

  # Their lines exceed the memory-mapped part many times, and others are added during each write.
  def test_no_line_of_many_threads_is_lost
    seen = watched(<<~'RUBY', env: {"N" => "8"})
      require "minitest/autorun"
      class ManyThreadsTest < Minitest::Test
        parallelize_me!
        2_000.times { |number| define_method("test_#{number}_#{"x" * 500}") { Thread.pass } }
      end
    RUBY
    started = seen.of("start").map { |line| line["start"] }
    assert_equal 2_000, started.uniq.size
    assert_equal started.sort, seen.tests.map { |test| test["test"] }.sort
  end

  def test_a_hook_that_fails_says_so_and_the_suite_goes_on
    seen = watched(<<~'RUBY')
      require "minitest/autorun"
      class BrokenTest < Minitest::Test
        def test_1 = nil
        def test_2 = nil
      end
      AssayTests::OfMinitest.singleton_class.prepend(Module.new { def group(_) = raise("this hook is broken") })
    RUBY
    assert_match(/^2 runs/, seen.out)
    assert_match(/this hook is broken/, seen.of("problem").first["problem"])
  end

  # Bundler replaces RubyGems' `require` by the original one.
  def test_under_bundler
    skip("needs Bundler (Debian: ruby-bundler)") unless there?("bundler")
    seen = watched(<<~'RUBY')
      File.write("Gemfile", "source 'https://rubygems.org'\ngem 'minitest'\n")
      require "bundler"
      Bundler.setup
      require "minitest/autorun"
      class BundledTest < Minitest::Test
        def test_bundled = nil
      end
    RUBY
    assert_equal ["BundledTest: test_bundled"], seen.names, seen.out
  end

  def test_a_process_without_a_framework_writes_nothing
    seen = watched("require 'json'; require 'set'; puts Kernel.private_method_defined?(:require)")
    assert_equal ["true\n", []], [seen.out, seen.files]
    loaded = watched("require 'minitest'; p AssayTests.hooked?(:minitest)")
    assert_equal ["true\n", []], [loaded.out, loaded.files]
  end
end
