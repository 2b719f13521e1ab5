# frozen_string_literal: true

# Applying and removing: loaded libraries, missing ones, and unsupported versions.

require "support/profiled"
require "net/http"

class ApplyingTest < Minitest::Test
  include Profiled

  Patches = Assay::Patches

  def teardown = Patches.remove

  def test_a_library_that_is_not_loaded_is_left_out_and_it_is_told
    outcome = in_child("outcome = Assay::Patches.apply(:pg).first; p outcome.status, outcome.reason, defined?(PG)")
    assert_includes outcome, ":absent"
    assert_includes outcome, "once it is, the next profile counts it"
    assert_includes outcome, "nil", "it was not loaded by asking"
  end

  def test_without_a_name_all_that_are_loaded_are_applied_and_the_others_named
    outcomes = in_child(%(require "net/http"; puts Assay::Patches.apply)).lines.map(&:chomp)
    assert_equal Patches.libraries.size, outcomes.size
    assert_includes outcomes.grep(/net_http/).first, "applied, rows net, net_connect"
    assert_equal Patches.libraries.size - 1, outcomes.grep(/absent/).size
  end

  def test_a_library_that_is_loaded_after_apply_counts_from_the_next_profile_on
    said = in_child(<<~RUBY)
      Assay::Patches.apply(:sqlite3, :pg)
      profile = -> { Assay::MethodProfiler.profile { SQLite3::Database.new.execute if defined?(SQLite3) }.dig(:sql, :calls).inspect }
      puts profile.call
      module SQLite3; VERSION = "2.0.0"; class Database; def execute = :plain; def execute_batch = 1; end; class Statement; def execute = 1; def step = 1; def each = 1; end; end
      module PG; VERSION = "1.5.0"; end # Partially loaded.
      $LOADED_FEATURES << "sqlite3"
      puts profile.call, Assay::Patches.rows.inspect, Assay::Patches.remove.inspect
    RUBY
    assert_equal "nil\n1\n[:sql]\n[:sqlite3]\n", said
  end

  def test_a_late_library_that_cannot_be_patched_is_reported_once_and_profiles_go_on
    said = in_child(<<~RUBY)
      Assay::Patches.apply(:sqlite3)
      module SQLite3; VERSION = "7.0.0"; class Database; def execute = :plain; end; class Statement; end; end
      2.times { |n| $LOADED_FEATURES << n.to_s; puts Assay::MethodProfiler.profile { 1 }.value }
    RUBY
    assert_equal ["assay: sqlite3 7.0.0: unsupported", "1", "1"], said.lines.map { |line| line.chomp[/\A(assay: .*?: \w+|.*)/] }.sort_by(&:size).reverse
  end

  def test_a_library_that_nobody_knows_is_an_error_that_names_those_that_are_known
    error = assert_raises(ArgumentError) { Patches.apply(:net_http, :oracle) }
    assert_includes error.message, "pg, sqlite3, mysql2, trilogy, redis, net_http"
    assert_empty Patches.rows
  end

  def test_a_version_that_is_not_known_is_left_alone
    said = in_child(<<~RUBY)
      module SQLite3; VERSION = "7.0.0"; class Database; def execute = :plain; end; class Statement; end; end
      puts Assay::Patches.apply(:sqlite3), Assay::MethodProfiler.patched(SQLite3::Database, :execute).inspect
    RUBY
    assert_match(/\Asqlite3 7\.0\.0: unsupported: of sqlite3 only >= 1\.3, < 3 is known/, said)
    assert_equal "nil", said.lines.last.chomp
  end

  def test_a_library_without_the_methods_is_left_alone
    said = in_child(<<~RUBY)
      module PG; VERSION = "1.9.9"; class Connection; def exec; end; end; end
      puts Assay::Patches.apply(:pg), Assay::MethodProfiler.patched(PG::Connection, :exec).inspect
    RUBY
    assert_match(/unsupported: it has no PG::Connection#exec_params, PG::Connection#exec_prepared/, said)
    assert_equal "nil", said.lines.last.chomp
  end

  def test_applying_twice_is_applying_once
    Patches.apply(:net_http)
    assert Patches.apply(:net_http).first.applied?
    assert_equal %i[net net_connect], Patches.rows
  end

  def test_removing_leaves_nothing
    owner = -> { in_place(Net::HTTP.new("127.0.0.1"), :transport_request).owner }
    before = owner.call
    Patches.apply(:net_http, keep: true)
    refute_equal before, owner.call
    assert_equal [:net_http], Patches.remove
    assert_equal before, owner.call
    assert_empty Patches.rows
    assert_empty Patches.remove
  end

  def test_a_method_that_has_another_name_already_is_an_error_of_whoever_calls
    Assay::MethodProfiler.patch(Net::HTTP, :connect, :dialling)
    assert_includes assert_raises(ArgumentError) { Patches.apply(:net_http) }.message, "patched as :dialling already"
  ensure
    Assay::MethodProfiler.unpatch(Net::HTTP)
  end

  private

  # The output of a Ruby process that has loaded only the gem.
  def in_child(program)
    IO.popen([RbConfig.ruby, *$LOAD_PATH.first(3).flat_map { |path| ["-I", path] }, "-r", "assay", "-e", program, err: %i[child out]], &:read)
  end
end
