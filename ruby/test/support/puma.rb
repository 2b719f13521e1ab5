# frozen_string_literal: true

# puma for tests (that of examples/request-totals), and requests to it. Free of assertions.

require "net/http"
require "tempfile"
require_relative "../../../examples/request-totals/servers"

module PumaServer
  # Runs puma with this config.ru and these options, and yields its port and the file that its environment names LOG.
  def with_puma(rackup, *options, env: {}, &block) = with_server(Servers::Puma, rackup, *options, env: env, &block)

  # The same for another server.
  def with_server(kind, rackup, *options, env: {})
    Tempfile.create(["config", ".ru"]) do |file|
      file.write(rackup)
      file.flush
      server = kind.new(file.path, *options, env: env)
      begin
        get(server.port, ["/up"], at_once: 1) # It listens before it has workers.
        yield server.port, server.log
      ensure
        server.stop
      end
    end
  end

  # Returns the responses for these paths, `at_once` concurrently, as {path => [responses]}.
  def get(port, paths, at_once:)
    left = Thread::Queue.new(paths).close
    Array.new(at_once) do
      Thread.new do
        Net::HTTP.start("127.0.0.1", port) do |http|
          answers = []
          while (path = left.pop)
            answers << [path, http.get(path)]
          end
          answers
        end
      end
    end.flat_map(&:value).group_by(&:first).transform_values { |pairs| pairs.map(&:last) }
  end
end
