# frozen_string_literal: true

# How often a block calls a method. Counted exactly, in this thread, by a wrapper that is there only while the block runs.

require_relative "outcome"
require_relative "seam"

module Assay
  module Testing
    # Counts the calls of one method while a block runs. Instance methods of a class or module, whoever the receiver is; with a
    # singleton class its methods. The methods do what they always do.
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

      # The outcome of "it is called so often".
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

      # Seam asks this: calls of other threads are not counted.
      def covers?(thread) = @thread.equal?(thread)

      # Seam hands every call here. What the counting itself calls is not counted: it may be that very method.
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

      # A receiver of another class, which has the method by the same ancestor, is not meant.
      def count(call)
        return unless @owner === call.receiver

        @calls += 1
        place = caller_locations(4, 4).find { |each| !each.path.start_with?("<internal:") } # Ruby's own methods in Ruby are no place of anyone's.
        @places["#{place.path}:#{place.lineno}"] += 1 if place
      end

      # Where the method is defined: an inherited one is counted there. What others have prepended to the class stays in front.
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
