# frozen_string_literal: true

# What can be asked of a farm, in Ruby's words. Each method is one request, or, of lists, one for each page; nothing is remembered here.

require "securerandom"
require "time"
require_relative "connection"
require_relative "records"

module Assay
  module Farm
    # Asks a farm. Made by Assay::Farm.connect. Every method may raise an Assay::Farm::Error: NotFound, NotAllowed, WrongVersion, Unavailable, …
    class Client
      # Bytes of a log in one request.
      LOG_PART = 1024 * 1024
      private_constant :LOG_PART

      def initialize(connection) # :nodoc:
        @connection = connection
      end

      # The server's address.
      def address = @connection.address

      # What the server is: a Hash with `tool`, `api` and `time`. Needs no token, so it tells whether the address is right.
      def about = @connection.get("/api/v1")

      # Adds an owner, or gives the one that is there. Names have letters, digits, `-`, `_` and `.`.
      def add_owner(name) = Owner.of(@connection.put(path("owners", name), {}))

      # An owner by its name.
      def get_owner(name) = Owner.of(@connection.get(path("owners", name)))

      # All owners, a page at a time as they are asked for.
      def owners = list(path("owners"), Owner)

      # Adds a project, or gives the one that is there; one that was added with other words is changed to these.
      #
      # origin:: where its versions come from: `{ kind: "git", url: … }`, `{ kind: "gem", name: … }`, `{ kind: "py_pi", name: … }`,
      #          `{ kind: "command", list: …, get: … }`; without it, versions are added by hand
      # recipe:: what is done with each version: `{ install: […], test: "…", bench: "…", network: false, timeout: 1800 }`
      # needs:: what a target must be: `{ "runtime.ruby" => "3" }`
      def add_project(owner, name, origin: nil, recipe: {}, needs: {})
        Project.of(@connection.put(path("owners", owner, "projects", name), { origin: origin, recipe: recipe, needs: needs }))
      end

      # A project by its owner's name and its own.
      def get_project(owner, name) = Project.of(@connection.get(path("owners", owner, "projects", name)))

      # All projects of an owner.
      def projects(owner) = list(path("owners", owner, "projects"), Project)

      # Adds a version, or gives the one that is there; the farm then tests it on the targets that its project asks for.
      #
      # kind:: :release or :commit
      # published:: when, as a Time or as text (RFC 3339)
      # ordinal:: its place among the project's versions, where that is not the order in time
      # address:: where it can be fetched; sha256:: of what is fetched
      def add_version(owner, project, name, kind: :release, published: nil, ordinal: nil, address: nil, sha256: nil)
        published = published.getutc.iso8601 if published.is_a?(Time)
        body = { kind: kind.to_s, published: published, ordinal: ordinal, address: address, sha256: sha256 }.compact
        Version.of(@connection.put(path("owners", owner, "projects", project, "versions", name), body))
      end

      # A version by its project and its name.
      def get_version(owner, project, name) = Version.of(@connection.get(path("owners", owner, "projects", project, "versions", name)))

      # All versions of a project.
      def versions(owner, project) = list(path("owners", owner, "projects", project, "versions"), Version)

      # Adds a target, or gives the one that is there: the platform of which these facts are true.
      #
      #   farm.add_target("ruby 3.1.2, debian 12, x86_64", "runtime.ruby" => "3.1.2", "os" => "debian 12", "arch" => "x86_64")
      def add_target(name, facts)
        facts = facts.to_h { |fact, value| [fact.to_s, value.to_s] }
        Target.of(@connection.put(path("targets", Farm.digest(facts)), { name: name, facts: facts }))
      end

      # A target, by its facts (a Hash) or by their digest.
      def get_target(facts_or_digest) = Target.of(@connection.get(path("targets", digest(facts_or_digest))))

      # All targets.
      def targets = list(path("targets"), Target)

      # Adds what came of a version on a target.
      #
      # target:: its facts, their digest, or a Target
      # state:: :passed, :failed, :errored, :not_tested, :install_failed, :timed_out or :infrastructure (then also `fault:`)
      # began:: when it was begun, a Time; seconds:: how long it took
      # node:: the machine's name
      # reason:: one line: why this state
      # evidence:: what shows that tests ran: `{ framework: "minitest 5.15", tests: 12, failed: 1, failures: ["A: test_b"] }`
      # repeat:: a command that does the same again
      # log:: what was printed meanwhile; the farm keeps it up to a limit
      # key:: what is handed in twice with one key is one build; drawn anew without it. A program that hands in again what it could not
      #       hand in before gives the key that it drew then.
      def add_build(owner, project, version, target:, state:, began:, seconds:, node:, reason: "", fault: nil, evidence: {}, repeat: "",
                    log: nil, key: SecureRandom.uuid)
        began = began.getutc.iso8601(3) if began.is_a?(Time)
        outcome = { state: state.to_s, fault: fault&.to_s, reason: reason, began: began, seconds: seconds, evidence: evidence, repeat: repeat }
        body = { owner: owner, project: project, version: version, target: digest(target), node: node, outcome: outcome.compact }
        build = Build.of(@connection.put(path("builds", key), body))
        return build if log.nil? || log.empty?

        add_log(key, log.b)
        get_build(build.id)
      end

      # A build: the one of an id, or the last of a version on a target.
      #
      #   farm.get_build(42)
      #   farm.get_build("alice", "tidy", "1.2.0", target: facts)
      def get_build(*which, target: nil)
        return Build.of(@connection.get(path("builds", Integer(which.first)))) if which.size == 1

        owner, project, version = which
        raise ArgumentError, "a build is named by its id, or by owner, project, version and `target:`" unless which.size == 3 && target

        builds(owner: owner, project: project, version: version, target: target).max_by(&:id) or
          raise NotFound.new("#{owner}/#{project} #{version} has no build on that target yet", code: "not_found", status: 404)
      end

      # Builds that have all that is given, a page at a time as they are asked for.
      def builds(owner: nil, project: nil, version: nil, target: nil, state: nil)
        wanted = { owner: owner, project: project, version: version, target: target && digest(target), state: state }
        list(path("builds"), Build, wanted)
      end

      # The log of a build, from a byte of it on; what tests print is not always text.
      def log(build, offset: 0)
        id = build.is_a?(Build) ? build.id : Integer(build)
        @connection.bytes(path("builds", id, "log"), offset: offset)
      end

      # Ends the connection to the server; the next question opens another one.
      def close = @connection.close

      # Without the token.
      def inspect = "#<#{self.class} #{address}>"

      private

      # In parts, since a request has a limit; what is there already changes nothing.
      def add_log(key, bytes)
        (0...bytes.bytesize).step(LOG_PART) do |offset|
          kept = @connection.put_bytes(path("builds", key, "log"), bytes.byteslice(offset, LOG_PART), offset: offset)
          # Beyond its limit the farm keeps nothing.
          break if kept["cut"].to_i.positive?
        end
      end

      def path(*segments) = Connection.path(*segments)

      def digest(target)
        case target
        when Target then target.digest
        when Hash then Farm.digest(target)
        else target.to_s
        end
      end

      # Everything on the pages of a list. A cursor that comes again would go round for ever.
      def list(path, record, wanted = {})
        Enumerator.new do |found|
          after = nil
          loop do
            page = @connection.get(path, wanted.merge(after: after))
            raise Broken, "the farm at #{address} answered without a list to #{path}" unless page.is_a?(Hash) && page["items"].is_a?(Array)

            page["items"].each { |fields| found << record.of(fields) }
            break if page["next"].nil?
            raise Broken, "the farm at #{address} gave the same page of #{path} twice" if page["next"] == after

            after = page["next"]
          end
        end.lazy
      end
    end
  end
end
