# frozen_string_literal: true

# Caches answers of a farm for programs that repeat the same lookups, such as one that tests every
# new version. Only what cannot change is cached, that is, the ids of existing records. Missing
# records are looked up every time, since someone else may have added them.

require_relative "client"

module Assay
  module Farm
    # Ids of a farm's owners, projects, versions, targets and builds, each requested once.
    #
    #   cache = Assay::Farm::Cache.new(farm)
    #   farm.versions("alice", "tidy").each do |version|
    #     next if cache.build?("alice", "tidy", version.name, facts)
    #     …test it, and submit the result with farm.add_build…
    #   end
    #
    # Safe to share between threads.
    class Cache
      # Maximum number of cached ids; beyond it the oldest are dropped.
      LIMIT = 100_000

      def initialize(client)
        @client = client
        @known = {}
        @lock = Mutex.new
      end

      # Returns the id of an owner, adding the owner if missing.
      def owner_id(name) = remembered(:owner, name) { @client.add_owner(name).id }

      # Returns the id of a project; nil if there is none.
      def project_id(owner, name) = remembered(:project, owner, name) { there { @client.get_project(owner, name).id } }

      # Returns the id of a version; nil if there is none.
      def version_id(owner, project, name)
        remembered(:version, owner, project, name) { there { @client.get_version(owner, project, name).id } }
      end

      # Returns the id of a target, adding the target if missing.
      def target_id(name, facts) = remembered(:target, Farm.digest(facts)) { @client.add_target(name, facts).id }

      # Returns the id of a build of a version on a target (its facts, or their digest); nil if
      # there is none yet.
      def build_id(owner, project, version, target)
        digest = target.is_a?(Hash) ? Farm.digest(target) : target.to_s
        remembered(:build, owner, project, version, digest) do
          there { @client.get_build(owner, project, version, target: digest).id }
        end
      end

      # Returns true if a version was built on a target, regardless of the result.
      def build?(owner, project, version, target) = !build_id(owner, project, version, target).nil?

      # Clears the cache.
      def clear
        @lock.synchronize { @known.clear }
        nil
      end

      private

      # Two threads may request the same id concurrently; both get the same one.
      def remembered(*what)
        what = what.map { |part| part.is_a?(Symbol) ? part : part.to_s.dup.freeze }
        known = @lock.synchronize { @known[what] }
        return known if known

        id = yield
        return if id.nil?

        @lock.synchronize do
          @known.shift if @known.size >= LIMIT
          @known[what] = id
        end
      end

      def there
        yield
      rescue NotFound
        nil
      end
    end
  end
end
