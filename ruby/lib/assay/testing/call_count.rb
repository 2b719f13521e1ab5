# frozen_string_literal: true

# Counts how often a block calls a method. The count is exact, for this thread, by a wrapper that
# exists only while the block runs.

require_relative "outcome"
require_relative "seam"

module Assay
  module Testing
    # Counts the calls of one method while a block runs: an instance method of a class or module,
    # for any receiver, or for a singleton class one of its methods. The methods work as usual.
    class CallCount
      # expected:: a whole number, or a Range such as `1..`
      def initialize(owner, name, expected, &block)
        raise ArgumentError, "assert_calls takes a block" if block.nil?
        unless owner.is_a?(Module)
          raise ArgumentError, "calls are counted of a class or module, not of #{owner.inspect[0, 80]}: use its singleton_class"
        end
        unless (expected.is_a?(Integer) && !expected.negative?) || expected.is_a?(Range)
          raise ArgumentError, "calls are a whole number or a Range such as 1.., not #{expected.inspect}"
        end

        @owner = owner
        @name = name.to_sym
        @expected = expected
        @block = block
        @thread = Thread.current
        @calls = 0
        @counting = false
        @places = Hash.new(0)
      end

      # The outcome of the assertion on the number of calls.
      def outcome
        owner = definer
        Seam.put(self, owner, @name)
        begin
          @block.call
        ensure
          Seam.remove(self, owner, @name)
        end
        return Outcome.new(:pass, said) if @expected === @calls

        Outcome.new(:fail, "#{said}, expected #{@expected}#{places}")
      rescue NameError => e
        raise unless e.name == @name && e.receiver.equal?(@owner)

        raise ArgumentError, "there is no method `#{@name}` in #{@owner.inspect} whose calls could be counted"
      end

      # Called by Seam: calls in other threads are not counted.
      def covers?(thread) = @thread.equal?(thread)

      # Called by Seam for every call. Calls made by the counting itself are not counted: they may
      # be of the same method.
      def call(call, original)
        unless @counting
          begin
            @counting = true
            count(call)
          ensure
            @counting = false
          end
        end
        original.call
      end

      private

      # Receivers of other classes that inherit the method from the same ancestor are not counted.
      def count(call)
        return unless @owner === call.receiver

        @calls += 1
        place = caller_locations(4, 4).find { |each| !each.path.start_with?("<internal:") } # Skips Ruby's own frames.
        @places["#{place.path}:#{place.lineno}"] += 1 if place
      end

      # The class or module that defines the method: an inherited method is counted there. Modules
      # prepended to the class by others stay in front.
      def definer
        place = @owner.ancestors.each_with_index.to_h
        found = @owner.instance_method(@name)
        found = found.super_method while place[found.owner] < place[@owner] && found.super_method
        found.owner
      end

      def said = "#{@owner.inspect}##{@name} was called #{@calls} time#{"s" unless @calls == 1}"

      def places(most = 8)
        return "" if @places.empty?

        lines = @places.sort_by { |place, times| [-times, place] }.first(most).map { |place, times| "\n  #{times} × from #{place}" }
        lines.join
      end
    end
  end
end
