# frozen_string_literal: true

# Cases of ruby/test/cases/README.md: kinds of methods, arguments and results.

require "support/cases"
require "forwardable"

class KindsCasesTest < Minitest::Test
  include Cases

  def test_plain_method = same(owner = class_of { def work = 7 }, :work) { owner.new.work }

  def test_class_method
    owner = class_of { def self.work = self }
    below = Class.new(owner)
    same(owner, :work, 2, singleton: true) { [owner.work, below.work] }
    assert_equal [owner, below], [owner.work, below.work]
  end

  def test_static_method
    owner = Module.new do
      module_function

      def work(number) = number * 2
    end
    same(owner, :work, singleton: true) { owner.work(4) }
  end

  # Within the module the bare name is a method of the module's own.
  def test_function_of_a_module
    owner = Module.new { def self.work(number) = number + 1; def self.twice(number) = work(work(number)) }
    same(owner, :work, 3, singleton: true) { [owner.work(1), owner.twice(1)] }
  end

  def test_attribute_reader = same(owner = class_of { attr_reader :work; def initialize = @work = 5 }, :work) { owner.new.work }

  def test_attribute_writer
    owner = class_of { attr_accessor :work }
    same(owner, :work=) { owner.new.tap { |object| object.work = 9 }.work }
  end

  def test_constructor
    owner = class_of { attr_reader :given; def initialize(given, by: 2) = @given = given * by }
    same(owner, :initialize) { owner.new(4, by: 3).given }
  end

  def test_allocation_method
    owner = class_of { attr_reader :given; def self.new(given) = super(given + 1); def initialize(given) = @given = given }
    same(owner, :new, singleton: true) { owner.new(4).given }
  end

  def test_operator_method = same(owner = class_of { def +(other) = [self.class, other] }, :+) { owner.new + 3 }
  def test_index_method = same(owner = class_of { def [](key, *more) = [key, more] }, :[], 2) { [owner.new[3], owner.new[3, 4]] }

  def test_index_assignment
    owner = class_of { attr_reader :all; def []=(key, value); (@all ||= {})[key] = value; end }
    same(owner, :[]=) { owner.new.tap { |object| object[:a] = 1 }.all }
  end

  def test_comparison_method = same(owner = class_of { def ==(other) = other == 5 }, :==, 2) { [owner.new == 5, owner.new == 6] }
  def test_conversion_to_text = same(owner = class_of { def to_s = "seven" }, :to_s) { "#{owner.new}!" }
  def test_call_operator = same(owner = class_of { def call(number) = number * 2 }, :call, 2) { [owner.new.call(1), owner.new.(2)] }

  def test_iteration_method
    owner = class_of { include Enumerable; def each = block_given? ? [1, 2].each { |one| yield one } : enum_for }
    same(owner, :each, 3) { [owner.new.map { |one| one * 2 }, owner.new.to_a, (owner.new.each { |one| break one })] }
  end

  def test_private_method
    owner = class_of { def open = work; private def work = 8 }
    same(owner, :work) { owner.new.open }
    MethodProfiler.profile { assert_raises(NoMethodError) { owner.new.work } }
  end

  def test_method_written_in_c = same(owner = Class.new(String), :upcase) { owner.new("a").upcase }

  def test_method_with_an_odd_name
    owner = class_of { def größe? = 1; define_method(:"two words") { |by = 2| by } }
    same(owner, [:größe?, :"two words"], 2) { [owner.new.größe?, owner.new.send(:"two words")] }
  end

  def test_method_made_at_run_time
    number = 40
    same(owner = class_of { define_method(:work) { |more| number + more } }, :work) { owner.new.work(2) }
  end

  def test_generated_member_of_a_record = same(owner = Struct.new(:work), :work) { owner.new(3).work }

  def test_method_of_one_object
    object, other = Array.new(2) { class_of { def work = 1 }.new }
    same(object, :work, singleton: true) { [object.work, other.work] }
  end

  def test_method_of_a_mixin
    mixin = Module.new { def work = self.class }
    owners = Array.new(2) { class_of { include mixin } }
    same(mixin, :work, 2) { owners.map { |owner| owner.new.work } }
  end

  def test_abstract_method_and_its_implementation
    base = class_of { def work = raise(NotImplementedError) }
    owner = Class.new(base) { def work = 3 }
    patch(base, :work, :base)
    patch(owner, :work, :own)
    profile = MethodProfiler.profile { assert_raises(NotImplementedError) { base.new.work } && owner.new.work }
    assert_equal [1, 1, 1], [profile[:base][:calls], profile[:base][:errors], profile[:own][:calls]]
  end

  def test_memoised_method
    owner = class_of { def work = @work ||= make; def make = 4 }
    same(owner, :make, 2) { [owner.new.work, owner.new.tap(&:work).work] }
  end

  def test_partially_applied_method
    owner = class_of { def both(x, y) = [x, y] }
    five = owner.new.method(:both).curry[5]
    owner.define_method(:five) { |y| five.call(y) }
    same(owner, :five, 2) { [owner.new.five(2), owner.new.five(3), owner.new.both(1, 2)] }
  end

  def test_made_up_method_is_refused
    owner = class_of { def method_missing(*) = 1; def respond_to_missing?(*) = true }
    assert_match(/method_missing/, assert_raises(NameError) { patch(owner, :work) }.message)
  end

  def test_method_of_an_anonymous_class
    owner = Class.new { def work = 1 }
    patch(owner, :work, nil)
    assert_equal 1, MethodProfiler.profile { owner.new.work }.rows.values.first.calls
  end

  # Arguments and results.

  def test_positional_arguments = same(owner = class_of { def work(a, b, c) = [a, b, c] }, :work) { owner.new.work(1, 2, 3) }

  def test_default_arguments
    owner = class_of { def work(a, b = 2, c = 3, d) = [a, b, c, d] }
    same(owner, :work, 3) { [owner.new.work(1, 9), owner.new.work(1, 5, 9), owner.new.work(1, 5, 6, 9)] }
  end

  def test_rest_arguments = same(owner = class_of { def work(a, *rest, z) = [a, rest, z] }, :work, 2) { [owner.new.work(1, 2), owner.new.work(1, 2, 3, 4)] }
  def test_keyword_arguments = same(owner = class_of { def work(a: 1, b: 2) = [a, b] }, :work, 3) { [owner.new.work, owner.new.work(b: 5), owner.new.work(b: 1, a: 2)] }
  def test_required_keyword = same(owner = class_of { def work(a, b:) = [a, b] }, :work) { owner.new.work(1, b: 2) }
  def test_rest_of_keywords = same(owner = class_of { def work(a: 1, **rest) = [a, rest] }, :work, 2) { [owner.new.work(b: 2), owner.new.work(a: 3, "c" => 4)] }

  def test_hash_as_last_argument
    owner = class_of { def work(a, options = {}) = [a, options] }
    same(owner, :work, 3) { [owner.new.work(1, { b: 2 }), owner.new.work(1, b: 2), owner.new.work({ b: 2 })] }
  end

  def test_block_or_callback_argument
    given = proc { 5 }
    same(owner = class_of { def work(&block) = block }, :work) { owner.new.work(&given).equal?(given) }
  end

  def test_arguments_named_like_internals
    owner = class_of { def work(id, __assay_rest, slot = 1, __assay_given: 2, **assay) = [id, __assay_rest, slot, __assay_given, assay] }
    same(owner, :work, 2) { [owner.new.work(1, 2), owner.new.work(1, 2, 3, __assay_given: 4, b: 5)] }
  end

  def test_default_that_is_computed
    owner = class_of { def work(a, b = [a, step], c: b.size) = [b, c]; def step = @step = (@step || 0) + 1 }
    same(owner, :work, 2) { owner.new.then { |object| [object.work(1), object.work(2)] } }
  end

  def test_arguments_are_not_copied
    given = [+"a", { b: +"c" }]
    same(owner = class_of { def work(*all, **keys) = [*all, keys[:d]] }, :work) { owner.new.work(*given, d: given).zip([*given, given]).all? { |one, other| one.equal?(other) } }
  end

  def test_signature_is_the_original
    owner = class_of { def work(a, b = 1, *c, d, e:, f: 2, **g, &h) = 1 }
    same(owner, :work, 0) { owner.new.method(:work).then { |method| [method.parameters, method.arity] } }
  end

  def test_wrong_number_of_arguments_same_words
    owner = class_of { def work(a, b = 1) = 1 }
    same_error(owner, :work) { owner.new.work }
    same_error(owner, :work) { owner.new.work(1, 2, 3) }
  end

  def test_unknown_keyword_same_words = same_error(owner = class_of { def work(a: 1) = 1 }, :work) { owner.new.work(b: 2) }
  def test_missing_keyword_same_words = same_error(owner = class_of { def work(a:) = 1 }, :work) { owner.new.work }
  def test_name_is_the_original = same(owner = class_of { def work = __method__ }, :work) { [owner.new.work, owner.new.method(:work).name] }

  def test_returned_object_is_the_same
    object = Object.new
    same(owner = class_of { define_method(:work) { object } }, :work) { owner.new.work.equal?(object) }
  end

  def test_returns_nothing = same(owner = class_of { def work = nil }, :work) { owner.new.work }
  def test_returns_itself = same(owner = class_of { def work = self }, :work, 2) { owner.new.then { |object| object.work.work.equal?(object) } }
end
