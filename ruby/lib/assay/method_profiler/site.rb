# frozen_string_literal: true

# The wrappers of one class or module, in a module that is prepended to it permanently. While the
# module is empty, calls cost the same as without it. Wrappers are compiled once, in a module that
# is never called, and inserted by binding the same code to this one. It must not decide when: that
# is patches.rb.

module Assay
  module MethodProfiler
    module Patches
      # The prepended module. Only its class keeps it alive.
      class Site < Module
        RISKY = %i[initialize object_id __id__ __send__].freeze
        # Patched classes return `instance_method` without the wrapper (OwnMethods).
        FIND = Module.instance_method(:instance_method)
        private_constant :RISKY, :FIND

        # Returns this method of a class, or the one below it if it is a wrapper.
        def self.below(method)
          method = method.super_method || method while method.owner.is_a?(Site)
          method
        end

        attr_reader :owner, :patches

        def initialize(owner)
          super()
          @owner = owner
          @patches = {} # By the method's name.
          @present = {}
          @changes = Hash.new(0)
        end

        # Number of times the method was redefined or removed since it was patched; `changed` adds one.
        def changes(name) = @changes[name]
        def changed(name) = @changes[name] += 1

        # Called by RSpec, which does not stub, for all instances, a method defined in a prepended
        # module. The wrappers here only precede a method of the class, and follow its
        # redefinitions. To stub a single object, RSpec itself prepends its definition if necessary.
        def method_defined?(...) = owner.singleton_class? && super

        def inspect = "#<assay: wrappers of #{owner.inspect}>"
        alias to_s inspect

        # Prepares the class. Fails for a frozen class.
        def enter
          owner.prepend(self)
          unless owner.singleton_class?
            # If `method` has another meaning, such as the verb of a request, it is left unchanged.
            owner.prepend(InstanceHooks) if owner.method_defined?(:method) && FIND.bind_call(owner, :method).owner.equal?(Kernel)
            return owner.singleton_class.prepend(ClassHooks, OwnMethods)
          end

          owner.prepend(ObjectHooks)
          owner.singleton_class.prepend(KeptMethods)
        end

        # If the method is gone, there is nothing to wrap.
        def put_in(patch)
          return if @present[patch.method] || !(visibility = visibility(patch.method))

          define_method(patch.method, patch.wrapper)
          send(visibility, patch.method)
          @present[patch.method] = patch
        end

        # Ruby warns about the removal of some methods even if there is another one below.
        def take_out(patch)
          return unless @present.delete(patch.method)
          return remove_method(patch.method) unless RISKY.include?(patch.method)

          loud, $VERBOSE = $VERBOSE, nil
          begin
            remove_method(patch.method)
          ensure
            $VERBOSE = loud
          end
        end

        # Returns the wrapped method; nil if there is none.
        def original(name)
          method = FIND.bind_call(owner, name)
          return method unless @present.key?(name)

          method = method.super_method until method.nil? || method.owner.equal?(self)
          method&.super_method
        rescue NameError
          nil
        end

        # Returns the class or module whose definition is called, below all wrappers; nil if the
        # method is missing.
        def defined_by(name)
          Site.below(FIND.bind_call(owner, name)).owner
        rescue NameError
          nil
        end

        # An alias of a patched method that is created while its wrapper is installed is an alias of
        # the wrapper: its `super` calls the class's later definition of the method's name, which
        # calls the alias, and so on without end. This restores the intended alias.
        def mend(name)
          return unless visibility(name)

          found = FIND.bind_call(owner, name)
          patch = @present.each_value.find { |each| each.wrapper.source_location == found.source_location }
          return if patch.nil? || patch.method == name

          original = original(patch.method) or return
          visibility = visibility(name)
          owner.define_method(name, original)
          owner.send(visibility, name)
        end

        private

        def visibility(name)
          return :public if owner.public_method_defined?(name)
          return :private if owner.private_method_defined?(name)

          :protected if owner.protected_method_defined?(name)
        end
      end
    end
  end
end
