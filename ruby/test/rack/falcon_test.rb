# frozen_string_literal: true

# Under a server that runs a fiber for each request, all in one thread, and reads bodies by Enumerator#next: falcon's.

require "support/application"
require "support/async_http"
require "support/servers"
require "minitest/autorun"

class FalconTest < Minitest::Test
  include Application
  include PumaServer
  include RealServers

  def setup
    need("async/http", "ruby-async-http, or: gem install falcon")
    need("protocol/rack", "ruby-protocol-rack, or: gem install falcon")
  end

  def test_with_fibers_each_request_has_exactly_its_own_calls
    with_server(AsyncHttp, RACKUP) do |port, log|
      check_requests(port, log, ["", "stream/", "raise/", "call/", "after/"], at_once: 8)
    end
  end
end
