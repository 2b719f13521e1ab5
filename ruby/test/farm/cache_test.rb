# frozen_string_literal: true

# The cache: existing records are requested once, missing ones every time.

require_relative "../support/front_end"
require_relative "../support/fake_farm"

class FarmCacheTest < Minitest::Test
  FACTS = { "os" => "debian 12" }.freeze

  def setup
    @server = FakeFarm.new
    @farm = Assay::Farm.connect(@server.address, token: "submitter")
    @cache = Assay::Farm::Cache.new(@farm)
  end

  def teardown
    @farm.close
    @server.stop
  end

  # Returns the requests that the block makes.
  def requests
    before = @server.requests.size
    yield
    @server.requests.size - before
  end

  def test_ids_are_asked_for_once
    assert_equal 1, @cache.owner_id("alice")
    @farm.add_project("alice", "tidy")
    @farm.add_version("alice", "tidy", "1.0")
    ask = lambda do
      [@cache.owner_id("alice"), @cache.project_id("alice", "tidy"), @cache.version_id("alice", "tidy", "1.0"), @cache.target_id("t", FACTS)]
    end
    assert_equal 3, requests { assert_equal [1, 1, 1, 1], ask.call }
    assert_equal 0, requests { assert_equal [1, 1, 1, 1], ask.call }
    @cache.clear
    assert_equal 4, requests { ask.call }
  end

  def test_what_is_not_there_is_asked_again
    @farm.add_owner("alice")
    assert_equal 2, requests { 2.times { assert_nil @cache.project_id("alice", "tidy") } }
    @farm.add_project("alice", "tidy")
    assert_equal 1, requests { 2.times { assert_equal 1, @cache.project_id("alice", "tidy") } }
    assert_nil @cache.version_id("alice", "tidy", "1.0")
  end

  def test_only_a_build_that_is_there_is_remembered
    @cache.owner_id("alice")
    @farm.add_project("alice", "tidy")
    @farm.add_version("alice", "tidy", "1.0")
    @farm.add_target("t", FACTS)
    assert_equal 2, requests { 2.times { refute @cache.build?("alice", "tidy", "1.0", FACTS) } }
    @farm.add_build("alice", "tidy", "1.0", target: FACTS, state: :passed, began: Time.now, seconds: 1, node: "n")
    assert_equal 1, requests { 3.times { assert @cache.build?("alice", "tidy", "1.0", FACTS) } }
    assert_equal 0, requests { assert_equal 1, @cache.build_id("alice", "tidy", "1.0", Assay::Farm.digest(FACTS)) }
  end

  def test_an_error_is_not_remembered
    @server.instead = ->(*) { [503, {}, '{"error":{"code":"unavailable","message":"m"}}'] }
    assert_raises(Assay::Farm::Unavailable) { @cache.owner_id("alice") }
    @server.instead = nil
    assert_equal 1, @cache.owner_id("alice")
  end

  def test_a_name_that_is_changed_afterwards_changes_nothing
    name = +"alice"
    @cache.owner_id(name)
    name << "x"
    assert_equal 0, requests { @cache.owner_id("alice") }
  end
end
