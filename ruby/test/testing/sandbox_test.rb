# frozen_string_literal: true

# The sandbox: a private directory and environment for a test; afterwards everything is as before.

require_relative "../support/front_end"

class SandboxTest < Minitest::Test
  include Assay::Testing

  def test_it_is_empty_and_where_the_test_is_and_lives
    ENV["XDG_CACHE_HOME"] = "/elsewhere"
    directory = sandbox
    assert_equal [directory, directory, directory, nil], [Dir.pwd, Dir.home, Dir.tmpdir, ENV["XDG_CACHE_HOME"]]
    assert_equal "/e", sandbox(env: { XDG_CACHE_HOME: "/e" }) { ENV["XDG_CACHE_HOME"] }
    assert_empty Dir.children(directory)
  ensure
    assay_teardown
    ENV.delete("XDG_CACHE_HOME")
  end

  def test_variables_are_set_and_removed_and_come_back
    before = ENV.to_h
    sandbox(env: { "ASSAY_TEST_A" => "1", PATH: nil }) do
      ENV["ASSAY_TEST_B"] = "2"
      assert_equal ["1", nil], [ENV["ASSAY_TEST_A"], ENV["PATH"]]
    end
    assert_equal before, ENV.to_h
  end

  def test_it_is_left_and_removed_also_after_an_exception
    here = Dir.pwd
    directory = nil
    assert_raises(RuntimeError) do
      sandbox do |given|
        directory = given
        Dir.mkdir("deep")
        File.write("deep/file", "x")
        raise "stop"
      end
    end
    assert_equal here, Dir.pwd
    refute_path_exists directory
  end

  def test_they_nest
    outer = sandbox
    inner = sandbox { |directory| directory.tap { assert_equal directory, Dir.pwd } }
    assert_equal outer, Dir.pwd
    refute_equal outer, inner
  end

  def test_another_thread_is_refused_while_one_is_there_and_welcome_afterwards
    sandbox do
      message = Thread.new { assert_raises(ThreadError) { sandbox } }.value.message
      assert_match(/another thread has a sandbox.*whole process's/, message)
    end
    assert_instance_of String, Thread.new { sandbox { |directory| directory } }.value
  end

  def test_what_can_not_be_set_leaves_nothing_behind
    before = [Dir.pwd, ENV.to_h, Dir.glob(File.join(Dir.tmpdir, "assay-test-*")).sort]
    assert_raises(TypeError) { sandbox(env: { "A" => 3 }) }
    assert_equal before, [Dir.pwd, ENV.to_h, Dir.glob(File.join(Dir.tmpdir, "assay-test-*")).sort]
    assert_instance_of String, Thread.new { sandbox { |directory| directory } }.value
  end

  def test_everything_is_undone_even_where_a_part_of_it_fails
    here = Dir.pwd
    directory = sandbox
    assay_test.undo_later { raise "cannot be undone" }
    assert_equal "cannot be undone", assert_raises(RuntimeError) { assay_teardown }.message
    assert_equal here, Dir.pwd
    refute_path_exists directory
  end
end
