# frozen_string_literal: true

# Finding and calling the program, and the errors if it is missing or breaks off. Small scripts replace it.

require "pathname"
require_relative "support/front_end"

class BinaryTest < Minitest::Test
  def test_the_variable_goes_before_the_path
    with_program("exit 0") do |named|
      with_environment("ASSAY" => named, "PATH" => "/nowhere") { assert_equal named, Assay::Binary.path }
      with_environment("ASSAY" => nil, "PATH" => "/nowhere:#{File.dirname(named)}") { assert_equal named, Assay::Binary.path }
    end
  end

  def test_a_relative_name_counts_from_where_the_process_began
    here = Dir.pwd
    Dir.mktmpdir do |directory|
      relative = Pathname(__FILE__).relative_path_from(Pathname(here)).to_s
      Dir.chdir(directory) do
        with_environment("ASSAY" => relative) do
          assert_match(/it may not be executed/, assert_raises(Assay::Binary::Missing) { Assay::Binary.path }.message)
        end
      end
    end
  end

  def test_a_missing_program_is_told_with_the_line_that_installs_it
    with_environment("ASSAY" => nil, "PATH" => "/nowhere") do
      error = assert_raises(Assay::Binary::Missing) { Assay::Binary.path }
      assert_match(/`assay` is not on the PATH/, error.message)
      assert_match(%r{cargo install --locked --path crates/assay}, error.message)
      refute_predicate Assay::Binary, :available?
    end
  end

  def test_a_variable_that_names_nothing_is_told_even_where_the_path_has_one
    with_program("exit 0") do |named|
      with_environment("ASSAY" => "/no/such/assay", "PATH" => File.dirname(named)) do
        assert_match(%r{ASSAY=/no/such/assay names no program.*there is no such file}, assert_raises(Assay::Binary::Missing) { Assay::Binary.path }.message)
      end
      File.chmod(0o644, named)
      with_environment("ASSAY" => named) do
        assert_match(/it may not be executed/, assert_raises(Assay::Binary::Missing) { Assay::Binary.path }.message)
      end
    end
  end

  def test_what_the_program_says_against_a_file_is_handed_on
    with_program("echo 'error: line 3 is no record' >&2; exit 2") do |named|
      with_environment("ASSAY" => named) do
        message = assert_raises(Assay::Binary::Failed) { Assay::Binary.analysis("x.assay") }.message
        assert_match(/ended with status 2:\nerror: line 3 is no record/, message)
      end
    end
  end

  def test_a_program_that_is_killed_or_is_another_one_is_told
    with_program("kill -9 $$") do |named|
      with_environment("ASSAY" => named) { assert_match(/signal 9/, assert_raises(Assay::Binary::Failed) { Assay::Binary.screen("x") }.message) }
    end
    with_program("echo hello") do |named|
      with_environment("ASSAY" => named) do
        assert_match(/did not print JSON/, assert_raises(Assay::Binary::Failed) { Assay::Binary.analysis("x") }.message)
      end
    end
  end

  def test_it_is_asked_also_while_everything_that_starts_programs_is_faked
    with_program("echo '{}'") do |named|
      with_environment("ASSAY" => named) do
        test = Object.new.extend(Assay::Testing)
        test.fake_popen do
          test.fake_spawn { test.fake_system { test.fake_time(monotonic: true) { assert_equal({}, Assay::Binary.analysis("x")) } } }
        end
        assert_empty test.commands
      end
    end
  end

  private

  def with_program(script)
    Dir.mktmpdir do |directory|
      file = File.join(File.realpath(directory), "assay")
      File.write(file, "#!/bin/sh\n#{script}\n")
      File.chmod(0o755, file)
      yield file
    end
  end

  def with_environment(changes)
    before = ENV.to_h
    ENV.update(changes)
    yield
  ensure
    ENV.replace(before)
  end
end
