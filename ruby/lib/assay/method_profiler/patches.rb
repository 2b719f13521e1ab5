# frozen_string_literal: true

# The registry of patched methods (classes, methods and names); inserts and removes the wrappers. It
# must not count. The wrappers of one class are in site.rb.

require "monitor"
require_relative "kept"
require_relative "site"

module Assay
  module MethodProfiler
    # The registry. All modifications hold its lock.
    module Patches
      # One patched method. It is `redundant` if it is inherited and its original class or module
      # has a wrapper with the same name.
      Patch = Struct.new(:method, :name, :id, :wrapper, :keep, :redundant)

      # Prepended to the singleton class of a patched class, and of one from which a patched method
      # is inherited.
      module ClassHooks
        private

        def method_added(name)
          super
          Patches.changed(self, name)
        end

        def method_removed(name)
          super
          Patches.changed(self, name)
        end

        def method_undefined(name)
          super
          Patches.changed(self, name)
        end
      end

      # Prepended to a patched singleton class, for which Ruby calls the hooks of the object. Method
      # objects that it returns are Kept ones.
      module ObjectHooks
        def method(...) = Kept.of(super)
        def public_method(...) = Kept.of(super)
        def singleton_method(...) = Kept.of(super)

        private

        def singleton_method_added(name)
          super
          Patches.changed((class << self; self; end), name)
        end

        def singleton_method_removed(name)
          super
          Patches.changed((class << self; self; end), name)
        end

        def singleton_method_undefined(name)
          super
          Patches.changed((class << self; self; end), name)
        end
      end

      # Prepended to the singleton class of a patched singleton class.
      module KeptMethods
        def instance_method(...) = Kept.of(super)
        def public_instance_method(...) = Kept.of(super)
      end

      # Prepended to a patched class: Method objects of its instances count (`map(&store.method(:read))`) and are Kept ones.
      module InstanceHooks
        def method(...) = Kept.of(super)
        def public_method(...) = Kept.of(super)
      end

      # Prepended to the singleton class of a patched class. `instance_method` returns the class's
      # own method, never the wrapper: some libraries keep it and redefine the method in terms of
      # it, and `super` in the wrapper would then recurse infinitely.
      module OwnMethods
        def instance_method(...) = Site.below(super)
        def public_instance_method(...) = Site.below(super)
      end

      # Prepended to Ractor's singleton class: the first Ractor needs wrappers that it may call.
      module TellsOfRactors
        def new(...)
          Patches.allow_ractors
          super
        end
      end

      # In Ruby 3.1 the JIT compiler frees the code that a call returns to if its method is
      # redefined or removed during the call. Inserting and removing wrappers would crash any thread
      # that is within a patched method, so wrappers stay in.
      STAY = RUBY_VERSION.start_with?("3.1.") && defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled? ? true : false

      # Classes and their sites. This keeps neither alive: an unreachable class is collected with
      # its wrappers. Read only by `site_of`, `all_sites` and `each_patch`: if the stack overflows
      # while Ruby removes a collected entry, the entry stays and refers to another object.
      @sites = ObjectSpace::WeakMap.new
      @methods = {}   # Names of methods that were ever patched: few of those that a program defines.
      @names = []     # The names of the ids, from FIRST_ID on.
      @once = {}      # name => whether calls within calls of the same name do not count
      @users = 0      # Running profiles.
      @keep_all = STAY
      @some_move = nil # Whether some wrappers are inserted and removed; nil until determined again.
      @lock = Monitor.new # Reentrant, since method_added is called while a method is defined.

      class << self
        # See MethodProfiler.patch.
        def add(owner, methods, name, nested:, keep:)
          @lock.synchronize do
            check_owner(owner)
            site = site_of(owner) || Site.new(owner)
            raise ArgumentError, "no methods were named" if methods.empty?

            @some_move = nil
            new = methods.uniq.filter_map { |method| check(site, method, name || row_name(owner, method), nested, keep) }
            site.enter unless site_of(owner)
            @sites[owner] = site
            new.each do |method, row|
              site.patches[method.name] = compile(owner, method, row, keep)
              @methods[method.name] = true
              @once[row] = !nested
              watch(method.owner) unless method.owner == owner
              settle(site, site.patches[method.name])
              compare_inherited(method.name)
            end
          end
        end

        # See MethodProfiler.unpatch.
        def remove(owner, methods)
          @lock.synchronize do
            site = site_of(owner) or return []
            (methods || site.patches.keys).select do |method|
              patch = site.patches.delete(method)
              next if patch.nil?

              site.take_out(patch)
              compare_inherited(method)
              patch
            end
          end
        end

        def name_of(owner, method) = site_of(owner)&.patches&.[](method)&.name

        # Returns [[owner, method], …] patched under this name.
        def methods_named(name)
          @lock.synchronize do
            all_sites.flat_map { |site| site.patches.each_value.filter_map { |patch| [site.owner, patch.method] if patch.name == name } }
          end
        end

        # The name of a row, and whether nested calls of it count.
        def row(id) = @names[id - FIRST_ID]
        def nested?(name) = !@once[name]

        # Returns the id of this name, always the same.
        def id_of(name)
          @lock.synchronize { (@names.index(name) || (@names << name).size - 1) + FIRST_ID }
        end

        # Called when a profile starts; the first one inserts the wrappers.
        def use
          @lock.synchronize do
            @users += 1
            swap if @users == 1
          end
        end

        # Called when a profile stops.
        def release
          @lock.synchronize do
            @users -= 1
            swap if @users.zero?
          end
        end

        def keep_all(keep)
          @lock.synchronize do
            @keep_all = keep || STAY
            each_patch { |site, patch| settle(site, patch) }
          end
        end

        # Recreates all wrappers so that any Ractor may call them; done once.
        def allow_ractors
          return if Recorder.ractors?

          @lock.synchronize do
            Recorder.allow_ractors
            each_patch { |site, patch| renew(site, patch) }
          end
        end

        # A method of this name was defined in or removed from a class. Its own site may have to
        # repair an alias; wrappers of the method, in the class and in those that inherit it, adopt
        # the new parameters.
        def changed(owner, name)
          return unless @methods.key?(name) || site_of(owner)

          @lock.synchronize do
            site_of(owner)&.mend(name)
            @methods.key?(name) && all_sites.each do |site|
              patch = site.patches[name]
              next unless patch && site.owner <= owner

              site.changed(name)
              renew(site, patch)
            end
            compare_inherited(name) if @methods.key?(name)
          end
        end

        # Returns the compiled wrapper of a method, as an UnboundMethod. `where` appears in
        # backtraces. See Wrapper for `mark`.
        def wrapper(method, id, where, mark: false)
          source = Wrapper.new(method, mark: mark).source { |forward| Recorder.body(id, forward) }
          Module.new { module_eval(source, where) }.instance_method(method.name)
        end

        private

        def site_of(owner)
          site = @sites[owner]
          site if Site === site && site.owner.equal?(owner)
        end

        def all_sites = @sites.values.grep(Site)

        # Inserts or removes the wrappers that are not kept permanently. Under a server this happens
        # twice per request, or never.
        def swap
          return if @keep_all

          @some_move = all_sites.any? { |site| site.patches.each_value.any? { |patch| !patch.keep } } if @some_move.nil?
          each_patch { |site, patch| settle(site, patch) } if @some_move
        end

        def each_patch
          @sites.values.each { |site| site.patches.each_value { |patch| yield site, patch } if Site === site }
        end

        def settle(site, patch)
          !patch.redundant && (@users.positive? || @keep_all || patch.keep) ? site.put_in(patch) : site.take_out(patch)
        end

        # Marks redundant wrappers of methods of this name.
        def compare_inherited(name)
          @some_move = nil
          sites = all_sites.select { |site| site.patches.key?(name) }
          sites.each do |site|
            patch = site.patches[name]
            other = sites.find do |each|
              site.owner < each.owner && each.patches[name].name == patch.name && each.defined_by(name) == site.defined_by(name)
            end
            other.patches[name].keep ||= patch.keep if other
            next if patch.redundant == !other.nil?

            patch.redundant = !other.nil?
            settle(site, patch)
            settle(other, other.patches[name]) if other
          end
        end

        # Recreates a wrapper. ruby2_keywords marks a method after its definition, and there is no
        # hook for that.
        def renew(site, patch)
          site.take_out(patch)
          original = site.original(patch.method) or return
          patch.wrapper = wrapper(original, patch.id, patch.wrapper.source_location.first, mark: true)
          settle(site, patch)
        end

        # Watches a class or module from which a patched method is inherited, so that redefinitions
        # are noticed. Ruby's core classes are not watched.
        def watch(owner)
          return if owner.frozen? || [Object, Kernel, BasicObject, Module, Class, Comparable, Enumerable].include?(owner)

          owner.singleton_class.prepend(ClassHooks)
        end

        def compile(owner, method, row, keep)
          id = id_of(row)
          where = "(assay: wrapper of #{row_name(owner, method.name)})"
          Patch.new(method.name, row, id, wrapper(method, id, where), keep, false)
        end

        def check_owner(owner)
          if defined?(::Refinement) && owner.is_a?(::Refinement)
            raise ArgumentError, "#{owner.inspect} can't be patched: which refined method is called is settled when the caller is " \
                                 "compiled. Patch the class that is refined; calls of the refined method that reach it by super count"
          end
          return if site_of(owner) || !owner.frozen?

          raise FrozenError.new("#{owner.inspect} is frozen, so that its methods can't be patched: patch them before it is frozen",
                                receiver: owner)
        end

        # Returns the method and the name of its row if it is to be patched, nil if it already is.
        def check(site, method, row, nested, keep)
          raise ArgumentError, "the name :total_duration is that of the whole profile: take another one" if row == :total_duration

          if (patch = site.patches[method])
            patch.keep ||= keep
            return nil if patch.name == row

            raise ArgumentError, "#{row_name(site.owner, method)} is patched as :#{patch.name} already: unpatch it first, or use that name"
          end
          if @names.include?(row) && used?(row) && nested?(row) != nested
            raise ArgumentError, "other methods are patched as :#{row} with `nested: #{!nested}`: one name counts in one way"
          end
          found = look_up(site.owner, method)
          reason = Unpatchable.reason(site.owner, found)
          raise ArgumentError, "#{row_name(site.owner, method)} can't be patched: #{reason}" if reason

          [found, row]
        end

        def used?(row) = all_sites.any? { |site| site.patches.each_value.any? { |patch| patch.name == row } }

        def look_up(owner, method)
          owner.instance_method(method)
        rescue NameError
          error = NameError.new("there is no method `#{method}' in #{owner.inspect} to be patched#{similar(owner, method)}. What only " \
                                "method_missing answers can be counted by patching :method_missing", method, receiver: owner)
          error.set_backtrace(caller) # Otherwise Ruby shows our source line next to the message.
          raise error
        end

        def similar(owner, method)
          return unless defined?(::DidYouMean::SpellChecker)

          names = owner.instance_methods + owner.private_instance_methods
          found = ::DidYouMean::SpellChecker.new(dictionary: names).correct(method).first(3)
          "; did you mean #{found.join(", ")}?" if found.any?
        end

        def row_name(owner, method)
          return :"#{owner.name || owner.inspect}##{method}" unless owner.singleton_class?

          :"#{owner.inspect[/\A#<Class:(.*)>\z/m, 1]}.#{method}"
        end
      end
    end
    private_constant :Patches
    Ractor.singleton_class.prepend(Patches::TellsOfRactors) if defined?(Ractor)
  end
end
