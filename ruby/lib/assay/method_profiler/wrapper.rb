# frozen_string_literal: true

# Generates the source of a patched method: a method with the same parameters that passes on exactly
# its arguments. It must not know about the recorder (recorder.rb) or the method's class
# (patches.rb).
#
# The parameters are repeated one by one, since `*args, **options, &block` costs more than all the
# counting, and changes the results of `arity` and `parameters`. An optional parameter that was
# omitted must be omitted again, or the method's own default would not be used: the default here
# only records the omission.

module Assay
  module MethodProfiler
    # The source of one patched method.
    class Wrapper
      RESERVED = %w[
        __ENCODING__ __LINE__ __FILE__ BEGIN END alias and begin break case class def defined? do else elsif end ensure false for if in
        module next nil not or redo rescue retry return self super then true undef unless until when while yield
      ].freeze
      # Ruby 3.1 reports methods marked by ruby2_keywords as having `**`; other versions do not show
      # the mark.
      MARK_IS_SHOWN = Class.new { ruby2_keywords def marked(*all) = all }.instance_method(:marked).parameters.size == 2
      MARK = %i[keyrest **].freeze
      # The parameters that Ruby reports for `...`.
      THREE_DOTS = [%i[rest *], MARK, [:block, :&]].freeze

      # Returns true if a method has a `**`. Since Ruby 3.2 an anonymous one is reported like the
      # mark, and `*, **, &` like `...`. They differ: without a `**` to take them, keywords can fill
      # a required parameter. The compiled code has the answer.
      def self.double_splat?(method)
        code = RubyVM::InstructionSequence.of(method) if defined?(RubyVM::InstructionSequence)
        code ? code.to_a[11].key?(:kwrest) : false
      end

      # Newer Rubies compile `...` as `*, **, &` if parameters precede it; older ones as a marked
      # `*` and `&`.
      DOTS_ARE_STARS = double_splat?(Class.new { def dots(first, ...) = all(first, ...) }.instance_method(:dots))
      private_constant :RESERVED, :MARK_IS_SHOWN, :MARK, :THREE_DOTS, :DOTS_ARE_STARS

      # method:: an UnboundMethod
      # mark::   true if it may yet be marked by ruby2_keywords. A mark that the method itself lacks
      #          has no effect
      def initialize(method, mark: false)
        @name = method.name
        parameters = method.parameters
        double_splat = parameters.include?(MARK) && Wrapper.double_splat?(method)
        marked = parameters.include?(MARK) && !double_splat
        @mark = mark || !method.source_location || !MARK_IS_SHOWN || marked
        forwards_all = parameters == THREE_DOTS || (parameters.last(3) == THREE_DOTS && double_splat == DOTS_ARE_STARS)
        parameters -= [MARK] if marked && !forwards_all
        @plain_name = !@name.inspect.match?(/\A:["@$]/) # `def` can write it.
        @required, @optional, @posts = [], [], []
        @keys, @optional_keys = [], []
        @rest = @key_rest = @block = nil
        @forward_all = forwards_all || parameters.any? { |kind, key| key_that_has_no_variable?(kind, key) }
        read(parameters)
      end

      # Returns the source. `body` is called with the source of the call of the method itself, and
      # returns that of the wrapper's body.
      def source
        forward = @plain_name ? forwarding : explicit_forwarding
        body = yield(forward)
        return "def #{@name}(#{signature})\n#{body}\nend\n#{keywords_in_rest}" if @plain_name

        "define_method(#{@name.inspect}) do |#{signature}|\n#{body}\nend\n#{keywords_in_rest}"
      end

      private

      # `def m(if:)` can be called, but `super(if: if)` cannot be written.
      def key_that_has_no_variable?(kind, key)
        %i[key keyreq].include?(kind) && (!variable?(key) || key.start_with?("__assay"))
      end

      def variable?(name)
        name && name.match?(/\A[[:lower:]_[^\x00-\x7f]][[:word:]]*\z/) && !RESERVED.include?(name.name) && !name.match?(/\A_[1-9]\z/)
      end

      def read(parameters)
        seen = []
        parameters.each_with_index do |(kind, given), index|
          name = variable?(given) && !seen.include?(given) && !given.start_with?("__assay") ? given : :"__assay_#{index}"
          seen << name
          case kind
          when :req then (@optional.empty? && !@rest ? @required : @posts) << name
          when :opt then @optional << name
          when :rest then @rest = variable?(given) ? name : :*
          when :keyreq then @keys << given
          when :key then @optional_keys << given
          when :keyrest then @key_rest = variable?(given) ? name : :**
          when :nokey then @key_rest = :nil
          when :block then @block = given == :& && @plain_name ? "" : name
          end
        end
      end

      def keywords? = @keys.any? || @optional_keys.any? || @key_rest

      # A method with `*rest` and no keywords may still distinguish keywords from a hash: those in C
      # do, and those marked by ruby2_keywords.
      def keywords_in_rest = @mark && @rest && !keywords? && !@forward_all ? "ruby2_keywords(#{@name.inspect})\n" : ""

      def signature
        return [*@required, "..."].join(", ") if @forward_all && @plain_name
        return "*__assay_rest, &__assay_block" if @forward_all

        block = @block || (:__assay_block unless @plain_name)
        [
          *@required,
          *@optional.each_with_index.map { |name, index| "#{name} = (__assay_given ||= #{index}; nil)" },
          *(rest_name && "*#{rest_name unless rest_name == :*}"),
          *@posts,
          *@keys.map { |key| "#{key}:" },
          *@optional_keys.each_with_index.map { |key, index| "#{key}: (__assay_without_#{index} = true; nil)" },
          *(key_rest_name && "**#{key_rest_name unless key_rest_name == :**}"),
          *(block && "&#{block}")
        ].join(", ")
      end

      # Implicit `super` passes on anonymous parameters; an explicit call needs a name for them.
      def implicit? = @plain_name && @optional.empty? && @optional_keys.empty?
      def rest_name = @rest == :* && !implicit? ? :__assay_rest : @rest
      def key_rest_name = @key_rest == :** && !implicit? ? :__assay_key_rest : @key_rest

      def forwarding
        return "super(#{[*@required, "..."].join(", ")})" if @forward_all

        implicit? ? "super" : explicit_forwarding
      end

      # The call for each possible number of optional arguments.
      def explicit_forwarding
        return "super(*__assay_rest, &__assay_block)" if @forward_all

        whole = with_keywords([*@required, *@optional, *(rest_name && "*#{rest_name}"), *@posts])
        return whole if @optional.empty?

        parts = @optional.each_index.map do |given|
          "when #{given} then #{with_keywords([*@required, *@optional.first(given), *@posts])}"
        end
        "(case __assay_given\nwhen nil then #{whole}\n#{parts.join("\n")}\nend)"
      end

      # The same for the optional keywords: all, none, or only the given ones, which needs a hash.
      def with_keywords(positional)
        always = @keys.map { |key| "#{key}: #{key}" }
        rest = key_rest_name && @key_rest != :nil ? ["**#{key_rest_name}"] : []
        block = @plain_name ? [] : ["&#{@block || :__assay_block}"]
        call = ->(some) { "super(#{[*positional, *always, *some, *rest, *block].join(", ")})" }
        return call.([]) if @optional_keys.empty?

        without = @optional_keys.each_index.map { |index| "__assay_without_#{index}" }
        all = @optional_keys.map { |key| "#{key}: #{key}" }
        return "(#{without[0]} ? #{call.([])} : #{call.(all)})" if without.one?

        chosen = @optional_keys.zip(without).map { |key, flag| "__assay_keys[:#{key}] = #{key} unless #{flag}" }
        "(if #{without.join(" && ")} then #{call.([])}\nelsif !(#{without.join(" || ")}) then #{call.(all)}\n" \
          "else __assay_keys = {}; #{chosen.join("; ")}; #{call.(["**__assay_keys"])}\nend)"
      end
    end
  end
end
