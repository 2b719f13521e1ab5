# frozen_string_literal: true

# Cases of ruby/test/cases/README.md: inherited methods, and names that vanish or change.

require "support/cases"
require "assay/rack"

class InheritedCasesTest < Minitest::Test
  include Cases

  def setup
    @parent = class_of { def work(a = 1) = [:parent, a]; def self.open = [:open, self]; attr_accessor :size }
    @owner = Class.new(@parent)
  end

  # Checks the result without a profile, within one, and with kept wrappers; each call counts once.
  def everywhere(expected, count = 1, name = :work, &work)
    assert expected == work.call
    profile = MethodProfiler.profile { assert expected == work.call }
    assert_equal count, profile.dig(name, :calls) || 0
    MethodProfiler.keep!
    assert expected == work.call
    assert_equal count, MethodProfiler.profile(&work).dig(name, :calls) || 0
    MethodProfiler.keep!(false)
  end

  def test_inherited_method_counts_for_the_subclass
    patch(@owner, :work)
    assert_equal 1, calls { [@owner, @parent].each { |owner| owner.new.work } }
  end

  def test_inherited_method_follows_a_stub_of_the_parent
    patch(@owner, :work, keep: true)
    quietly { @parent.class_eval { alias_method :kept, :work; def work = :stub } }
    everywhere(:stub) { @owner.new.work }
    quietly { @parent.class_eval { alias_method :work, :kept } }
    everywhere([:parent, 1]) { @owner.new.work }
  end

  def test_inherited_method_follows_a_stub_within_a_profile
    patch(@owner, :work)
    assert_equal 1, calls { quietly { @parent.class_eval { def work = :stub } } && assert_equal(:stub, @owner.new.work) }
  end

  def test_inherited_method_follows_a_stub_around_a_profile
    patch(@owner, :work)
    quietly { @parent.class_eval { def work = :stub } }
    assert_equal 1, calls { assert_equal :stub, @owner.new.work }
  end

  def test_inherited_method_follows_later_instrumentation
    patch(@owner, :work, keep: true)
    @parent.prepend(Module.new { def work(...) = [:traced, *super] })
    everywhere([:traced, :parent, 1]) { @owner.new.work }
  end

  def test_inherited_method_follows_a_redefined_parent
    patch(@owner, :work, keep: true)
    quietly { @parent.class_eval { def work(a, b, c: 3) = [a, b, c] } }
    everywhere([1, 2, 4]) { @owner.new.work(1, 2, c: 4) }
    assert_raises(ArgumentError) { @owner.new.work }
  end

  def test_inherited_method_follows_a_new_ancestor
    patch(@owner, :work, keep: true)
    @owner.include(Module.new { def work(...) = [:between, *super] })
    everywhere([:between, :parent, 1]) { @owner.new.work }
  end

  def test_inherited_class_method
    patch(@owner, :open, singleton: true)
    everywhere([:open, @owner]) { @owner.open }
    assert_equal 0, calls { @parent.open }
  end

  def test_inherited_attribute_reader
    patch(@owner, :size)
    everywhere(nil) { @owner.new.size }
    quietly { @parent.class_eval { def size = 12 } }
    everywhere(12) { @owner.new.size }
  end

  def test_inherited_attribute_follows_a_stub
    patch(@owner, :size)
    stub = ->(value) { quietly { @parent.define_method(:size) { value } } }
    stub.call(5)
    everywhere(5) { @owner.new.size }
    assert_equal(1, calls { stub.call(6) && assert_equal(6, @owner.new.size) })
    MethodProfiler.keep!
    stub.call(7)
    assert_equal 7, @owner.new.size
    quietly { @parent.class_eval { attr_reader :size } }
    everywhere(nil) { @owner.new.size }
  end

  def test_inherited_from_a_grandparent
    child = Class.new(@owner)
    patch(child, :work)
    everywhere([:parent, 1]) { child.new.work }
    @owner.class_eval { def work = :middle }
    everywhere(:middle) { child.new.work }
  end

  def test_inherited_in_a_diamond
    one, other = %i[one other].map { |name| Module.new { define_method(:work) { |*| [name, *(super() if defined?(super))] } } }
    owner = class_of { include one; include other }
    patch(owner, :work)
    everywhere(%i[other one]) { owner.new.work }
  end

  def test_inherited_method_calls_super
    middle = Class.new(@parent) { def work(a = 2) = [:middle, *super] }
    owner = Class.new(middle)
    patch(owner, :work)
    everywhere([:middle, :parent, 2]) { owner.new.work }
  end

  def test_inherited_method_removed_from_the_parent
    patch(@owner, :work)
    patch(@owner, :open, :open, singleton: true)
    @parent.send(:remove_method, :work)
    profile = MethodProfiler.profile { assert_raises(NoMethodError) { @owner.new.work } && @owner.open }
    assert_equal [:total_duration, :open], profile.keys
  end

  def test_subclass_defines_it_later
    patch(@owner, :work, keep: true)
    @owner.class_eval { def work = [:own, *super] }
    everywhere([:own, :parent, 1]) { @owner.new.work }
  end

  def test_subclass_made_after_the_patch
    patch(@owner, :work)
    everywhere([:parent, 1]) { Class.new(@owner).new.work }
  end

  def test_sibling_class_is_not_counted
    patch(@owner, :work)
    everywhere([:parent, 1], 0) { Class.new(@parent).new.work }
  end

  def test_parent_and_child_patched_once_each
    @owner.class_eval { def work(a = 1) = [:own, *super] }
    [@parent, @owner].each { |owner| patch(owner, :work) }
    everywhere([:own, :parent, 1], 2) { @owner.new.work }
  end

  def test_parent_and_child_patched_inherited_once
    [@owner, @parent].shuffle.each { |owner| patch(owner, :work) }
    everywhere([:parent, 1]) { @owner.new.work }
    @owner.class_eval { def work = [:own, *super] }
    everywhere([:own, :parent, 1], 2) { @owner.new.work }
    @owner.send(:remove_method, :work)
    everywhere([:parent, 1]) { @owner.new.work }
    MethodProfiler.unpatch(@parent)
    everywhere([:parent, 1]) { @owner.new.work }
  end

  def test_parent_and_child_patched_under_two_names
    patch(@owner, :work, :child)
    patch(@parent, :work, :parent)
    assert_equal [1, 1], MethodProfiler.profile { @owner.new.work }.values_at(:child, :parent).map { |row| row[:calls] }
    assert_equal [nil, 1], MethodProfiler.profile { @parent.new.work }.values_at(:child, :parent).map { |row| row && row[:calls] }
  end

  # Names that vanish or change.

  def test_removed_while_profiled
    patch(@parent, :work)
    profile = MethodProfiler.profile do
      @parent.new.work
      @parent.send(:remove_method, :work)
      assert_raises(NoMethodError) { @parent.new.work }
    end
    assert_equal 1, profile[:work][:calls]
  end

  def test_removed_between_profiles
    patch(@parent, :work)
    @parent.send(:remove_method, :work)
    assert_nil MethodProfiler.profile { assert_raises(NoMethodError) { @parent.new.work } }[:work]
  end

  def test_removed_name_leaves_other_rows
    patch(@parent, :work)
    patch(@parent, :size, :size)
    @parent.send(:remove_method, :work)
    assert_equal 1, calls(:size) { @parent.new.size }
  end

  # Without a warning: callers get the language's own error.
  def test_removed_name_is_said_once
    patch(@parent, :work)
    @parent.send(:remove_method, :work)
    _, said = capture_io { 3.times { MethodProfiler.profile { nil } } }
    assert_empty said
  end

  def test_removed_and_added_again
    patch(@parent, :work)
    @parent.send(:remove_method, :work)
    @parent.class_eval { def work = :again }
    everywhere(:again) { @parent.new.work }
  end

  def test_removed_function_of_a_module
    owner = Module.new { def self.work = 1; def self.other = 2 }
    patch(owner, %i[work other], singleton: true)
    owner.singleton_class.send(:remove_method, :work)
    assert_equal 1, calls { assert_raises(NoMethodError) { owner.work } && owner.other }
  end

  def test_removed_name_is_unpatched_quietly
    patch(@parent, :work)
    @parent.send(:remove_method, :work)
    assert_equal [:work], MethodProfiler.unpatch(@parent)
  end

  def test_removed_name_under_middleware
    patch(@parent, :work)
    @parent.send(:remove_method, :work)
    application = Assay::Rack.new(->(_env) { [200, {}, ["ok"]] })
    assert_equal 200, application.call({ "REQUEST_METHOD" => "GET", "PATH_INFO" => "/" }).first
  end

  def test_redefined_while_profiled
    patch(@parent, :work)
    assert_equal 1, calls { quietly { @parent.class_eval { def work = :new } } && assert_equal(:new, @parent.new.work) }
    everywhere(:new) { @parent.new.work }
  end

  def test_redefined_while_kept
    patch(@parent, :work, keep: true)
    3.times do |turn|
      quietly { @parent.define_method(:work) { turn } }
      everywhere(turn) { @parent.new.work }
    end
  end

  def test_redefined_between_profiles
    patch(@parent, :work)
    calls { @parent.new.work }
    quietly { @parent.class_eval { def work = :new } }
    everywhere(:new) { @parent.new.work }
  end

  def test_redefined_with_other_parameters
    patch(@parent, :work, keep: true)
    quietly { @parent.class_eval { def work(a, *b, c:, **d, &e) = [a, b, c, d, e&.call] } }
    everywhere([1, [2], 3, { f: 4 }, 5]) { @parent.new.work(1, 2, c: 3, f: 4) { 5 } }
  end

  def test_redefined_as_another_kind
    patch(@parent, :work)
    quietly { @parent.class_eval { attr_accessor :work } }
    everywhere(nil) { @parent.new.work }
    assert_raises(ArgumentError) { @parent.new.work(1) }
  end
end
