# frozen_string_literal: true

# Replaces a loaded method by a changed one for all callers, with its visibility, its copy by
# `module_function`, and its aliases. Methods that cannot be replaced with the same effect as
# loading the changed file are refused.

module AssayMutants
  # The loaded methods by location, and the replacement of one of them.
  module Methods
    # One name of a method. `own` is true for a method of this owner, false for one that the owner
    # inherits under another name or visibility. `target` is the module itself, even if the owner is
    # its singleton class; nil if the owner is that of another object.
    Entry = Struct.new(:owner, :name, :original, :own, :target, :file)
    # Unbound, since suites define methods with these names.
    OF = %i[instance_methods private_instance_methods instance_method singleton_class? singleton_class private_method_defined?
            protected_method_defined? private protected public alias_method module_function].to_h { |name| [name, Module.instance_method(name)] }.freeze
    METHOD = Kernel.instance_method(:method)

    @real = {}

    class << self
      def take
        GC.start
        @held = held
        @entries = Hash.new { |all, key| all[key] = [] }
        all = ObjectSpace.each_object(Module).to_a
        modules = all.reject { |mod| of(:singleton_class?, mod) }
        attached = {}.compare_by_identity
        modules.each { |mod| attached[of(:singleton_class, mod)] = mod }
        modules.each { |mod| attached[mod] = mod }
        all.each { |mod| attached[mod] ||= nil }
        attached.each { |owner, target| entries(owner, target) }
        @entries.default_proc = nil
      end

      # Replaces the loaded method by the changed one. The block is called with its location
      # beforehand.
      def put(asked)
        key = [real(asked["path"]), asked["line"]]
        name = asked["name"].to_sym
        entries = @entries[key] or raise(Unable, "the method was not loaded")
        raise Unable, "something holds the method itself" if @held[key]

        main, copy, others = sorted(entries, name)
        before = visibilities(entries)
        old = own_method(main.owner, name)
        yield main.owner, main.target
        evaluate(asked, main.file, key[0])
        raise Unable, "the changed method went elsewhere" if old == own_method(main.owner, name)

        of(:module_function, main.owner, name) if copy
        others.each { |entry| of(:alias_method, entry.owner, entry.name, name) }
        before.each { |entry, visibility| of(visibility, entry.owner, entry.name) }
      rescue Unable, SyntaxError
        raise
      rescue StandardError => e
        raise Unable, "#{e.class}: #{e.message}"
      end

      private

      def of(name, target, *arguments)
        OF[name].bind_call(target, *arguments)
      end

      # Returns the locations of methods that are held as objects: their holders would continue to
      # call the previous definition.
      def held
        found = {}
        [Method, UnboundMethod, Proc].each do |kind|
          ObjectSpace.each_object(kind) do |own|
            next if kind == Proc && !own.lambda?

            file, line = own.source_location
            found[[real(file), line]] = true if file
          end
        end
        found
      end

      def real(file)
        @real[file] ||= begin
          File.realpath(file)
        rescue SystemCallError
          file
        end
      end

      def entries(owner, target)
        names = of(:instance_methods, owner, false) | of(:private_instance_methods, owner, false)
        names.each do |name|
          method = own_method(owner, name) or next
          file, line = method.source_location
          next unless file

          @entries[[real(file), line]] << Entry.new(owner, name, method.original_name, method.owner.equal?(owner), target, file)
        end
      end

      # Skips prepended modules.
      def own_method(owner, name)
        first = method = of(:instance_method, owner, name)
        method = method.super_method until method.nil? || method.owner.equal?(owner)
        method || first
      rescue NameError
        nil
      end

      # Returns the method, whether the module has a copy of it by `module_function`, and its
      # aliases.
      def sorted(entries, name)
        raise Unable, "methods share its line" if entries.any? { |entry| entry.original != name }

        # A subclass that only changes the visibility.
        own = entries.select { |entry| entry.own || entry.name != name }
        raise Unable, "it has other names elsewhere" unless own.all?(&:own)
        raise Unable, "it is a method of an object" unless own.all?(&:target)

        mains, others = own.partition { |entry| entry.name == name }
        main = mains.find { |entry| entry.owner.equal?(entry.target) } || mains[0]
        raise Unable, "another method has its name" unless main
        raise Unable, "it has other names elsewhere" unless others.all? { |entry| entry.owner.equal?(main.owner) }

        copies = mains - [main]
        is_function = copies.size == 1 && copies[0].target.equal?(main.target) && !main.target.is_a?(Class)
        raise Unable, "several classes have it" unless copies.empty? || is_function

        heard?(main)
        [main, is_function, others]
      end

      # A class with a hook for added methods may act on them.
      def heard?(entry)
        name, usual = entry.owner.equal?(entry.target) ? [:method_added, Module] : [:singleton_method_added, BasicObject]
        raise Unable, "its class does something with methods that are added" unless METHOD.bind_call(entry.target, name).owner.equal?(usual)
      end

      def visibilities(entries)
        entries.select(&:own).to_h do |entry|
          visibility = if of(:private_method_defined?, entry.owner, entry.name) then :private
                       elsif of(:protected_method_defined?, entry.owner, entry.name) then :protected
                       else :public
                       end
          [entry, visibility]
        end
      end

      def evaluate(asked, file, real)
        verbose = $VERBOSE
        $VERBOSE = nil
        RubyVM::InstructionSequence.compile(asked["text"], file, real, asked["first"]).eval
      ensure
        $VERBOSE = verbose
      end
    end
  end
end
