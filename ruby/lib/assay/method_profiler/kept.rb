# frozen_string_literal: true

# Method objects of patched methods. Libraries keep such objects to redefine the method in terms of
# them:
#
#   old = Store.method(:open)
#   Store.define_singleton_method(:open) { |*all| trace { old.call(*all) } }
#
# A Method of the wrapper would recurse infinitely there, since its `super` calls the new
# definition. This file must not count: that is the wrapper's job.

module Assay
  module MethodProfiler
    module Patches
      # A Method that calls the wrapper, and so counts, until the method is redefined; from then on
      # it calls the definition it was created from, whose calls count as those of the new one.
      module Kept
        # Members of a Method that describe the class's own method. RSpec uses the owner of an
        # UnboundMethod to find prepended modules.
        SHOWN = %i[arity parameters source_location name original_name super_method inspect to_s hash].freeze
        BOUND = %i[owner receiver unbind].freeze
        private_constant :SHOWN, :BOUND

        class << self
          # Returns the kept Method for a Method or an UnboundMethod of a wrapper, and any other
          # object unchanged.
          def of(found)
            bound = found.is_a?(Method)
            return found unless (bound || found.is_a?(UnboundMethod)) && found.owner.is_a?(Site)

            own = Site.below(found)
            unbound = closure(*(bound ? [found.unbind, own.unbind] : [found, own]), found.owner)
            return shown(unbound, own, SHOWN).tap { |kept| kept.define_singleton_method(:owner) { found.owner } } unless bound

            kept = shown(unbound.bind(found.receiver), own, SHOWN + BOUND)
            kept.define_singleton_method(:==) { |other| other.is_a?(Method) && own == (other.respond_to?(:assay_own) ? other.assay_own : other) }
            kept.define_singleton_method(:assay_own) { own }
            kept.define_singleton_method(:curry) { |arity = [own.arity, -own.arity - 1].max| to_proc.curry(arity) }
            kept
          end

          private

          def closure(wrapper, own, site)
            name = wrapper.name
            changes = site.changes(name)
            # Ruby 3.1 mixes up the arguments of a method defined from a Method with `**`, which
            # this one may become.
            body = proc { |*arguments, &block| (site.changes(name) == changes ? wrapper : own).bind_call(self, *arguments, &block) }
            Module.new { ruby2_keywords define_method(name, &body) }.instance_method(name)
          end

          def shown(kept, own, members)
            members.each { |member| kept.define_singleton_method(member) { own.public_send(member) } }
            kept
          end
        end
      end
    end
  end
end
