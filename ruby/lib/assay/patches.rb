# frozen_string_literal: true

# Ready-made patches for the libraries with which a request communicates with other systems: the
# public interface. The methods of each library that execute a statement or command are in patches/,
# one file per library. It must not count: the method profiler does.

require_relative "method_profiler"
require_relative "plain"

module Assay
  # Defined first, since the files below are parts of it, and `require "assay"` would autoload this
  # file for them.
  module Patches; end
end

require_relative "patches/library"
require_relative "patches/pg"
require_relative "patches/sqlite3"
require_relative "patches/mysql2"
require_relative "patches/trilogy"
require_relative "patches/redis"
require_relative "patches/net_http"
require_relative "patches/unpatched"

module Assay
  # Registers the methods of well-known libraries with Assay::MethodProfiler:
  #
  #   require "pg"
  #   require "redis"
  #   puts Assay::Patches.apply            # all that are loaded; or apply(:pg, :redis)
  #   # pg 1.4.5: applied, rows sql, sql_prepare
  #   # redis 4.8.0: applied, rows redis
  #   # ...
  #
  #   Assay::MethodProfiler.profile { handle_the_request }.to_h
  #   # => {total_duration: 0.031, sql: {duration: 0.011, calls: 12}, redis: {duration: 0.004, calls: 7}}
  #
  # A call in the row :sql is an executed statement, one in :redis a command (a pipeline of ten
  # counts ten), one in :net a request; :sql_prepare and :net_connect count preparing a statement
  # and connecting.
  module Patches
    # The outcome for one library.
    #
    # library:: its name here, such as :pg
    # status::  :applied; :absent if it is not loaded; :unsupported if this version is not known to
    #           this gem, in which case it is left unpatched
    # version:: of the library, nil if it is absent
    # rows::    the names under which its calls are counted
    # reason::  why nothing was done, and a remedy; nil if it was applied
    Outcome = Struct.new(:library, :status, :version, :rows, :reason, keyword_init: true) do
      include Plain

      # Returns true if its calls are now counted.
      def applied? = status == :applied

      # A human-readable line.
      def to_s
        return "#{library} #{version}: applied, rows #{rows.join(", ")}" if applied?

        "#{[library, version].compact.join(" ")}: #{status}: #{reason}"
      end
    end

    @awaited = {} # Libraries that `apply` found absent => its `keep`.
    @features = 0 # Number of loaded files when they were last checked for one of these.
    @lock = Mutex.new
    @libraries = [Pg, Sqlite3, Mysql2, Trilogy, Redis, NetHttp].to_h { |library| [library.key, library.new] }

    class << self
      # Names of the known libraries.
      def libraries = @libraries.keys

      # Patches these libraries, or all by default, and returns an Outcome for each. A library that
      # is not loaded is not required: it is :absent, and is patched when the first profile after its
      # loading starts. Libraries already patched stay patched.
      #
      # keep:: leaves the wrappers in permanently (see MethodProfiler.keep!)
      #
      # Raises ArgumentError for an unknown library, and if one of the methods is already patched
      # under another name.
      def apply(*names, keep: false)
        outcomes = found(names).map { |library| library.apply(keep: keep) }
        @lock.synchronize do
          outcomes.each { |outcome| outcome.status == :absent ? @awaited[outcome.library] = keep : @awaited.delete(outcome.library) }
          MethodProfiler.before_start = @awaited.empty? ? nil : -> { catch_up }
        end
        outcomes
      end

      # Undoes `apply` for these libraries, or for all. Returns the names of those that had been
      # applied.
      def remove(*names)
        libraries = found(names)
        @lock.synchronize { libraries.each { |library| @awaited.delete(library.class.key) } }
        libraries.select(&:remove).map { |library| library.class.key }
      end

      # The rows of the applied libraries.
      def rows = @libraries.each_value.flat_map(&:rows).uniq

      # Loaded libraries of a kind (:sql, :redis or :http) that are not counted: {library => reason
      # and remedy}. A library also counts if one of its methods is patched under the name `row`.
      def uncounted(kind, row)
        known = @libraries.each_value.select { |library| library.class.counts == kind }
        reasons = known.to_h { |library| [library.class.key.to_s, library.unknown_reason] }.compact
        Unpatched.loaded(kind).each do |gem, owner|
          next if MethodProfiler.methods_named(row).any? { |patched, _| patched == owner || (patched.is_a?(Class) && owner.is_a?(Class) && patched <= owner) }

          reasons[gem] = "there is no ready patch for it. Patch the method that does the work: " \
                         "Assay::MethodProfiler.patch(#{owner}, :METHOD, :#{row})"
        end
        reasons
      end

      # Returns true if the method was patched by `apply`.
      def own?(owner, method) = @libraries.each_value.any? { |library| library.patched?(owner, method) }

      # The loaded libraries of a kind, by name.
      def loaded(kind) = @libraries.each_value.select { |library| library.class.counts == kind && library.versions.any? }.map { |library| library.class.key }

      private

      # Patches the awaited libraries that have been loaded since. Called at every start of a
      # profile, which must not fail because of them.
      def catch_up
        return if $LOADED_FEATURES.size == @features

        @lock.synchronize do
          @features = $LOADED_FEATURES.size
          @awaited.delete_if { |key, keep| late(key, keep) }
        end
      end

      # Returns true if there is nothing left to wait for.
      def late(key, keep)
        outcome = @libraries[key].apply(keep: keep)
        warn("assay: #{outcome}") if outcome.status == :unsupported
        outcome.status != :absent
      rescue NameError
        false # Another thread is loading it.
      rescue ArgumentError => e
        warn("assay: #{key} is not counted: #{e.message}")
        true
      end

      def found(names)
        return @libraries.values if names.empty?

        names.map do |name|
          @libraries.fetch(name.to_sym) do
            raise ArgumentError, "there is no patch for #{name.inspect}: there are those for #{libraries.join(", ")}. Other methods are " \
                                 "patched by Assay::MethodProfiler.patch"
          end
        end
      end
    end
  end
end
