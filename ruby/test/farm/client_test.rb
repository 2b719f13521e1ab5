# frozen_string_literal: true

# The client of a farm with a server in memory: its requests, the values made from answers, and the
# errors raised for others.

require_relative "../support/front_end"
require_relative "../support/fake_farm"

class FarmClientTest < Minitest::Test
  FACTS = { "os" => "debian 12", "runtime.ruby" => "3.1.2" }.freeze

  def setup
    @server = FakeFarm.new
    @farm = Assay::Farm.connect(@server.address, token: "submitter")
  end

  def teardown
    @farm.close
    @server.stop
  end

  def filled
    @farm.add_owner("alice")
    @farm.add_project("alice", "tidy", origin: { kind: "gem", name: "tidy" }, needs: { "runtime.ruby" => "3" })
    @farm.add_version("alice", "tidy", "1.2.0", published: Time.utc(2026, 1, 2, 3, 4, 5))
    @farm.add_target("ruby 3.1.2", FACTS)
  end

  def add_build(state = :passed, **more)
    @farm.add_build("alice", "tidy", "1.2.0", target: FACTS, state: state, began: Time.utc(2026), seconds: 1.5, node: "here", **more)
  end

  def test_a_second_add_gives_what_is_there
    first = @farm.add_owner("alice")
    assert_equal [1, "alice"], first.to_a
    assert_equal first, @farm.add_owner("alice")
    assert_equal first, @farm.get_owner("alice")
    assert_predicate first, :frozen?
  end

  def test_each_kind_of_record_is_read_as_it_was_added
    filled
    project = @farm.get_project("alice", "tidy")
    assert_equal [{ "kind" => "gem", "name" => "tidy" }, { "runtime.ruby" => "3" }], [project.origin, project.needs]
    version = @farm.get_version("alice", "tidy", "1.2.0")
    assert_equal ["release", "2026-01-02T03:04:05Z", false], [version.kind, version.published, version.gone?]
    target = @farm.get_target(FACTS)
    assert_equal [target, target, FACTS], [@farm.get_target(target.digest), @farm.get_target(target), target.facts]
    build = add_build(:failed, evidence: { framework: "minitest", tests: 3, failed: 1 }, reason: "1 of 3 tests failed")
    assert_equal build, @farm.get_build(build.id)
    assert_equal ["failed", true, false, true, 1.5, "1 of 3 tests failed", 3],
                 [build.state, build.failed?, build.passed?, build.tested?, build.seconds, build.reason, build.outcome["evidence"]["tests"]]
    assert_equal "2026-01-01T00:00:00.000Z", build.outcome["began"]
  end

  def test_a_key_makes_it_one_build
    filled
    first = add_build(key: "k")
    assert_equal first, add_build(key: "k")
    refute_equal first, add_build
    assert_equal 2, @farm.builds.to_a.size
  end

  def test_the_last_build_of_a_version_on_a_target_is_found
    filled
    add_build(:failed)
    last = add_build(:passed)
    assert_equal last, @farm.get_build("alice", "tidy", "1.2.0", target: FACTS)
    none = assert_raises(Assay::Farm::NotFound) { @farm.get_build("alice", "tidy", "1.3.0", target: FACTS) }
    assert_match(%r{alice/tidy 1.3.0 has no build}, none.message)
    assert_raises(ArgumentError) { @farm.get_build("alice", "tidy", "1.2.0") }
  end

  def test_lists_go_on_to_the_last_page_and_no_further_than_asked
    7.times { |number| @farm.add_owner("o#{number}") }
    assert_equal (0..6).map { |number| "o#{number}" }, @farm.owners.map(&:name).to_a
    before = @server.requests.size
    assert_equal %w[o0 o1 o2], @farm.owners.first(3).map(&:name)
    assert_equal 2, @server.requests.size - before
  end

  def test_builds_are_asked_for_by_what_they_have
    filled
    add_build(:failed)
    add_build(:passed)
    assert_equal ["failed"], @farm.builds(owner: "alice", state: :failed).map(&:state).to_a
    assert_equal 2, @farm.builds(project: "tidy", target: FACTS).to_a.size
    assert_empty @farm.builds(version: "9").to_a
  end

  def test_logs_are_bytes_and_go_in_parts
    filled
    build = add_build(log: "1 test\n\xFF\n")
    assert_equal 9, build.log_bytes
    assert_equal "1 test\n\xFF\n".b, @farm.log(build)
    assert_equal "test\n\xFF\n".b, @farm.log(build.id, offset: 2)
    long = Random.new(1).bytes(2_500_000)
    before = @server.requests.size
    assert_equal long, @farm.log(add_build(log: long, key: "k"))
    assert_equal %w[0 1048576 2097152], @server.requests.drop(before).filter_map { |_, path,| path[/offset=(\d+)\z/, 1] }.first(3)
    assert_equal long.bytesize, add_build(log: long, key: "k").log_bytes
    assert_equal 0, add_build(log: "").log_bytes
  end

  def test_names_are_whole_segments_of_a_path
    filled
    @farm.add_version("alice", "tidy", "1.0/ü ?#%")
    assert_equal "/api/v1/owners/alice/projects/tidy/versions/1.0%2F%C3%BC%20%3F%23%25", @server.requests.last[1]
    assert_equal "1.0/ü ?#%", @farm.get_version("alice", "tidy", "1.0/ü ?#%").name
    ["", ".", ".."].each { |name| assert_raises(ArgumentError) { @farm.get_owner(name) } }
  end

  def test_equal_facts_have_one_digest_in_any_order
    assert_equal Assay::Farm.digest(FACTS), Assay::Farm.digest("runtime.ruby": "3.1.2", os: "debian 12")
    refute_equal Assay::Farm.digest("a" => "b=c"), Assay::Farm.digest("a=b" => "c")
    # The same in Rust: crates/farm/src/builds/model.rs.
    assert_equal Digest::SHA256.hexdigest("2 9\nos=debian 12\n12 5\nruntime.ruby=3.1.2\n"), Assay::Farm.digest(FACTS)
    assert_equal Digest::SHA256.hexdigest("1 2\na=ü\n"), Assay::Farm.digest("a" => "ü".encode(Encoding::ISO_8859_1))
  end

  def test_one_connection_does_for_all_and_is_opened_again_when_it_was_ended
    3.times { @farm.add_owner("alice") }
    assert_equal 1, @server.opened
    @server.hang_up
    @farm.add_owner("bob")
    assert_equal 2, @server.opened
    @farm.close
    @farm.get_owner("bob")
    assert_equal 3, @server.opened
  end

  def test_a_forked_process_opens_its_own
    @farm.add_owner("alice")
    reader, writer = IO.pipe
    Process.wait(fork { writer << @farm.get_owner("alice").name and writer.close and exit!(true) })
    writer.close
    assert_equal ["alice", "alice", 2], [reader.read, @farm.get_owner("alice").name, @server.opened]
  end

  def test_threads_share_a_client
    names = Array.new(8) { |number| Thread.new { @farm.add_owner("o#{number}").name } }.map(&:value)
    assert_equal (0..7).map { |number| "o#{number}" }, names
  end
end
