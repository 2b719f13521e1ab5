# frozen_string_literal: true

# Ready patches for the libraries through which a request talks to others: what users call. Which methods of a library carry a
# statement or a command is in patches/, one file a library. It must not count: the method profiler does.

require_relative "method_profiler"
require_relative "plain"

module Assay
  # Here first, since the files below are parts of it, and `require "assay"` would load this one for them.
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
  # Makes the methods of well-known libraries known to Assay::MethodProfiler:
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
  # A call of the row :sql is a statement that was executed, one of :redis a command (a pipeline of ten is ten), one of :net a request;
  # :sql_prepare and :net_connect are preparing a statement and connecting.
  module Patches
    # What came of it for one library.
    #
    # library:: its name here, such as :pg
    # status::  :applied; :absent if it is not loaded; :unsupported if it is not as this gem knows it, and then it was left alone
    # version:: of the library, nil if it is absent
    # rows::    the names under which its calls are found
    # reason::  why nothing was done, and what to do; nil if it was applied
    Outcome = Struct.new(:library, :status, :version, :rows, :reason, keyword_init: true) do
      include Plain

      # True if its calls are counted now.
      def applied? = status == :applied

      # A line for people.
      def to_s
        return "#{library} #{version}: applied, rows #{rows.join(", ")}" if applied?

        "#{[library, version].compact.join(" ")}: #{status}: #{reason}"
      end
    end

    @libraries = [Pg, Sqlite3, Mysql2, Trilogy, Redis, NetHttp].to_h { |library| [library.key, library.new] }

    class << self
      # The names of the libraries that are known.
      def libraries = @libraries.keys

      # Patches these libraries, or all that are loaded when none is named. Gives an Outcome for each; for all that are known when none
      # is named. A library that is not loaded is left out, not required: apply once more when it is. What is applied already stays.
      #
      # keep:: leaves the wrappers in all the time (see MethodProfiler.keep!)
      #
      # Raises ArgumentError for a library that is not known, and where one of the methods is patched under another name already.
      def apply(*names, keep: false)
        found(names).map { |library| library.apply(keep: keep) }
      end

      # Undoes `apply` for these libraries, or for all. Gives the names of those that had been applied.
      def remove(*names)
        found(names).select(&:remove).map { |library| library.class.key }
      end

      # The rows under which the applied libraries count.
      def rows = @libraries.each_value.flat_map(&:rows).uniq

      # Loaded libraries of a kind (:sql, :redis or :http) that are not counted: {library => reason and remedy}. A class also counts if one of
      # its methods is patched under the name `row`.
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

      # True if the method was patched by `apply`.
      def own?(owner, method) = @libraries.each_value.any? { |library| library.patched?(owner, method) }

      # The libraries of a kind that are loaded, by their names.
      def loaded(kind) = @libraries.each_value.select { |library| library.class.counts == kind && library.versions.any? }.map { |library| library.class.key }

      private

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
