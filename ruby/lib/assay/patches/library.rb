# frozen_string_literal: true

# Common code of the patches of all libraries: checks whether the library is loaded and supported,
# patches it, and undoes that.
#
# Calls within calls of the same row count, since a statement executed in the block of another is a
# statement (and is often the one being looked for). So the methods of a row must be chosen such
# that each operation of the library passes through exactly one of them.

module Assay
  module Patches
    # One library. Subclasses have a `key` and define:
    #
    # versions:: [[name, version, supported versions (as for Gem::Requirement)], ...]; empty if it
    #            is not loaded
    # targets::  [[owner, methods, row, true if all of them are required], ...]; otherwise those
    #            present in this version are patched
    # seams::    {owner => a module of methods prepended to its own}, for cases that patching alone
    #            cannot count
    class Library
      # The rows in which it counts now; empty before `apply`.
      attr_reader :rows

      def initialize
        @rows = []
        @patched = []
        @seams = {}.compare_by_identity # Owner => our module in it, empty while nothing is applied.
        @lock = Mutex.new
      end

      # See Patches.apply.
      def apply(keep:)
        @lock.synchronize do
          found = versions
          next outcome(:absent, "it is not loaded; once it is, the next profile counts it") if found.empty?

          reason = unknown(found)
          next outcome(:unsupported, reason) if reason

          put_in(keep)
          outcome(:applied, nil)
        end
      end

      # Returns true if there was something to undo.
      def remove
        @lock.synchronize do
          next false if @patched.empty?

          @patched.each { |owner, methods| MethodProfiler.unpatch(owner, methods) }
          @seams.each_value { |seam| seam.instance_methods(false).concat(seam.private_instance_methods(false)).each { |name| seam.remove_method(name) } }
          @patched = []
          @rows = []
          true
        end
      end

      # Returns true if `apply` has patched this method.
      def patched?(owner, method) = @lock.synchronize { @patched.any? { |each, methods| each == owner && methods.include?(method) } }

      # The reason why a loaded library is not counted; nil if it is counted, or not loaded.
      def unknown_reason
        found = versions
        unknown(found) unless found.empty?
      end

      private

      def seams = {}

      def outcome(status, reason)
        found = versions
        version = found.map { |name, number| name == self.class.key.name ? number : "#{name} #{number}" }.join(" with ") unless found.empty?
        Outcome.new(library: self.class.key, status: status, version: version, rows: @rows, reason: reason)
      end

      # The reason why it cannot be patched; nil if it can.
      def unknown(found)
        found.each do |name, version, known|
          next if Gem::Requirement.new(known).satisfied_by?(Gem::Version.new(version))

          return "of #{name} only #{Array(known).join(", ")} is known. Patch the methods that you mean by Assay::MethodProfiler.patch"
        end
        missing = targets.flat_map { |owner, methods, _, all| all ? methods.reject { |name| there?(owner, name) }.map { |name| "#{owner}##{name}" } : [] }
        "it has no #{missing.join(", ")}, where its calls are looked for" unless missing.empty?
      end

      def there?(owner, name)
        owner.method_defined?(name) || owner.private_method_defined?(name) || seams[owner]&.private_method_defined?(name)
      end

      def put_in(keep)
        seams.each { |owner, methods| stand_before(owner, methods) }
        targets.each do |owner, methods, row, _|
          methods = methods.select { |name| there?(owner, name) }
          next if methods.empty?

          MethodProfiler.patch(owner, methods, row, keep: keep)
          @patched |= [[owner, methods]]
          @rows |= [row]
        end
      end

      def stand_before(owner, methods)
        seam = @seams[owner] ||= Module.new.tap { |new| owner.prepend(new) }
        methods.instance_methods(false).each { |name| seam.define_method(name, methods.instance_method(name)) }
        methods.private_instance_methods(false).each do |name|
          seam.define_method(name, methods.instance_method(name))
          seam.send(:private, name)
        end
      end
    end
    private_constant :Library
  end
end
