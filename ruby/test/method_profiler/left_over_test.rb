# frozen_string_literal: true

# Profiles that were started and never stopped: the next start in the same fiber replaces them, and other profiles go on.

require "support/profiled"

class LeftOverTest < Minitest::Test
  include Profiled

  class Worker
    def work = 1
  end

  def setup = patch(Worker, :work)

  def test_the_warning_names_the_place_and_comes_once
    program = "MP = Assay::MethodProfiler\n3.times { MP.start }\nMP.stop\nprint MP.current.inspect"
    said = IO.popen([RbConfig.ruby, *$LOAD_PATH.first(4).flat_map { |path| ["-I", path] }, "-r", "assay", "-e", program, err: %i[child out]], &:read)
    assert_match(/\Aassay: the profile that starts at -e:2 replaces one .*nested: true.*\nnil\z/, said)
  end

  def test_a_start_within_a_block_is_replaced_and_the_block_goes_on
    outer = quietly { MethodProfiler.profile { 3.times { MethodProfiler.start && Worker.new.work } && MethodProfiler.stop } }
    assert_equal [3, 1], [outer[:work][:calls], outer.value[:work][:calls]]
    assert_nil MethodProfiler.current
  end

  def test_a_start_that_was_left_in_a_request_is_replaced_in_the_next
    counted = Array.new(50) { quietly { MethodProfiler.profile { MethodProfiler.start && Worker.new.work } }[:work][:calls] }
    assert_equal [1], counted.uniq
    assert_equal 1, MethodProfiler.stop[:work][:calls]
    assert_nil MethodProfiler.current # Only the last one ran.
  end

  def test_each_fiber_has_its_own
    first = MethodProfiler.start
    second = Fiber.new { MethodProfiler.start.tap { Fiber.yield(_1) } }.resume
    assert_equal [true, true], [first, second].map(&:running?)
    Worker.new.work
    assert_equal [1, 1], [second, first].map { |running| running.stop[:work][:calls] }
  end

  def test_what_fibers_left_that_have_ended_is_let_go
    all = quietly { Array.new(200) { Fiber.new { MethodProfiler.start }.resume } }
    assert_operator all.count(&:running?), :<=, 3
    all.select(&:running?).each(&:stop)
    all = Array.new(200) { Fiber.new { MethodProfiler.start(scope: :fiber) }.resume }
    assert_operator all.count(&:running?), :<=, 3
    all.select(&:running?).each(&:stop)
  end

  def test_what_ended_fibers_left_is_let_go_beside_many_profiles_that_run
    waiting = Array.new(100) { Fiber.new { MethodProfiler.start(scope: :fiber).tap { Fiber.yield(_1) }.stop } }
    waiting.each(&:resume)
    all = quietly { Array.new(200) { Fiber.new { MethodProfiler.start }.resume } }
    assert_equal 1, all.count(&:running?)
    all.last.stop
    waiting.each(&:resume)
  end

  def test_a_profile_that_was_handed_to_another_thread_is_not_replaced
    gate, out = Queue.new, Queue.new
    running = MethodProfiler.start
    thread = Thread.new { running.attach { out << 1 && gate.pop && Worker.new.work } }
    out.pop
    running.detach
    other = MethodProfiler.start
    assert_equal [true, true], [running, other].map(&:running?)
    gate << 1
    thread.join
    other.stop
    assert_equal 1, running.stop[:work][:calls]
  end

  def test_a_forked_process_replaces_the_copy_of_its_parents_profile_without_a_word
    MethodProfiler.start
    said = IO.pipe do |out, input|
      Process.wait(fork { $stderr.reopen(input) && MethodProfiler.start && Worker.new.work && exit!(MethodProfiler.stop[:work][:calls]) })
      input.close
      out.read
    end
    assert_equal ["", 1, nil], [said, $?.exitstatus, MethodProfiler.stop[:work]]
  end

  private

  def quietly(&block)
    value = nil
    capture_io { value = block.call }
    value
  end
end
