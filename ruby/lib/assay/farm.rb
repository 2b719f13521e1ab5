# frozen_string_literal: true

# A client for the server of a farm (`assay farm serve`): owners and their projects, versions of the
# projects, and the results of testing them on targets. Uses only the standard library; nothing is
# tested, measured or decided here.

require "digest"
require_relative "farm/cache"
require_relative "farm/client"
require_relative "farm/connection"
require_relative "farm/errors"
require_relative "farm/records"

module Assay
  # The client of a farm.
  #
  #   farm = Assay::Farm.connect("http://127.0.0.1:8040", token: "…")
  #   farm.add_owner("alice")
  #   farm.add_project("alice", "tidy", origin: { kind: "gem", name: "tidy" })
  #   farm.add_version("alice", "tidy", "1.2.0", kind: :release)
  #   farm.builds(owner: "alice", project: "tidy").each { |build| puts "#{build.version} #{build.state}" }
  #
  # Each `add_` method also returns a record that already exists, so a program may be run again;
  # each `get_` method raises NotFound if there is none. For repeated lookups of the same records
  # use Assay::Farm::Cache.
  module Farm
    # Version of the API in use: docs/reference/farm-api.md.
    API = 1
    # Environment variable with the default address of the server.
    ADDRESS = "ASSAY_FARM"
    # Environment variable with the default token.
    TOKEN = "ASSAY_FARM_TOKEN"
    # Environment variable with the path of a file containing the token.
    TOKEN_FILE = "ASSAY_FARM_TOKEN_FILE"

    # Returns a Client. Arguments that are not given are taken from the environment.
    #
    # address:: of the server, `http://` or `https://` [default: the variable ASSAY_FARM]
    # token:: [default: that of `token_file:`, of the variable ASSAY_FARM_TOKEN, or of the file
    #         named by ASSAY_FARM_TOKEN_FILE]; without a token, only requests that need none are
    #         possible
    # token_file:: a file whose first line is the token
    # ca_file:: certificates to trust, for a server with its own
    # timeout:: seconds to wait for a silent server
    #
    # Raises ArgumentError for invalid arguments. Sends no request.
    def self.connect(address = nil, token: nil, token_file: nil, ca_file: nil, timeout: 30)
      address ||= ENV[ADDRESS].to_s
      raise ArgumentError, "no server was named: give its address, or set #{ADDRESS}=http://HOST:PORT" if address.to_s.empty?

      Client.new(Connection.new(address, token: token || found_token(token_file), ca_file: ca_file, timeout: timeout))
    end

    # The key of a target: the SHA-256, in hexadecimal, of its facts in order of their names, each
    # as two lines, `LENGTH LENGTH` (bytes of name and value) and `name=value`. Equal facts are one
    # target.
    def self.digest(facts)
      named = facts.map { |name, value| [name.to_s.encode(Encoding::UTF_8), value.to_s.encode(Encoding::UTF_8)] }.sort_by { |name, _| name.b }
      lines = named.map { |name, value| "#{name.bytesize} #{value.bytesize}\n#{name}=#{value}\n" }
      Digest::SHA256.hexdigest(lines.join)
    end

    class << self
      private

      def found_token(file)
        return token_in(file) if file

        named = ENV[TOKEN].to_s
        return named unless named.empty?

        file = ENV[TOKEN_FILE].to_s
        token_in(file) unless file.empty?
      end

      def token_in(file)
        token = File.open(file, &:gets).to_s.strip
        raise ArgumentError, "#{file} holds no token: its first line is empty" if token.empty?

        token
      rescue SystemCallError => e
        raise ArgumentError, "the file of the token can't be read: #{e.message}"
      end
    end
  end
end
