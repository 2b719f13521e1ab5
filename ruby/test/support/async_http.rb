# frozen_string_literal: true

# The server inside falcon, for tests: async-http with the adapter of protocol-rack, with a fiber
# for each request. Free of assertions.

require "support/puma"

class AsyncHttp < Servers::Puma
  PROGRAM = <<~'RUBY'
    require "async"
    require "async/http/endpoint"
    require "async/http/server"
    require "protocol/rack"
    rackup, port = ARGV
    application = Protocol::Rack::Adapter.parse_file(rackup)
    endpoint = Async::HTTP::Endpoint.parse("http://127.0.0.1:#{port}")
    trap("TERM") { exit!(true) }
    Async { Async::HTTP::Server.new(Protocol::Rack::Adapter.new(application), endpoint).run }
  RUBY

  private

  def command = [RbConfig.ruby, *load_path, "-e", PROGRAM, @rackup, port.to_s]
end
