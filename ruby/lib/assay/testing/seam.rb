# frozen_string_literal: true

# The interception of a method by fakes: one method of one object, of Kernel, or of another module,
# whose calls go to the fake for threads that have one, and to the original for all others. It is
# installed with the first fake and removed with the last, in whatever order threads end; then
# everything is as before, including visibility. It knows nothing about the answers of fakes.

require "monitor"

module Assay
  module Testing
    # One intercepted method.
    class Seam
      LOCK = Monitor.new
      @standing = {}.compare_by_identity
      private_constant :LOCK

      class << self
        # Installs a fake for `owner`'s method; `owner` is a singleton class or a module. Raises
        # NameError if there is no such method, FrozenError if the owner is frozen. A fake put
        # `beneath` the others receives only the calls that they pass on.
        def put(fake, owner, name, beneath: false)
          LOCK.synchronize do
            seams = (@standing[owner] ||= {})
            seam = seams[name] || new(owner, name).tap(&:install).then { |fresh| seams[name] = fresh }
            seam.top = beneath && seam.top ? seam.top.upon(fake) : Layer.new(fake, seam.top)
          ensure
            @standing.delete(owner) if seams&.empty?
          end
        end

        # Removes the fake.
        def remove(fake, owner, name)
          LOCK.synchronize do
            seam = @standing.fetch(owner).fetch(name)
            seam.top = seam.top.without(fake)
            return unless seam.top.nil?

            seam.uninstall
            @standing[owner].delete(name)
            @standing.delete(owner) if @standing[owner].empty?
          end
        end
      end

      # A fake and those installed before it. This immutable linked list can be traversed without
      # calling any method of Ruby's collections, which may be the intercepted one.
      Layer = Struct.new(:fake, :below) do
        def without(other) = fake.equal?(other) ? below : Layer.new(fake, below&.without(other))
        def upon(other) = Layer.new(fake, below ? below.upon(other) : Layer.new(other, nil))
      end

      # The most recent fake, or nil.
      attr_accessor :top

      def initialize(owner, name)
        @owner = owner
        @name = name
        @top = nil
      end

      # Returns the topmost layer, from this one on, whose fake covers the thread; nil if there is
      # none.
      def layer_for(thread, layer = @top)
        layer = layer.below until layer.nil? || layer.fake.covers?(thread)
        layer
      end

      # Passes the call to the layer. Calls that it does not answer go to the next one, and from the
      # last to the original.
      def hand(layer, call, original)
        below = layer_for(Thread.current, layer.below)
        layer.fake.call(call, below ? -> { hand(below, call, original) } : original)
      end

      # Installs the method.
      def install
        @visibility = visibility
        own = @own = own_method
        seam = self
        silently do
          @owner.define_method(@name) do |*arguments, **keywords, &block|
            original = lambda do
              own ? own.bind_call(self, *arguments, **keywords, &block) : super(*arguments, **keywords, &block)
            end
            layer = seam.layer_for(Thread.current)
            layer ? seam.hand(layer, Call.new(self, seam.name, arguments, keywords, block), original) : original.call
          end
          @owner.send(@visibility, @name)
        end
      end

      # Restores the original.
      def uninstall
        return @owner.send(:remove_method, @name) unless @own

        silently do
          @owner.define_method(@name, @own)
          @owner.send(@visibility, @name)
        end
      end

      # The method's name.
      attr_reader :name

      private

      # The owner's own method, below modules prepended by others; nil if it is only inherited.
      def own_method
        found = @owner.instance_method(@name)
        found = found.super_method until found.nil? || found.owner.equal?(@owner)
        found
      end

      def visibility
        return :public if @owner.public_method_defined?(@name)
        return :protected if @owner.protected_method_defined?(@name)
        return :private if @owner.private_method_defined?(@name)

        raise NameError.new("there is no method `#{@name}` to fake in #{@owner.inspect}", @name)
      end

      # `ruby -w` warns about redefined methods, which are intended here.
      def silently
        verbose = $VERBOSE
        $VERBOSE = nil
        yield
      ensure
        $VERBOSE = verbose
      end
    end
  end
end
