# frozen_string_literal: true

# Other code redefines a patched method, removes it, or makes it private, while the wrapper is not
# installed, installed for a profile, or kept. The class's current method is called with its own
# parameters, and counted.

require "support/profiled"

class RedefiningTest < Minitest::Test
  include Profiled

  # Ruby's warnings about redefined methods are disabled, since the tests redefine methods on
  # purpose.
  def setup = (@loud, $VERBOSE = $VERBOSE, nil)

  def teardown
    super
    $VERBOSE = @loud
  end

  STATES = %i[idle active kept].freeze

  # Patches the class, and changes it while the wrapper is not installed, installed, or kept after
  # an earlier profile. Then checks it without a profile and within one, which must have counted
  # this many calls.
  def changed(owner, state, change, count, singleton: false)
    patch(owner, :work, :work, keep: state == :kept, singleton: singleton)
    MethodProfiler.profile { nil }
    state == :active ? MethodProfiler.profile { owner.class_eval(&change) } : owner.class_eval(&change)
    yield
    assert_equal count, (calls { yield }), state
    MethodProfiler.keep!
    yield
    assert_equal count, (calls { yield }), "#{state}, then kept"
    MethodProfiler.keep!(false)
    yield
  end

  STATES.each do |state|
    define_method(:"test_with_other_parameters_while_#{state}") do
      owner = class_of { def work(a) = [:old, a] }
      changed(owner, state, proc { def work(a, b = 2, *c, k: 3, **d, &e) = [:new, a, b, c, k, d, e&.call] }, 3) do
        assert_equal [:new, 1, 5, [], 6, {}, nil], owner.new.work(1, 5, k: 6)
        assert_equal [:new, 1, 2, [], 3, {}, nil], owner.new.work(1)
        assert_equal [:new, 1, 5, [7], 3, {l: 8}, 9], owner.new.work(1, 5, 7, l: 8) { 9 }
        assert_raises(ArgumentError) { owner.new.work }
      end
    end

    define_method(:"test_twice_while_#{state}") do
      owner = class_of { def work = 0 }
      twice = proc do
        def work(a) = a
        def work(a, b) = [a, b]
      end
      changed(owner, state, twice, 1) { assert_equal [1, 2], owner.new.work(1, 2) }
    end

    define_method(:"test_by_a_method_of_its_own_that_was_kept_while_#{state}") do
      owner = class_of { def work(a, k: 1) = [a, k] }
      around = proc do
        old = instance_method(:work)
        define_method(:work) { |*all, tag: nil, **keys, &block| [tag, *old.bind_call(self, *all, **keys, &block)] }
      end
      changed(owner, state, around, 1) { assert_equal [:t, 2, 3], owner.new.work(2, k: 3, tag: :t) }
    end

    define_method(:"test_by_an_alias_while_#{state}") do
      owner = class_of { def work(a) = [a] }
      around = proc do
        alias_method :plain_work, :work
        def work(a, comment: nil) = [comment, *plain_work(a)]
      end
      changed(owner, state, around, 1) { assert_equal [:c, 1], owner.new.work(1, comment: :c) }
    end

    define_method(:"test_of_a_class_itself_while_#{state}") do
      owner = class_of { def self.work(a) = [a] }
      changed(owner, state, proc { def self.work(a, b = 2, k: 3) = [a, b, k] }, 1, singleton: true) do
        assert_equal [1, 5, 6], owner.work(1, 5, k: 6)
      end
    end

    define_method(:"test_of_one_object_while_#{state}") do
      object = Object.new
      def object.work(a) = [a]
      changed(object.singleton_class, state, proc { def work(a, k: 3) = [a, k] }, 1) { assert_equal [1, 6], object.work(1, k: 6) }
    end

    define_method(:"test_of_the_class_that_it_is_inherited_from_while_#{state}") do
      base = class_of { def work(a) = [a] }
      owner = class_of(base)
      changed(owner, state, proc { base.class_eval { def work(a, k: 1) = [a, k] } }, 1) { assert_equal [1, 2], owner.new.work(1, k: 2) }
    end

    define_method(:"test_of_a_module_that_it_comes_from_while_#{state}") do
      mixin = Module.new { def work(a) = [a] }
      owner = class_of { include mixin }
      changed(owner, state, proc { mixin.module_eval { def work(a, k: 1) = [a, k] } }, 1) { assert_equal [1, 2], owner.new.work(1, k: 2) }
    end

    define_method(:"test_marked_by_ruby2_keywords_when_it_was_defined_while_#{state}") do
      target = class_of { def work(a, k: 1) = [a, k] }
      owner = class_of(target) { def work(a) = super }
      marked = proc { ruby2_keywords(define_method(:work) { |*all| super(*all) }) }
      changed(owner, state, marked, 1) { assert_equal [1, 2], owner.new.work(1, k: 2) }
    end

    define_method(:"test_removed_and_defined_again_while_#{state}") do
      owner = class_of { def work = :old }
      changed(owner, state, proc { remove_method(:work) }, 0) do
        assert_raises(NoMethodError) { owner.new.work }
        refute_respond_to owner.new, :work
      end
      owner.class_eval { def work(a) = a }
      assert_equal 1, (calls { assert_equal 5, owner.new.work(5) })
    end

    define_method(:"test_removed_where_there_is_one_to_inherit_while_#{state}") do
      base = class_of { def work(*all) = all }
      owner = class_of(base) { def work(a) = a }
      changed(owner, state, proc { remove_method(:work) }, 1) { assert_equal [1, 2], owner.new.work(1, 2) }
    end

    define_method(:"test_undefined_while_#{state}") do
      owner = class_of { def work = :old }
      changed(owner, state, proc { undef_method(:work) }, 0) do
        assert_match(/undefined method `?'?work/, assert_raises(NoMethodError) { owner.new.work }.message)
        refute_respond_to owner.new, :work
      end
    end

    define_method(:"test_removed_of_one_object_while_#{state}") do
      object = Object.new
      def object.work = :own
      changed(object.singleton_class, state, proc { remove_method(:work) }, 0) { refute_respond_to object, :work }
    end

    define_method(:"test_private_from_its_definition_on_while_#{state}") do
      owner = class_of { def work = :old }
      again = proc do
        private
        def work(a) = a
      end
      changed(owner, state, again, 1) do
        assert_raises(NoMethodError) { owner.new.work(1) }
        assert_equal 1, owner.new.send(:work, 1)
      end
    end
  end

  # There is no notification: an installed wrapper stays public until it is installed again.
  def test_made_private_it_is_private_from_the_next_profile_on
    needs_wrappers_that_go
    owner = class_of { def work = 1 }
    patch(owner, :work)
    MethodProfiler.profile { owner.send(:private, :work) }
    assert_raises(NoMethodError) { owner.new.work }
    assert_equal 1, (calls { assert_raises(NoMethodError) { owner.new.work } && owner.new.send(:work) })
  end

  def test_a_class_shows_its_own_method_whatever_is_in
    owner = class_of { def work(a) = a }
    plain = owner.instance_method(:work)
    patch(owner, :work, keep: true)
    MethodProfiler.profile do
      [owner.instance_method(:work), owner.public_instance_method(:work), Class.new(owner).instance_method(:work)].each do |shown|
        assert_equal [plain.owner, plain.source_location, plain.parameters], [shown.owner, shown.source_location, shown.parameters]
      end
      assert_raises(NameError) { owner.instance_method(:nothing) }
    end
  end
end
