# frozen_string_literal: true

# What a farm answers with, as values: they compare by what they hold, and can't be changed. Members that are not known here are left
# out, so that a newer server is understood.

require_relative "../plain"

module Assay
  module Farm
    # Makes values of a Hash from JSON.
    module Record # :nodoc:
      def of(fields)
        raise Broken, "the server answered with #{fields.class} where an object was due" unless fields.is_a?(Hash)

        new(**members.to_h { |member| [member, Record.frozen(fields[member.to_s])] }).freeze
      end

      def self.frozen(value)
        case value
        when Hash then value.transform_values { |inner| frozen(inner) }.freeze
        when Array then value.map { |inner| frozen(inner) }.freeze
        else value.freeze
        end
      end
    end

    # Who has projects.
    Owner = Struct.new(:id, :name, keyword_init: true) { extend Record; include Plain }

    # A project: where its versions come from (`origin`), what is done with each (`recipe`), what a target must be (`needs`), as Hashes
    # with the members of docs/reference/farm-api.md.
    Project = Struct.new(:id, :owner, :name, :origin, :recipe, :needs, keyword_init: true) { extend Record; include Plain }

    # A version: `kind` is "release" or "commit", `published` a time as text (RFC 3339).
    Version = Struct.new(:id, :owner, :project, :name, :kind, :published, :ordinal, :address, :sha256, :is_gone, keyword_init: true) do
      extend Record
      include Plain

      # True when it is gone where it came from.
      def gone? = is_gone == true
    end

    # A platform, by its facts.
    Target = Struct.new(:id, :digest, :name, :facts, keyword_init: true) { extend Record; include Plain }

    # What came of a version on a target; `target` is the target's digest, `outcome` a Hash with all that is known.
    Build = Struct.new(:id, :key, :job, :added, :log_bytes, :has_samples, :owner, :project, :version, :target, :node, :outcome,
                       keyword_init: true) do
      extend Record
      include Plain

      # "passed", "failed", "errored", "not_tested", "install_failed", "timed_out", "infrastructure" or "lost".
      def state = outcome["state"]

      # One line: why this state.
      def reason = outcome["reason"].to_s

      # Seconds that it took.
      def seconds = outcome["seconds"]

      # True when tests ran, and all passed.
      def passed? = state == "passed"

      # True when tests ran, and some failed. Not the opposite of `passed?`: of a version that could not be installed nothing is known.
      def failed? = state == "failed"

      # True when it says something about the version: tests ran.
      def tested? = passed? || failed?
    end
  end
end
