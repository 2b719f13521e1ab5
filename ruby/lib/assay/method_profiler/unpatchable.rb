# frozen_string_literal: true

# Methods that cannot be replaced by a wrapper, and the reasons. Only answers; patches.rb raises.

module Assay
  module MethodProfiler
    module Unpatchable
      # These inspect their caller, or set variables such as $~ there; they would find the wrapper
      # instead.
      BOUND_TO_CALLER = {
        Kernel => %i[
          binding block_given? iterator? caller caller_locations eval local_variables __method__ __callee__ __dir__ lambda proc
          require_relative autoload autoload? gets readline set_trace_func
        ],
        BasicObject => %i[instance_eval instance_exec __send__],
        Module => %i[
          public private protected module_function private_class_method define_method class_eval module_eval using refine
          ruby2_keywords attr_accessor attr_reader attr_writer attr
        ],
        String => %i[=~ match gsub gsub! sub sub! scan index rindex partition rpartition slice slice! start_with? [] []= each_line],
        Symbol => %i[=~ match [] slice start_with?],
        Regexp => %i[=~ === match ~],
        IO => %i[gets readline]
      }.freeze

      # The interpreter and YJIT compute these without a call. Redefining one of them disables that
      # permanently for the whole process.
      FAST_OPERATORS = %i[
        + - * / % == != < <= > >= << >> & | ^ ! =~ === -@ [] []= length size empty? nil? succ min max freeze call hash
      ].freeze
      FAST_CLASSES = [Integer, Float, String, Symbol, Array, Hash, Regexp, NilClass, TrueClass, FalseClass, Proc, Time].freeze
      private_constant :BOUND_TO_CALLER, :FAST_OPERATORS, :FAST_CLASSES

      # Returns the reason why this method, an UnboundMethod, cannot be wrapped in `owner`; nil if
      # it can.
      def self.reason(owner, method)
        return nil unless ruby_s_own?(method)

        if BOUND_TO_CALLER.any? { |owner, names| method.owner == owner && names.include?(method.name) }
          "it works on the frame of whoever calls it, and that would be the wrapper"
        elsif FAST_CLASSES.include?(owner) && FAST_OPERATORS.include?(method.name)
          "Ruby computes it without calling it; once patched, everything would be slower for the rest of the process"
        end
      end

      # Methods in C, and those that newer Rubies implement in Ruby internally; never a user's
      # methods.
      def self.ruby_s_own?(method)
        place = method.source_location
        place.nil? || place.first.start_with?("<internal:")
      end
    end
    private_constant :Unpatchable
  end
end
