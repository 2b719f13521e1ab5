# frozen_string_literal: true

# Profiles that start and stop while patched methods run, compiled, in this thread and in another one. YJIT of Ruby 3.1 crashes if their
# wrappers are added or removed at the same time. Each case runs in a process of its own, in which freed memory is overwritten.

require "support/profiled"
require "open3"
require "rbconfig"

class YjitTest < Minitest::Test
  include Profiled

  SCRIPT = <<~RUBY
    require "assay"
    profiler = Assay::MethodProfiler
    within = %WITHIN%
    around = %AROUND%
    20.times do
      owner = Class.new do
        def outer = inner.to_s + "x"
        define_method(:within) { within.call }
        class_eval("def inner\n  [1].each { within }\n  5\nend")
      end
      profiler.patch(owner, %i[outer inner], :work)
      caller = Module.new { module_eval("def self.call(one)\n  a = one.outer\n  a + 'y'\nend") }
      4.times { around.call(-> { caller.call(owner.new) }) }
      profiler.unpatch(owner)
    end
    print "fine"
  RUBY

  def test_profile_that_starts_within_a_patched_method
    assert_fine("-> { profiler.start }", "->(call) { call.(); profiler.stop }")
  end

  def test_profile_that_stops_within_a_patched_method
    assert_fine("-> { profiler.stop }", "->(call) { profiler.start; call.() }")
  end

  def test_profile_that_stops_while_another_thread_is_within_a_patched_method
    assert_fine("-> { $inside << 1; $go.pop }", <<~RUBY)
      ->(call) do
        $inside, $go = Queue.new, Queue.new
        profiler.start
        other = Thread.new(&call)
        $inside.pop
        profiler.stop
        $go << 1
        other.join
      end
    RUBY
  end

  private

  def assert_fine(within, around)
    source = SCRIPT.sub("%WITHIN%") { within }.sub("%AROUND%") { around }
    options = defined?(RubyVM::YJIT) ? %w[--yjit --yjit-call-threshold=2] : []
    load_path = $LOAD_PATH.first(3).flat_map { |directory| ["-I", directory] }
    said, status = Open3.capture2e({"MALLOC_PERTURB_" => "85"}, RbConfig.ruby, *options, *load_path, "-e", source, stdin_data: "", rlimit_core: 0)
    assert status.success? && said.end_with?("fine"), said[0, 500]
  end
end
