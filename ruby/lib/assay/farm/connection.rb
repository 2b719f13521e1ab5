# frozen_string_literal: true

# Requests and responses of the API: HTTP, JSON, the API version, and errors. Knows nothing of
# owners, projects or builds.

require "json"
require "monitor"
require "net/http"
require "openssl"
require "uri"
require_relative "errors"

module Assay
  module Farm
    # A connection to one server. It is kept open between requests. Threads use it one at a time; a
    # forked process opens its own.
    class Connection # :nodoc:
      # Maximum number of bytes read of a response.
      LIMIT = 64 * 1024 * 1024
      # Errors for a server that does not respond, or a broken connection.
      NETWORK = [SystemCallError, SocketError, IOError, Timeout::Error, OpenSSL::SSL::SSLError, Net::HTTPBadResponse, Net::ProtocolError].freeze
      private_constant :LIMIT, :NETWORK

      # The address of the server.
      attr_reader :address

      def initialize(address, token: nil, ca_file: nil, timeout: 30)
        @uri = checked(address)
        @address = @uri.to_s.chomp("/")
        raise ArgumentError, "a token has no blanks and no line breaks" unless token.nil? || token.match?(/\A[!-~]+\z/)

        @token = token
        @ca_file = ca_file
        @timeout = timeout
        @lock = Monitor.new
      end

      # Returns the response to a GET of a path, parsed as JSON.
      def get(path, query = {}) = json(request(Net::HTTP::Get, path, query))

      # Returns the response to a GET of a path as bytes.
      def bytes(path, query = {}) = request(Net::HTTP::Get, path, query).last

      # Sends a JSON body with PUT and returns the response.
      def put(path, body) = json(request(Net::HTTP::Put, path, {}, JSON.generate(body), "application/json"))

      # Sends bytes with PUT and returns the response.
      def put_bytes(path, bytes, query = {}) = json(request(Net::HTTP::Put, path, query, bytes, "application/octet-stream"))

      # Without the token.
      def inspect = "#<#{self.class} #{@address}#{" with a token" if @token}>"

      # Closes the connection; the next request opens a new one.
      def close
        @lock.synchronize do
          # A forked process inherits its parent's connection; closing it properly would end it for
          # both.
          @http.finish if @http&.started? && @process == Process.pid
          @http = nil
        end
        nil
      rescue IOError
        nil
      end

      # Joins the segments of a path, each escaped.
      def self.path(*segments)
        named = segments.map do |segment|
          text = segment.to_s.encode(Encoding::UTF_8)
          raise ArgumentError, "#{text.inspect} names nothing on a farm" if ["", ".", ".."].include?(text)

          escaped(text)
        end
        "/api/v1/#{named.join("/")}"
      end

      def self.escaped(text) = text.b.gsub(/[^A-Za-z0-9\-._~]/n) { |byte| format("%%%02X", byte.ord) }

      private

      def checked(address)
        uri = URI.parse(address.to_s)
        raise ArgumentError, "the address of a farm is http://HOST:PORT or https://HOST:PORT, not #{address.inspect}" unless uri.is_a?(URI::HTTP) && uri.host
        raise ArgumentError, "a name and a password in the address are not used: hand over a token" if uri.userinfo
        raise ArgumentError, "the address of a farm has no `?` and no `#`" if uri.query || uri.fragment

        uri
      rescue URI::InvalidURIError => e
        raise ArgumentError, "the address of the farm can't be read: #{e.message}"
      end

      def request(kind, path, query, body = nil, type = nil)
        asked = query.compact.map { |name, value| "#{name}=#{self.class.escaped(value.to_s.encode(Encoding::UTF_8))}" }.join("&")
        request = kind.new("#{@uri.path.chomp("/")}#{path}#{"?" unless asked.empty?}#{asked}")
        request["Accept"] = "application/json"
        request["Assay-Api"] = API.to_s
        request["User-Agent"] = "assay-gem/#{Assay::VERSION}"
        request["Authorization"] = "Bearer #{@token}" if @token
        request["Content-Type"] = type if type
        request.body = body
        answered(request, *answer(request))
      end

      # Returns the response and its body. Any failure closes the connection, since its state is
      # unknown.
      def answer(request)
        @lock.synchronize do
          text = nil
          answer = http.request(request) { |response| text = body_of(response) }
          [answer, text]
        end
      rescue Error
        close
        raise
      rescue *NETWORK => e
        close
        raise Unavailable, "the farm at #{@address} can't be reached: #{e.message}"
      end

      def body_of(response)
        text = +"".b
        response.read_body do |part|
          text << part
          raise TooLarge, "the farm at #{@address} answered with more than #{LIMIT / 1024 / 1024} MiB" if text.bytesize > LIMIT
        end
        text
      end

      def http
        @http = nil unless @process == Process.pid
        @process = Process.pid
        @http ||= Net::HTTP.new(@uri.hostname, @uri.port).tap do |http|
          http.use_ssl = @uri.is_a?(URI::HTTPS)
          http.ca_file = @ca_file if @ca_file
          http.open_timeout = http.read_timeout = http.write_timeout = @timeout
          http.keep_alive_timeout = 5
        end
        @http.started? ? @http : @http.start
      end

      # Raises the error that a response represents, or returns the response with its body.
      def answered(request, answer, text)
        status = answer.code.to_i
        # A server that does not state its API version is not a farm, whatever its status.
        spoken = answer["Assay-Api"]
        failed(request, answer, text) if status >= 300
        raise WrongVersion.new("no farm answers at #{@address}: is the address right?", status: status) if spoken.nil?
        return [answer, text] if spoken == API.to_s

        raise WrongVersion.new("the farm at #{@address} speaks version #{spoken[0, 20]} of the API, this gem version #{API}: " \
                               "install the release of the gem that comes with it", status: status)
      end

      def failed(request, answer, text)
        status = answer.code.to_i
        told = told(text)
        where = "#{request.method} #{request.path.split("?").first} of #{@address}"
        if told
          wait = answer["Retry-After"].to_s[/\A\d{1,6}\z/]&.to_i
          raise Farm.error(status, told["code"], "#{told["message"]} (#{where})", retry_after: wait)
        end
        # An unknown path is different from a missing record.
        raise Broken.new("#{where} leads on to #{answer["Location"]}: name that as the farm's address", status: status) if status < 400

        raise Farm.error(status, nil, "#{where} was answered with status #{status}, and not by a farm: is the address right?")
      end

      # The error reported by the farm.
      def told(text)
        error = JSON.parse(text.dup.force_encoding(Encoding::UTF_8))["error"]
        error if error.is_a?(Hash) && error["code"].is_a?(String)
      rescue JSON::ParserError, TypeError, NoMethodError, EncodingError
        nil
      end

      def json((answer, text))
        JSON.parse(text.dup.force_encoding(Encoding::UTF_8))
      rescue JSON::ParserError, EncodingError => e
        raise Broken.new("the farm at #{@address} did not answer with JSON: #{e.message[0, 100]}", status: answer.code.to_i)
      end
    end
  end
end
