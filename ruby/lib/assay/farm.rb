# frozen_string_literal: true

# Talks to the server of a farm (`assay farm serve`): who has which projects, which versions of them there are, on which targets they
# were tested, and what came of it. Standard library only; nothing is tested, measured or decided here.

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
  # Each `add_` gives what is there already as well, so that a program may run again; each `get_` raises NotFound where there is nothing.
  # A program that asks the same over and over goes through Assay::Farm::Cache.
  module Farm
    # The version of the API that is spoken: docs/reference/farm-api.md.
    API = 1
    # Names the server where a program does not.
    ADDRESS = "ASSAY_FARM"
    # Holds the token where a program does not hand it over.
    TOKEN = "ASSAY_FARM_TOKEN"
    # Names a file that holds it.
    TOKEN_FILE = "ASSAY_FARM_TOKEN_FILE"

    # A Client; what is not given comes from the environment.
    #
    # address:: of the server, `http://` or `https://`; else what the variable ASSAY_FARM says
    # token:: else that of `token_file:`, of the variable ASSAY_FARM_TOKEN, of the file that ASSAY_FARM_TOKEN_FILE names; without any,
    #         only what needs no token can be asked
    # token_file:: a file whose first line is the token
    # ca_file:: certificates to trust, for a server with one of its own
    # timeout:: seconds that the server may be silent
    #
    # Raises ArgumentError for what can't be meant. The server is not asked yet.
    def self.connect(address = nil, token: nil, token_file: nil, ca_file: nil, timeout: 30)
      address ||= ENV[ADDRESS].to_s
      raise ArgumentError, "no server was named: give its address, or set #{ADDRESS}=http://HOST:PORT" if address.to_s.empty?

      Client.new(Connection.new(address, token: token || found_token(token_file), ca_file: ca_file, timeout: timeout))
    end

    # The key of a target: SHA-256 of its facts, for each in the order of names two lines, `LENGTH LENGTH` (bytes of name and value) and
    # `name=value`; in hexadecimal digits. Equal facts are one target.
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
