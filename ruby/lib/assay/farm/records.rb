# frozen_string_literal: true

# Responses of a farm as immutable values, compared by content. Unknown members are ignored, so that
# responses of newer servers are understood.

require_relative "../plain"

module Assay
  module Farm
    # Creates values from a parsed JSON Hash.
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

    # An owner of projects.
    Owner = Struct.new(:id, :name, keyword_init: true) { extend Record; include Plain }

    # A project: the source of its versions (`origin`), the steps run for each (`recipe`), and the
    # requirements on targets (`needs`), as Hashes with the members of docs/reference/farm-api.md.
    Project = Struct.new(:id, :owner, :name, :origin, :recipe, :needs, keyword_init: true) { extend Record; include Plain }

    # A version: `kind` is "release" or "commit", `published` a time as text (RFC 3339).
    Version = Struct.new(:id, :owner, :project, :name, :kind, :published, :ordinal, :address, :sha256, :is_gone, keyword_init: true) do
      extend Record
      include Plain

      # Returns true if it no longer exists at its origin.
      def gone? = is_gone == true
    end

    # A platform, identified by its facts.
    Target = Struct.new(:id, :digest, :name, :facts, keyword_init: true) { extend Record; include Plain }

    # The result of a version on a target; `target` is the target's digest, `outcome` a Hash with
    # all details.
    Build = Struct.new(:id, :key, :job, :added, :log_bytes, :has_samples, :owner, :project, :version, :target, :node, :outcome,
                       keyword_init: true) do
      extend Record
      include Plain

      # "passed", "failed", "errored", "not_tested", "install_failed", "timed_out", "infrastructure" or "lost".
      def state = outcome["state"]

      # The reason for this state, one line.
      def reason = outcome["reason"].to_s

      # Duration in seconds.
      def seconds = outcome["seconds"]

      # Returns true if tests ran and all passed.
      def passed? = state == "passed"

      # Returns true if tests ran and some failed. Not the opposite of `passed?`: nothing is known
      # of a version that could not be installed.
      def failed? = state == "failed"

      # Returns true if the result says something about the version, that is, if tests ran.
      def tested? = passed? || failed?
    end
  end
end
