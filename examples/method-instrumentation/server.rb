# frozen_string_literal: true

# Runs a Redis server during a block: on a free port of the loopback device, without leaving files
# behind. It must not measure.

require "socket"
require "tmpdir"

module Server
  # The reason why no server can run here; nil if one can.
  def self.missing
    require "redis"
    return if ENV["PATH"].split(":").any? { |place| File.executable?(File.join(place, "redis-server")) }

    "there is no redis-server (Debian: apt install redis-server)"
  rescue LoadError
    "there is no gem redis (Debian: apt install ruby-redis)"
  end

  # Yields a connected client, with a value under "x".
  def self.run
    Dir.mktmpdir do |directory|
      port = TCPServer.open("127.0.0.1", 0) { |socket| socket.addr[1] }
      process = Process.spawn("redis-server", "--port", port.to_s, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                              "--dir", directory, out: File::NULL, err: File::NULL)
      begin
        client = connect(port)
        client.set("x", "1")
        yield client
      ensure
        client&.close
        Process.kill("TERM", process)
        Process.wait(process)
      end
    end
  end

  def self.connect(port)
    client = Redis.new(host: "127.0.0.1", port: port, timeout: 5)
    tries = 0
    begin
      client.ping
      client
    rescue Redis::CannotConnectError
      raise "redis-server did not answer on port #{port} within 5 s" if (tries += 1) > 100

      sleep 0.05
      retry
    end
  end
  private_class_method :connect
end
