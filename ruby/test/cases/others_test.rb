# frozen_string_literal: true

# Cases of ruby/test/cases/README.md: other code that wraps or replaces methods, and patching
# itself.

require "support/cases"
require "minitest/mock"

class OthersCasesTest < Minitest::Test
  include Cases

  STATES = %i[idle active kept].freeze

  def setup = @owner = class_of { def work(a = 1) = [a]; def other = :other; def self.open = [:open] }

  # Wraps a method as libraries do: by an alias, by a kept method, or by a prepended module.
  WRAPS = {
    alias: ->(owner) { owner.class_eval { alias_method :without, :work; def work(*all) = [:wrapped, *without(*all)] } },
    kept: ->(owner) { (old = owner.instance_method(:work)) && owner.define_method(:work) { |*all| [:wrapped, *old.bind_call(self, *all)] } },
    prepended: ->(owner) { owner.prepend(Module.new { def work(...) = [:wrapped, *super] }) }
  }.freeze

  # Does something to the class while nothing is profiled, within a profile, or while wrappers are kept.
  def change(state, &block)
    MethodProfiler.keep! if state == :kept
    quietly { state == :active ? MethodProfiler.profile(&block) : block.call }
  end

  # One call of the work counts once, in this profile and the next ones.
  def counts_once(expected, count = 1, &work)
    2.times { assert_equal count, calls { assert_equal expected, work.call } }
    assert_equal expected, work.call
  end

  def each_wrap
    WRAPS.each do |way, wrap|
      STATES.each do |state|
        setup
        patch(@owner, :work)
        change(state) { wrap.call(@owner) }
        yield wrap, "#{way}, #{state}"
        MethodProfiler.keep!(false)
      end
    end
  end

  def test_wrapped_by_another_before
    WRAPS.each_value do |wrap|
      setup
      quietly { wrap.call(@owner) }
      patch(@owner, :work)
      counts_once([:wrapped, 1]) { @owner.new.work }
    end
  end

  def test_wrapped_by_another_while_profiled = each_wrap { counts_once([:wrapped, 1]) { @owner.new.work } }

  def test_wrapped_by_another_while_kept
    WRAPS.each_value do |wrap|
      setup
      patch(@owner, :work, keep: true)
      quietly { wrap.call(@owner) }
      counts_once([:wrapped, 1]) { @owner.new.work }
    end
  end

  def test_wrapped_by_another_under_its_name
    patch(@owner, :work, keep: true)
    quietly { @owner.class_eval { alias_method :work_without_trace, :work; def work_with_trace(*all) = [:trace, *work_without_trace(*all)]; alias_method :work, :work_with_trace } }
    counts_once([:trace, 1]) { @owner.new.work }
  end

  def test_wrapped_by_two_others
    quietly { WRAPS[:kept].call(@owner) }
    patch(@owner, :work, keep: true)
    quietly { WRAPS[:alias].call(@owner) && WRAPS[:prepended].call(@owner) }
    assert_equal 1, calls { assert_equal 4, @owner.new.work.size }
  end

  def test_wrapped_and_unwrapped_again
    patch(@owner, :work, keep: true)
    quietly { WRAPS[:alias].call(@owner) }
    counts_once([:wrapped, 1]) { @owner.new.work }
    quietly { @owner.class_eval { alias_method :work, :without } }
    counts_once([1]) { @owner.new.work }
  end

  def test_wrapped_without_calling_the_original
    patch(@owner, :work, keep: true)
    quietly { @owner.class_eval { def work(*) = :new } }
    counts_once(:new) { @owner.new.work }
    @owner.prepend(Module.new { def work(*) = :before })
    counts_once(:before, 0) { @owner.new.work } # It precedes the wrapper.
  end

  def test_wrapped_class_method
    STATES.each do |state|
      %i[method instance_method alias].each do |way|
        setup
        patch(@owner, :open, singleton: true)
        change(state) { wrap_open(@owner, way) }
        counts_once([:wrapped, :open]) { @owner.open }
        MethodProfiler.keep!(false)
      end
    end
  end

  def test_wrapped_function_of_a_module
    owner = Module.new { module_function; def open = [:open] }
    patch(owner, :open, singleton: true, keep: true)
    quietly { wrap_open(owner, :method) }
    counts_once([:wrapped, :open]) { owner.open }
  end

  def test_wrapped_parent_of_an_inherited_method
    below = Class.new(@owner)
    patch(below, :work, keep: true)
    WRAPS.each_value { |wrap| quietly { wrap.call(@owner) } }
    assert_equal 1, calls { assert_equal 1, below.new.work.last }
  end

  def test_wrapped_by_another_that_sees_the_receiver
    seen = []
    tracer = Module.new do
      define_method(:work) { |*all, **options, &block| (seen << [self, all, options]) && super(*all, **options, &block) }
    end
    STATES.each do |state|
      setup
      patch(@owner, :work)
      one = @owner.new
      change(state) { @owner.prepend(tracer) }
      counts_once([2]) { seen.clear && one.work(2) }
      assert_equal [[one, [2], {}]], seen
      MethodProfiler.keep!(false)
    end
  end

  def test_replaced_by_another_while_profiled = replaced(:active)
  def test_replaced_by_another_while_kept = replaced(:kept)

  def test_replaced_and_put_back
    patch(@owner, :work, keep: true)
    old = @owner.instance_method(:work)
    quietly { @owner.define_method(:work) { :other } }
    counts_once(:other) { @owner.new.work }
    quietly { @owner.define_method(:work, old) }
    counts_once([1]) { @owner.new.work }
  end

  def test_replaced_by_a_mock_and_put_back
    STATES.each do |state|
      patch(@owner, :open, singleton: true)
      change(state) { @owner.stub(:open, :stub) { assert_equal :stub, @owner.open } }
      counts_once([:open]) { @owner.open }
      MethodProfiler.keep!(false)
    end
  end

  def test_mock_begun_before_a_profile_and_ended_within
    patch(@owner, :open, singleton: true)
    old = @owner.method(:open)
    quietly { @owner.define_singleton_method(:open) { :mock } }
    calls { assert_equal(:mock, @owner.open) && quietly { @owner.define_singleton_method(:open, old) } }
    counts_once([:open]) { @owner.open }
  end

  def test_mock_begun_within_a_profile_and_ended_after
    patch(@owner, :open, singleton: true)
    old = nil
    calls { (old = @owner.method(:open)) && quietly { @owner.define_singleton_method(:open) { :mock } } }
    counts_once(:mock) { @owner.open }
    quietly { @owner.define_singleton_method(:open, old) }
    counts_once([:open]) { @owner.open }
  end

  def test_mock_of_one_object
    patch(@owner, :work, keep: true)
    object = @owner.new
    object.stub(:work, :mock) { counts_once(:mock, 0) { object.work } && counts_once([1]) { @owner.new.work } }
    counts_once([1]) { object.work }
  end

  def test_alias_made_before_the_patch
    @owner.class_eval { alias_method :before, :work }
    patch(@owner, :work)
    counts_once([1], 0) { @owner.new.before }
  end

  def test_alias_made_while_profiled
    patch(@owner, :work)
    MethodProfiler.profile { @owner.class_eval { alias_method :after, :work } }
    counts_once([1], 0) { @owner.new.after }
  end

  def test_method_object_taken_before
    method = @owner.new.method(:work)
    patch(@owner, :work)
    counts_once([1], 0) { method.call }
  end

  def test_method_object_taken_while_profiled
    method = open = nil
    patch(@owner, :work)
    patch(@owner, :open, singleton: true)
    MethodProfiler.profile { (method = @owner.new.method(:work)) && (open = @owner.method(:open)) }
    counts_once([1, 2].first(1)) { method.call }
    counts_once([:open]) { open.to_proc.call }
  end

  # Patching itself.

  def test_patched_twice_counts_once
    2.times { patch(@owner, :work) }
    counts_once([1]) { @owner.new.work }
  end

  def test_patched_under_two_names_is_refused
    patch(@owner, :work, :first)
    assert_match(/as :first already/, assert_raises(ArgumentError) { patch(@owner, :work, :second) }.message)
  end

  def test_patched_while_profiling = assert_equal(1, calls { @owner.new.work && patch(@owner, :work) && false || @owner.new.work })

  def test_unpatched_while_profiling
    patch(@owner, :work)
    assert_equal 1, calls { @owner.new.work && MethodProfiler.unpatch(@owner) && @owner.new.work }
  end

  def test_unpatched_method_is_the_very_one
    before = @owner.new.method(:work).unbind
    patch(@owner, :work, keep: true)
    MethodProfiler.unpatch(@owner)
    assert_equal [@owner, before.source_location], @owner.new.method(:work).then { |method| [method.owner, method.source_location] }
  end

  # The names of patched methods are returned; here there are none, as in the last table of the
  # page.
  def test_unpatching_what_is_not_patched_is_refused = assert_empty(MethodProfiler.unpatch(@owner, :work))

  def test_unknown_name_is_refused_with_a_guess
    assert_match(/did you mean work/, assert_raises(NameError) { patch(@owner, :wrok) }.message)
  end

  def test_all_names_or_none
    assert_raises(NameError) { patch(@owner, %i[work nothing]) }
    assert_nil MethodProfiler.patched(@owner, :work)
  end

  def test_frozen_class = assert_match(/frozen/, assert_raises(FrozenError) { patch(@owner.freeze, :work) }.message)

  def test_built_in_class
    patch(Comparable, :clamp)
    assert_equal 1, calls { assert_equal 3, 5.clamp(1, 3) }
    assert_raises(ArgumentError) { patch(Integer, :+) }
  end

  def test_not_a_class_is_refused = assert_match(/as a class/, assert_raises(ArgumentError) { MethodProfiler.patch(@owner.new, :work) }.message)

  def test_class_is_collected_after_unpatch
    skip("YJIT of Ruby 3.1 keeps classes whose methods it has compiled") if first_yjit?
    made = Thread.new { Array.new(20) { passing_class } }.value
    GC.start
    assert_operator made.count { |id| ObjectSpace._id2ref(id) rescue nil }, :<, 20
  end

  class Kept
    attr_accessor :size

    def work = size
  end

  def test_object_is_serialised_while_profiled
    patch(Kept, :work)
    MethodProfiler.profile { assert_equal 5, Marshal.load(Marshal.dump(Kept.new.tap { |kept| kept.size = 5 })).work }
  end

  def test_object_is_copied_while_profiled
    patch(Kept, :work)
    assert_equal 2, calls { Kept.new.tap { |kept| kept.size = 5 }.then { |kept| assert_equal [5, 5], [kept.dup.work, kept.clone.work] } }
  end

  def test_reflection_shows_the_method
    plain = [@owner.instance_methods(false), @owner.method_defined?(:work), @owner.new.respond_to?(:work), @owner.instance_method(:work).owner]
    patch(@owner, :work)
    MethodProfiler.profile do
      assert_equal plain, [@owner.instance_methods(false), @owner.method_defined?(:work), @owner.new.respond_to?(:work), @owner.instance_method(:work).owner]
    end
  end

  private

  def wrap_open(owner, way)
    case way
    when :method then (old = owner.method(:open)) && owner.define_singleton_method(:open) { [:wrapped, *old.call] }
    when :instance_method
      old = owner.singleton_class.instance_method(:open)
      owner.singleton_class.define_method(:open) { [:wrapped, *old.bind_call(self)] }
    else owner.singleton_class.class_eval { alias_method :closed, :open; def open = [:wrapped, *closed] }
    end
  end

  def replaced(state)
    patch(@owner, :work)
    change(state) { @owner.class_eval { def work = :new } }
    counts_once(:new) { @owner.new.work }
  end

  def passing_class
    owner = Class.new { def work = 1 }
    MethodProfiler.patch(owner, :work, :passing)
    MethodProfiler.profile { owner.new.work }
    MethodProfiler.unpatch(owner)
    owner.object_id
  end
end
