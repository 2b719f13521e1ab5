# frozen_string_literal: true

# What is patched: which methods of which classes, under which names; puts the wrappers in and takes them out. It must not count.
#
# The wrappers of a class are methods of a module that is prepended to it, and stays so. While the module is empty a call costs what it
# always did. Wrappers are compiled once, in a module that nobody calls, and put in by binding the same code to another module.

require "monitor"

module Assay
  module MethodProfiler
    # The registry. Everything that changes it holds its lock.
    module Patches
      # One patched method.
      Patch = Struct.new(:method, :name, :id, :wrapper, :visibility, :keep)

      RISKY = %i[initialize object_id __id__ __send__].freeze

      # Everything patched in one class or module.
      class Site
        attr_reader :owner, :patches

        def initialize(owner)
          @owner = owner
          @patches = {} # By the method's name.
          @module = Module.new
          @present = {}
        end

        # Makes the class ready. This is what a frozen class refuses.
        def prepend_module
          owner.prepend(@module)
          if owner.singleton_class?
            owner.prepend(MendsSingletonAliases)
          else
            owner.singleton_class.prepend(MendsAliases)
          end
        end

        def put_in(patch)
          return if @present[patch.method]

          @module.define_method(patch.method, patch.wrapper)
          @module.send(patch.visibility, patch.method)
          @present[patch.method] = patch
        end

        # Ruby warns of the removal of some methods even where another one is below.
        def take_out(patch)
          return unless @present.delete(patch.method)
          return @module.remove_method(patch.method) unless RISKY.include?(patch.method)

          loud, $VERBOSE = $VERBOSE, nil
          begin
            @module.remove_method(patch.method)
          ensure
            $VERBOSE = loud
          end
        end

        # The same methods by other wrappers.
        def replace(patch, wrapper)
          present = @present.key?(patch.method)
          take_out(patch)
          patch.wrapper = wrapper
          put_in(patch) if present
        end

        # The method below the wrapper.
        def original(patch)
          method = owner.instance_method(patch.method)
          return method unless @present.key?(patch.method)

          method = method.super_method while method && method.source_location != patch.wrapper.source_location
          method&.super_method
        end

        # An alias of a patched method, made while its wrapper is in, is an alias of the wrapper: `super` in it leads to whatever the
        # class then defines under the method's name, which calls the alias, and so on for ever. This makes it what was meant.
        def mend(name)
          found = owner.instance_method(name)
          patch = @present.each_value.find { |each| each.wrapper.source_location == found.source_location }
          return if patch.nil? || patch.method == name

          original = original(patch) or return
          visibility = Patches.visibility(owner, name)
          owner.define_method(name, original)
          owner.send(visibility, name)
        end
      end

      # Prepended to the singleton class of a patched class.
      module MendsAliases
        private

        def method_added(name)
          super
          Patches.mend(self, name)
        end
      end

      # Prepended to a patched singleton class: there it is the object that is told of new methods.
      module MendsSingletonAliases
        private

        def singleton_method_added(name)
          super
          Patches.mend((class << self; self; end), name)
        end
      end

      # Prepended to Ractor's singleton class: the first one needs wrappers that it may call.
      module TellsOfRactors
        def new(...)
          Patches.allow_ractors
          super
        end
      end

      @sites = {}.compare_by_identity
      @names = []     # Those of the ids, from FIRST_ID on.
      @once = {}      # name => whether calls within calls of the same name do not count
      @users = 0      # Running profiles.
      @keep_all = false
      @lock = Monitor.new # One thread may come again: method_added is called while a method is defined.

      class << self
        # See MethodProfiler.patch.
        def add(owner, methods, name, nested:, keep:)
          @lock.synchronize do
            check_owner(owner)
            site = @sites[owner] || Site.new(owner)
            raise ArgumentError, "no methods were named" if methods.empty?

            new = methods.uniq.filter_map { |method| check(site, method, name || row_name(owner, method), nested, keep) }
            site.prepend_module unless @sites.key?(owner)
            @sites[owner] = site
            new.each do |method, row|
              site.patches[method.name] = compile(owner, method, row, keep)
              @once[row] = !nested
              settle(site, site.patches[method.name])
            end
          end
        end

        # See MethodProfiler.unpatch.
        def remove(owner, methods)
          @lock.synchronize do
            site = @sites[owner] or return []
            (methods || site.patches.keys).select do |method|
              patch = site.patches.delete(method)
              site.take_out(patch) if patch
              patch
            end
          end
        end

        def name_of(owner, method) = @sites[owner]&.patches&.[](method)&.name

        # The name of a row, and whether nested calls of it count.
        def row(id) = @names[id - FIRST_ID]
        def nested?(name) = !@once[name]

        # A number for this name, the same every time.
        def id_of(name)
          @lock.synchronize { (@names.index(name) || (@names << name).size - 1) + FIRST_ID }
        end

        # A profile starts: with the first of all the wrappers go in.
        def use
          @lock.synchronize do
            @users += 1
            swap if @users == 1
          end
        end

        # It stopped.
        def release
          @lock.synchronize do
            @users -= 1
            swap if @users.zero?
          end
        end

        def keep_all(keep)
          @lock.synchronize do
            @keep_all = keep
            each_patch { |site, patch| settle(site, patch) }
          end
        end

        # All wrappers again, so that any Ractor may call them; once.
        def allow_ractors
          return if Recorder.ractors?

          @lock.synchronize do
            Recorder.allow_ractors
            each_patch do |site, patch|
              site.replace(patch, wrapper(site.original(patch), patch.id, patch.wrapper.source_location.first))
            end
          end
        end

        def mend(owner, name)
          @lock.synchronize { @sites[owner]&.mend(name) }
        end

        def visibility(owner, method)
          return :private if owner.private_method_defined?(method)

          owner.protected_method_defined?(method) ? :protected : :public
        end

        # The wrapper of a method, compiled, as an UnboundMethod. `where` appears in backtraces.
        def wrapper(method, id, where)
          source = Wrapper.new(method).source { |forward| Recorder.body(id, forward) }
          Module.new { module_eval(source, where) }.instance_method(method.name)
        end

        private

        # Puts in or takes out what comes and goes with profiles. Under a server that is done twice for each request, or not at all.
        def swap
          each_patch { |site, patch| settle(site, patch) } unless @keep_all
        end

        def each_patch(&block)
          @sites.each_value { |site| site.patches.each_value { |patch| block.call(site, patch) } }
        end

        def settle(site, patch)
          @users.positive? || @keep_all || patch.keep ? site.put_in(patch) : site.take_out(patch)
        end

        def compile(owner, method, row, keep)
          id = id_of(row)
          where = "(assay: wrapper of #{row_name(owner, method.name)})"
          Patch.new(method.name, row, id, wrapper(method, id, where), visibility(owner, method.name), keep)
        end

        def check_owner(owner)
          if defined?(::Refinement) && owner.is_a?(::Refinement)
            raise ArgumentError, "#{owner.inspect} can't be patched: which refined method is called is settled when the caller is " \
                                 "compiled. Patch the class that is refined; calls of the refined method that reach it by super count"
          end
          return if @sites.key?(owner) || !owner.frozen?

          raise FrozenError.new("#{owner.inspect} is frozen, so that its methods can't be patched: patch them before it is frozen",
                                receiver: owner)
        end

        # The method and the name of its row if it is to be patched, nil if it is already.
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

        def used?(row) = @sites.each_value.any? { |site| site.patches.each_value.any? { |patch| patch.name == row } }

        def look_up(owner, method)
          owner.instance_method(method)
        rescue NameError
          error = NameError.new("there is no method `#{method}' in #{owner.inspect} to be patched#{similar(owner, method)}. What only " \
                                "method_missing answers can be counted by patching :method_missing", method, receiver: owner)
          error.set_backtrace(caller) # Else Ruby shows this line of ours beside the message.
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
