# frozen_string_literal: true

# The requests to a farm as Ruby methods. Each method is one request, or one per page for lists;
# nothing is cached here.

require "securerandom"
require "time"
require_relative "connection"
require_relative "records"

module Assay
  module Farm
    # Sends requests to a farm. Created by Assay::Farm.connect. Every method may raise an
    # Assay::Farm::Error: NotFound, NotAllowed, WrongVersion, Unavailable, …
    class Client
      # Bytes of a log per request.
      LOG_PART = 1024 * 1024
      private_constant :LOG_PART

      def initialize(connection) # :nodoc:
        @connection = connection
      end

      # The server's address.
      def address = @connection.address

      # Returns information about the server: a Hash with `tool`, `api` and `time`. Needs no token,
      # so it can be used to check the address.
      def about = @connection.get("/api/v1")

      # Adds an owner, or returns the existing one. Names consist of letters, digits, `-`, `_` and
      # `.`.
      def add_owner(name) = Owner.of(@connection.put(path("owners", name), {}))

      # Returns an owner by name.
      def get_owner(name) = Owner.of(@connection.get(path("owners", name)))

      # All owners; pages are requested as needed.
      def owners = list(path("owners"), Owner)

      # Adds a project, or returns the existing one, updated if its attributes differ.
      #
      # origin:: where its versions come from: `{ kind: "git", url: … }`, `{ kind: "gem", name: …
      #          }`, `{ kind: "py_pi", name: … }`, `{ kind: "command", list: …, get: … }`; without
      #          it, versions are added by hand
      # recipe:: what is done with each version: `{ install: […], test: "…", bench: "…", network:
      #          false, timeout: 1800 }`
      # needs:: requirements on targets: `{ "runtime.ruby" => "3" }`
      def add_project(owner, name, origin: nil, recipe: {}, needs: {})
        Project.of(@connection.put(path("owners", owner, "projects", name), { origin: origin, recipe: recipe, needs: needs }))
      end

      # Returns a project by its owner's name and its own.
      def get_project(owner, name) = Project.of(@connection.get(path("owners", owner, "projects", name)))

      # All projects of an owner.
      def projects(owner) = list(path("owners", owner, "projects"), Project)

      # Adds a version, or returns the existing one; the farm then tests it on the targets that its
      # project requires.
      #
      # kind:: :release or :commit
      # published:: time of publication, as a Time or as text (RFC 3339)
      # ordinal:: its position among the project's versions, if that is not the order in time
      # address:: URL of its source; sha256:: checksum of the fetched file
      def add_version(owner, project, name, kind: :release, published: nil, ordinal: nil, address: nil, sha256: nil)
        published = published.getutc.iso8601 if published.is_a?(Time)
        body = { kind: kind.to_s, published: published, ordinal: ordinal, address: address, sha256: sha256 }.compact
        Version.of(@connection.put(path("owners", owner, "projects", project, "versions", name), body))
      end

      # Returns a version by its project and its name.
      def get_version(owner, project, name) = Version.of(@connection.get(path("owners", owner, "projects", project, "versions", name)))

      # All versions of a project.
      def versions(owner, project) = list(path("owners", owner, "projects", project, "versions"), Version)

      # Adds a target (a platform, identified by these facts), or returns the existing one.
      #
      #   farm.add_target("ruby 3.1.2, debian 12, x86_64", "runtime.ruby" => "3.1.2", "os" => "debian 12", "arch" => "x86_64")
      def add_target(name, facts)
        facts = facts.to_h { |fact, value| [fact.to_s, value.to_s] }
        Target.of(@connection.put(path("targets", Farm.digest(facts)), { name: name, facts: facts }))
      end

      # Returns a target by its facts (a Hash) or their digest.
      def get_target(facts_or_digest) = Target.of(@connection.get(path("targets", digest(facts_or_digest))))

      # All targets.
      def targets = list(path("targets"), Target)

      # Adds the result of a version on a target.
      #
      # target:: its facts, their digest, or a Target
      # state:: :passed, :failed, :errored, :not_tested, :install_failed, :timed_out or
      #         :infrastructure (which also needs `fault:`)
      # began:: start time, a Time; seconds:: duration
      # node:: the machine's name
      # reason:: the reason for this state, one line
      # evidence:: evidence that tests ran: `{ framework: "minitest 5.15", tests: 12, failed: 1,
      #            failures: ["A: test_b"] }`
      # repeat:: a command that reproduces the build
      # log:: output of the build; the farm keeps it up to a limit
      # key:: idempotency key: builds submitted twice with the same key are one build; random by
      #       default. To retry a failed submission, pass the key of the first attempt.
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

      # Returns a build: the one with an id, or the latest of a version on a target.
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

      # Builds that match all the given criteria; pages are requested as needed.
      def builds(owner: nil, project: nil, version: nil, target: nil, state: nil)
        wanted = { owner: owner, project: project, version: version, target: target && digest(target), state: state }
        list(path("builds"), Build, wanted)
      end

      # Returns the log of a build from a byte offset on; output of tests is not always text.
      def log(build, offset: 0)
        id = build.is_a?(Build) ? build.id : Integer(build)
        @connection.bytes(path("builds", id, "log"), offset: offset)
      end

      # Closes the connection to the server; the next request opens a new one.
      def close = @connection.close

      # Without the token.
      def inspect = "#<#{self.class} #{address}>"

      private

      # In parts, since requests have a size limit; sending a part again changes nothing.
      def add_log(key, bytes)
        (0...bytes.bytesize).step(LOG_PART) do |offset|
          kept = @connection.put_bytes(path("builds", key, "log"), bytes.byteslice(offset, LOG_PART), offset: offset)
          # The farm stores nothing beyond its limit.
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

      # All items on the pages of a list. A repeated cursor would loop forever.
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
