# frozen_string_literal: true

# Redis commands compared with the server's own count, and HTTP requests.

require "support/profiled"
require "support/servers"
require "net/http"

class RedisAndHttpTest < Minitest::Test
  include Profiled
  include RealServers

  def teardown
    super
    Assay::Patches.remove
  end

  def test_redis_commands_are_counted_as_the_server_counts_them
    need("redis", "ruby-redis")
    Assay::Patches.apply(:redis)
    redis = Redis.new(host: "127.0.0.1", port: redis_server.port, db: 3)
    watch = Redis.new(host: "127.0.0.1", port: redis_server.port)
    assert_operator calls(:redis) { redis.ping }, :>=, 2, "the SELECT when connecting is a command too"
    watch.call("CONFIG", "RESETSTAT")
    counted = calls(:redis) do
      redis.set("a", 1)
      5.times { redis.get("a") }
      redis.pipelined { |pipeline| 10.times { pipeline.incr("a") } }
      redis.multi { |transaction| transaction.get("a") }
      redis.pipelined { |_nothing| nil }
      assert_raises(Redis::CommandError) { redis.call("LPUSH", "a", 1) }
    end
    said = watch.info("commandstats").sum { |name, command| name.match?(/\Ainfo|config/) ? 0 : command["calls"].to_i }
    assert_equal said, counted
    assert_equal 20, counted # 1, 5, 10, MULTI and EXEC around 1, LPUSH.
  end

  def test_the_time_of_a_pipeline_is_in_the_row_and_counted_once
    need("redis", "ruby-redis")
    Assay::Patches.apply(:redis)
    redis = Redis.new(host: "127.0.0.1", port: redis_server.port)
    redis.ping
    profile = Assay::MethodProfiler.profile { redis.pipelined { |pipeline| 3.times { pipeline.call("BLPOP", "nothing", "0.01") } } }
    assert_equal 3, profile[:redis][:calls]
    assert_operator profile[:redis][:duration], :>=, 0.03
    assert_operator profile[:redis][:duration], :<=, profile.total_duration
  end

  def test_redis_client_counts_the_commands_of_pipelines_too
    need("redis-client", "ruby-redis-client, or gem install redis-client")
    Assay::Patches.apply(:redis)
    client = RedisClient.config(host: "127.0.0.1", port: redis_server.port).new_client
    client.call("PING")
    watch = RedisClient.config(host: "127.0.0.1", port: redis_server.port).new_client
    watch.call("CONFIG", "RESETSTAT")
    counted = calls(:redis) do
      client.call("SET", "b", 1)
      client.pipelined { |pipeline| 4.times { pipeline.call("INCR", "b") } }
      client.multi { |transaction| transaction.call("GET", "b") }
    end
    said = watch.call("INFO", "commandstats").scan(/^cmdstat_(\S+?):calls=(\d+)/).sum { |name, n| name.match?(/\Ainfo|config/) ? 0 : n.to_i }
    assert_equal 8, counted
    assert_equal said, counted
  end

  def test_without_a_profile_pipelines_count_nothing_and_work
    need("redis", "ruby-redis")
    Assay::Patches.apply(:redis, keep: true)
    redis = Redis.new(host: "127.0.0.1", port: redis_server.port)
    assert_equal %w[OK 1], redis.pipelined { |pipeline| [pipeline.set("c", 1), pipeline.get("c")] }
    Assay::Patches.remove
    assert_equal "1", redis.get("c")
  end

  def test_an_http_request_counts_once_however_it_is_made
    Assay::Patches.apply(:net_http)
    serve do |port|
      uri = URI("http://127.0.0.1:#{port}/")
      {
        "Net::HTTP.get" => -> { Net::HTTP.get(uri) },
        "Net::HTTP.get_response" => -> { Net::HTTP.get_response(uri).body },
        "request without start" => -> { Net::HTTP.new("127.0.0.1", port).request(Net::HTTP::Get.new("/")).body },
        "request within start" => -> { Net::HTTP.start("127.0.0.1", port) { |http| http.get("/").body } }
      }.each do |way, work|
        profile = Assay::MethodProfiler.profile { assert_equal "hello", work.call, way }
        assert_equal [1, 1], [profile[:net][:calls], profile[:net_connect][:calls]], way
      end
    end
  end

  private

  # A server that answers each request with a greeting, one after the other.
  def serve
    server = TCPServer.new("127.0.0.1", 0)
    thread = Thread.new do
      while (client = server.accept)
        nil until client.gets.to_s.strip.empty?
        client.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        client.close
      end
    end
    yield server.addr[1]
  ensure
    thread.kill.join
    server.close
  end
end
