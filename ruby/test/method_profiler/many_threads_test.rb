# frozen_string_literal: true

# Profiles that start and stop concurrently in many threads, as in a server, must not affect each other.

require "support/profiled"

class ManyThreadsTest < Minitest::Test
  include Profiled

  class Worker
    def work = :done
  end

  def test_profiles_start_and_stop_in_many_threads_at_once
    patch(Worker, :work)
    MethodProfiler.keep!
    counted = Array.new(12) do |n|
      Thread.new do
        Array.new(150) do
          Thread.pass
          row { (n + 1).times { Worker.new.work } }.calls
        end.uniq
      end
    end.map(&:value)
    assert_equal (1..12).map { |n| [n] }, counted
  end

  # A thread's first call occurs somewhere in the middle of what the others do.
  def test_threads_come_and_go_while_others_profile
    patch(Worker, :work)
    MethodProfiler.keep!
    counted = Array.new(6) do
      Thread.new do
        Array.new(60) { Thread.new { row { 3.times { Worker.new.work } }.calls }.value }.uniq
      end
    end.map(&:value)
    assert_equal [[3]] * 6, counted
  end
end
