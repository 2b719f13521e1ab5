# frozen_string_literal: true

# Where a fake stands between the code and a method: one method of one object, of Kernel, or of another module, that goes to the fake for
# those threads that have one, and to the original for all others. It is put in with the first fake and taken out with the last, in whatever
# order threads end; then everything is as it was, visibility and all. What a fake does is none of its business.

require "monitor"

module Assay
  module Testing
    # One method that is intercepted.
    class Seam
      LOCK = Monitor.new
      @standing = {}.compare_by_identity
      private_constant :LOCK

      class << self
        # Lets the fake take the calls of `owner`'s method; `owner` is a singleton class or a module. Raises NameError where there is no
        # such method, FrozenError where the owner is frozen. One that is put `beneath` the others sees only what they let through.
        def put(fake, owner, name, beneath: false)
          LOCK.synchronize do
            seams = (@standing[owner] ||= {})
            seam = seams[name] || new(owner, name).tap(&:install).then { |fresh| seams[name] = fresh }
            seam.top = beneath && seam.top ? seam.top.upon(fake) : Layer.new(fake, seam.top)
          ensure
            @standing.delete(owner) if seams&.empty?
          end
        end

        # Takes the fake away again.
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

      # A fake, and those that were there before it. A list of this kind, never changed but replaced, is walked without any method of Ruby's
      # own collections: one of these may be the method that is intercepted.
      Layer = Struct.new(:fake, :below) do
        def without(other) = fake.equal?(other) ? below : Layer.new(fake, below&.without(other))
        def upon(other) = Layer.new(fake, below ? below.upon(other) : Layer.new(other, nil))
      end

      # The latest fake, or nil.
      attr_accessor :top

      def initialize(owner, name)
        @owner = owner
        @name = name
        @top = nil
      end

      # The latest fake for the thread, from this layer on, and those below it; nil where it has none.
      def layer_for(thread, layer = @top)
        layer = layer.below until layer.nil? || layer.fake.covers?(thread)
        layer
      end

      # Lets the layer take the call. What it does not answer itself goes to the next one, and from the last to the original.
      def hand(layer, call, original)
        below = layer_for(Thread.current, layer.below)
        layer.fake.call(call, below ? -> { hand(below, call, original) } : original)
      end

      # Puts the method in.
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

      # Puts the original back.
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

      # The owner's own method, behind what others have prepended to it; nil where it only inherits one.
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

      # `ruby -w` warns of methods that are defined anew, which is what is meant here.
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
