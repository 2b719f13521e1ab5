# frozen_string_literal: true

# Sends requests on several connections, each request after the previous answer. Prints the answers
# per second and the server's CPU time per request as JSON.
# Usage: load.rb PORT PID [REQUESTS [AT_ONCE]]     PID: the server's, whose CPU time is read from /proc

require "json"
require "socket"

# A persistent connection. It reads as little as possible, since the client competes with the server
# for the same processors.
class Client
  # The pages requested in rotation, as [SQL statements, Redis commands].
  PAGES = [[1, 0], [3, 2], [12, 7], [0, 1], [5, 10], [2, 6]].freeze

  def initialize(port) = @port = port

  # Returns the answer's head. A server may close a persistent connection just when the next request
  # is on its way; the request is then repeated on a new connection.
  def page(number)
    kept = !@socket.nil?
    head = ask("/page/#{PAGES[number % PAGES.size].join("/")}")
    return page(number) if head.nil? && kept
    raise "the server said #{head ? head.lines.first : "nothing"}" unless head&.start_with?("HTTP/1.1 200")

    @socket.read(head[/^content-length: (\d+)/i, 1].to_i)
    leave if head.match?(/^connection: close/i) # puma lets other requests take their turns.
    head
  end

  # Closes the connection; returns nil.
  def leave
    @socket&.close
    @socket = nil
  end

  private def ask(path)
    @socket ||= TCPSocket.new("127.0.0.1", @port).tap { |socket| socket.setsockopt(:TCP, :NODELAY, 1) }
    @socket.write("GET #{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    @socket.gets("\r\n\r\n") || leave
  rescue Errno::ECONNRESET, Errno::EPIPE
    leave
  end

  # Sends this many requests, `at_once` at a time; returns the heads of the answers.
  def self.all(port, requests, at_once)
    numbers = Thread::Queue.new((0...requests).to_a).close
    Array.new(at_once) do
      Thread.new do
        client = new(port)
        heads = []
        while (number = numbers.pop)
          heads << client.page(number)
        end
        client.leave
        heads
      end
    end.flat_map(&:value)
  end
end

# Returns the seconds of CPU time used by all threads of a process.
def cpu(pid) = Dir["/proc/#{pid}/task/*/schedstat"].sum { |file| File.read(file).to_i } / 1e9

if $PROGRAM_NAME == __FILE__
  port, pid, requests, at_once = ARGV.map(&:to_i)
  requests ||= 300
  used = cpu(pid)
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  Client.all(port, requests, at_once || 5)
  seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
  puts JSON.generate(requests: requests / seconds, server_cpu: (cpu(pid) - used) / requests)
end
