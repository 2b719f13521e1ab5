# frozen_string_literal: true

# The client with the real server, `assay-farm serve`, as users start it: both sides follow the
# contract.

require_relative "../support/front_end"

class FarmServerTest < Minitest::Test
  include FrontEnd

  FACTS = { "os" => "debian 12", "runtime.ruby" => "3.1.2", "name with ü" => "" }.freeze
  PROGRAM = ENV["ASSAY"] && File.join(File.dirname(ENV["ASSAY"]), "assay-farm")

  def setup
    skip("needs the program `assay-farm`: cargo build -p assay-farm") unless PROGRAM && File.executable?(PROGRAM)
    @directory = Dir.mktmpdir
    reader, writer = IO.pipe
    @server = spawn(PROGRAM, "serve", "--listen", "127.0.0.1:0", "--log", "error", "--data", @directory, in: File::NULL, out: writer, err: File::NULL)
    writer.close
    @address = reader.gets.strip
    reader.close
    @farm = Assay::Farm.connect(@address, token_file: File.join(@directory, "admin-token"))
  end

  def teardown
    return unless @server

    Process.kill("TERM", @server)
    Process.wait(@server)
    FileUtils.remove_entry(@directory)
  end

  def secret(scope)
    out, err, status = Open3.capture3(PROGRAM, "token", "add", scope, "--scope", scope, "--data", @directory)
    assert_predicate status, :success?, err
    out.strip
  end

  def filled
    @farm.add_owner("alice")
    @farm.add_project("alice", "tidy", origin: { kind: "gem", name: "tidy" }, recipe: { test: "rake" }, needs: { "runtime.ruby" => "3" })
    @farm.add_version("alice", "tidy", "1.2.0", published: Time.utc(2026, 1, 2), ordinal: 1)
    @farm.add_target("ruby 3.1.2", FACTS)
  end

  def add_build(**more)
    @farm.add_build("alice", "tidy", "1.2.0", target: FACTS, state: :failed, began: Time.utc(2026), seconds: 1.5, node: "here",
                                              evidence: { framework: "minitest", tests: 3, failed: 1, failures: ["A: test_b"] }, **more)
  end

  def test_what_is_added_is_there_and_is_one
    2.times { filled }
    assert_equal ["alice"], @farm.owners.map(&:name).to_a
    project = @farm.get_project("alice", "tidy")
    assert_equal [{ "kind" => "gem", "name" => "tidy" }, "rake", { "runtime.ruby" => "3" }], [project.origin, project.recipe["test"], project.needs]
    assert_equal [project], @farm.projects("alice").to_a
    version = @farm.get_version("alice", "tidy", "1.2.0")
    assert_equal [version, "release", 1], [@farm.versions("alice", "tidy").first, version.kind, version.ordinal]
    target = @farm.get_target(FACTS)
    assert_equal [Assay::Farm.digest(FACTS), FACTS], [target.digest, target.facts]
    assert_equal [target], @farm.targets.to_a
  end

  def test_builds_are_added_once_by_key_and_found_by_what_they_have
    filled
    build = add_build(key: "key-1", reason: "1 of 3 failed")
    assert_equal build.id, add_build(key: "key-1", reason: "1 of 3 failed").id
    assert_equal [build.id], @farm.builds(owner: "alice", project: "tidy", version: "1.2.0", target: FACTS, state: :failed).map(&:id).to_a
    assert_empty @farm.builds(owner: "alice", state: :passed).to_a
    found = @farm.get_build("alice", "tidy", "1.2.0", target: FACTS)
    assert_equal [build.id, true, "1 of 3 failed", ["A: test_b"]], [found.id, found.failed?, found.reason, found.outcome["evidence"]["failures"]]
    assert_equal "", @farm.log(found)
    logged = add_build(key: "key-2", log: "1 test\n\xFF\n")
    assert_equal [9, "test\n\xFF\n".b], [logged.log_bytes, @farm.log(logged, offset: 2)]
    cache = Assay::Farm::Cache.new(@farm)
    assert cache.build?("alice", "tidy", "1.2.0", FACTS)
    refute cache.build?("alice", "tidy", "1.2.0", { "os" => "other" })
  end

  def test_lists_have_all_pages
    names = Array.new(120) { |number| format("o%03d", number) }
    names.each { |name| patiently { @farm.add_owner(name) } }
    assert_equal names, patiently { @farm.owners.map(&:name).to_a }.sort
  end

  # The server limits the rate of requests.
  def patiently
    yield
  rescue Assay::Farm::TooMany => e
    sleep e.retry_after
    retry
  end

  def test_errors_are_those_of_the_contract
    assert_raises(Assay::Farm::NotFound) { @farm.get_owner("nobody") }
    assert_raises(Assay::Farm::NotFound) { @farm.add_project("nobody", "tidy") }
    assert_raises(Assay::Farm::Rejected) { @farm.add_owner("a b") }
    assert_raises(Assay::Farm::NotKnown) { Assay::Farm.connect(@address, token: "assay_1_foreign").owners.first }
    assert_raises(Assay::Farm::NotKnown) { Assay::Farm.connect(@address).owners.first }
    reader = Assay::Farm.connect(@address, token: secret("read"))
    assert_empty reader.owners.to_a
    refused = assert_raises(Assay::Farm::NotAllowed) { reader.add_owner("alice") }
    assert_equal ["forbidden", 403], [refused.code, refused.status]
    assert_match(/\Aassay-farm /, Assay::Farm.connect(@address).about["tool"])
  end
end
