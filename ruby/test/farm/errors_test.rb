# frozen_string_literal: true

# Errors if a farm refuses, does not answer, or is not a farm; and the sources of address and token.

require_relative "../support/front_end"
require_relative "../support/fake_farm"

class FarmErrorsTest < Minitest::Test
  include Assay

  def setup
    @server = FakeFarm.new
  end

  def teardown
    @server.stop
  end

  def farm(token: "submitter") = Farm.connect(@server.address, token: token)

  def with(environment)
    before = environment.to_h { |name, _| [name, ENV[name]] }
    ENV.update(environment)
    yield
  ensure
    ENV.update(before)
  end

  def answering(status, headers, body)
    @server.instead = ->(*) { [status, headers, body] }
    assert_raises(Farm::Error) { farm.get_owner("alice") }
  end

  def test_what_is_not_there
    error = assert_raises(Farm::NotFound) { farm.get_owner("nobody") }
    assert_equal ["not_found", 404], [error.code, error.status]
    assert_equal "there is no nobody (GET /api/v1/owners/nobody of #{@server.address})", error.message
  end

  def test_what_is_not_allowed
    assert_raises(Farm::NotAllowed) { farm(token: "reader").add_owner("alice") }
    assert_raises(Farm::NotKnown) { farm(token: "stranger").get_owner("alice") }
    assert_raises(Farm::NotKnown) { farm(token: nil).get_owner("alice") }
    assert_operator Farm::NotKnown, :<, Farm::NotAllowed
    assert_equal "assay-farm 0.1.0", farm(token: nil).about["tool"]
  end

  def test_what_can_not_be_meant
    assert_raises(Farm::Rejected) { farm.add_owner("a b") }
  end

  def test_another_version_of_the_api
    @server.instead = ->(*) { [200, { "Assay-Api" => "2" }, "{}"] }
    error = assert_raises(Farm::WrongVersion) { farm.about }
    assert_match(/speaks version 2 of the API, this gem version 1/, error.message)
    assert_kind_of Farm::WrongVersion, answering(400, {}, '{"error":{"code":"wrong_version","message":"only 2 is served"}}')
  end

  def test_each_code_has_its_class
    { "conflict" => Farm::Conflict, "lease_lost" => Farm::Conflict, "too_large" => Farm::TooLarge, "unavailable" => Farm::Unavailable,
      "internal" => Farm::Broken, "a_later_one" => Farm::Broken }.each do |code, kind|
      assert_instance_of kind, answering(500, {}, JSON.generate(error: { code: code, message: "m" }))
    end
    waiting = answering(429, { "Retry-After" => "7" }, '{"error":{"code":"too_many","message":"m"}}')
    assert_equal [Farm::TooMany, 7], [waiting.class, waiting.retry_after]
  end

  def test_an_address_that_is_no_farms
    [[200, "<html>"], [200, "{}"], [404, "<html>"], [500, '{"error":"x"}'], [404, '["error"]'], [404, "\xFF"]].each do |status, body|
      error = answering(status, { "Assay-Api" => nil }, body)
      assert_match(/is the address right/, error.message)
      refute_kind_of Farm::NotFound, error
    end
    moved = answering(302, { "Location" => "https://elsewhere/" }, "")
    assert_match(%r{leads on to https://elsewhere/}, moved.message)
    assert_kind_of Farm::Unavailable, answering(502, { "Assay-Api" => nil }, "")
  end

  def test_answers_that_make_no_sense
    assert_kind_of Farm::Broken, answering(200, {}, "{")
    assert_kind_of Farm::Broken, answering(200, {}, "[]")
    @server.instead = ->(*) { [200, {}, '{"items":[],"next":"1"}'] }
    assert_match(/same page/, assert_raises(Farm::Broken) { farm.owners.to_a }.message)
    @server.instead = ->(*) { [200, {}, "{}"] }
    assert_raises(Farm::Broken) { farm.owners.to_a }
  end

  def test_nobody_answers
    gone = @server.address
    @server.stop
    error = assert_raises(Farm::Unavailable) { Farm.connect(gone, token: "t").about }
    assert_match(/the farm at #{gone} can't be reached/, error.message)
  end

  def test_a_server_that_is_silent_is_not_waited_for_for_ever
    @server.instead = ->(*) { sleep }
    assert_raises(Farm::Unavailable) { Farm.connect(@server.address, timeout: 0.05).about }
  end

  def test_address_and_token_come_from_the_environment
    Dir.mktmpdir do |directory|
      file = File.join(directory, "token")
      File.write(file, "submitter\n")
      with("ASSAY_FARM" => @server.address, "ASSAY_FARM_TOKEN" => nil, "ASSAY_FARM_TOKEN_FILE" => file) do
        assert_equal "alice", Farm.connect.add_owner("alice").name
      end
      with("ASSAY_FARM" => @server.address, "ASSAY_FARM_TOKEN" => "submitter", "ASSAY_FARM_TOKEN_FILE" => "/nowhere") do
        assert_equal "alice", Farm.connect.get_owner("alice").name
      end
      assert_equal "alice", Farm.connect(@server.address, token_file: file).get_owner("alice").name
      File.write(file, "\n")
      assert_match(/holds no token/, assert_raises(ArgumentError) { Farm.connect(@server.address, token_file: file) }.message)
    end
    with("ASSAY_FARM" => nil) { assert_match(/ASSAY_FARM=/, assert_raises(ArgumentError) { Farm.connect }.message) }
    assert_raises(ArgumentError) { Farm.connect(@server.address, token_file: "/nowhere") }
  end

  def test_addresses_and_tokens_that_can_not_be_meant
    ["ftp://farm", "farm:80", "http://", "http://a b", "http://user:word@farm", "http://farm/?x"].each do |address|
      assert_raises(ArgumentError, address) { Farm.connect(address) }
    end
    assert_raises(ArgumentError) { Farm.connect(@server.address, token: "a\r\nX: y") }
  end

  def test_the_token_is_not_shown
    secret = farm(token: "secret-word")
    refute_includes secret.inspect + secret.instance_variable_get(:@connection).inspect, "secret-word"
  end

  def test_a_server_below_a_path
    @server.instead = ->(_, path, _) { [200, {}, JSON.generate(id: 1, name: path)] }
    assert_equal "/farm/api/v1/owners/alice", Farm.connect("#{@server.address}/farm/").get_owner("alice").name
  end
end
