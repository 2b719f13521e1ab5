# frozen_string_literal: true

# Remembers what a farm has said, for a program that asks the same over and over, such as one that tests whatever is new. Only what can't
# change is remembered: ids of what is there. That something is not there is asked again each time, since another may add it meanwhile.

require_relative "client"

module Assay
  module Farm
    # Ids of a farm's owners, projects, versions, targets and builds, each asked for once.
    #
    #   cache = Assay::Farm::Cache.new(farm)
    #   farm.versions("alice", "tidy").each do |version|
    #     next if cache.build?("alice", "tidy", version.name, facts)
    #     …test it, and hand in what came of it with farm.add_build…
    #   end
    #
    # Threads may share one.
    class Cache
      # Ids that are kept; beyond it, the oldest are asked for again.
      LIMIT = 100_000

      def initialize(client)
        @client = client
        @known = {}
        @lock = Mutex.new
      end

      # The id of an owner, who is added where there is none.
      def owner_id(name) = remembered(:owner, name) { @client.add_owner(name).id }

      # The id of a project; nil where there is none.
      def project_id(owner, name) = remembered(:project, owner, name) { there { @client.get_project(owner, name).id } }

      # The id of a version; nil where there is none.
      def version_id(owner, project, name)
        remembered(:version, owner, project, name) { there { @client.get_version(owner, project, name).id } }
      end

      # The id of a target, which is added where there is none.
      def target_id(name, facts) = remembered(:target, Farm.digest(facts)) { @client.add_target(name, facts).id }

      # The id of a build of a version on a target (its facts, or their digest); nil where there is none yet.
      def build_id(owner, project, version, target)
        digest = target.is_a?(Hash) ? Farm.digest(target) : target.to_s
        remembered(:build, owner, project, version, digest) do
          there { @client.get_build(owner, project, version, target: digest).id }
        end
      end

      # True when a version was built on a target, whatever came of it.
      def build?(owner, project, version, target) = !build_id(owner, project, version, target).nil?

      # Forgets everything.
      def clear
        @lock.synchronize { @known.clear }
        nil
      end

      private

      # Two threads may ask the same at the same time; both are told the same.
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
