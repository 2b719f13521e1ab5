# frozen_string_literal: true

# Other gems patch the same methods, by alias chains and by prepending, before us and after us, while a profile runs and while none
# does. In every order, the result is the method's, every link runs once, and one call is counted.

require "support/profiled"

class ChainsTest < Minitest::Test
  include Profiled

  ALIAS = lambda do |owner, link, with|
    owner.class_eval do
      alias_method :"work_without_#{link}", :work
      with == :private ? private(:"work_without_#{link}") : nil
      define_method(:"work_with_#{link}") { |*arguments, **keys, &block| [link, *send(:"work_without_#{link}", *arguments, **keys, &block)] }
      alias_method :work, :"work_with_#{link}"
    end
  end

  KEYWORD_ALIAS = lambda do |owner, link, _|
    owner.class_eval <<~RUBY, __FILE__, __LINE__ + 1
      alias work_before_#{link} work
      def work(...) = [:#{link}, *work_before_#{link}(...)]
    RUBY
  end

  PREPEND = lambda do |owner, link, _|
    owner.prepend(Module.new { define_method(:work) { |*arguments, **keys, &block| [link, *super(*arguments, **keys, &block)] } })
  end

  WAYS = {alias: ALIAS, keyword: KEYWORD_ALIAS, prepend: PREPEND}.freeze

  def owner = class_of { def work(a, b: 1) = [a, b, *yield] }

  def check(owner, links)
    expected = [*links, 1, 2, 3]
    assert_equal expected, owner.new.work(1, b: 2) { 3 }
    row = row() { assert_equal expected, owner.new.work(1, b: 2) { 3 } }
    assert_equal [1, 1, 0, 0], [row.calls, row.outermost, row.errors, row.open]
    assert_equal expected, owner.new.work(1, b: 2) { 3 }
  end

  # [[before...], [after...]]: which links are made before our patch, and which after it.
  ORDERS = WAYS.keys.product([nil, *WAYS.keys]).map(&:compact).uniq.flat_map { |links| (0..links.size).map { |n| [links.first(n), links.drop(n)] } }

  ORDERS.each do |before, after|
    %i[idle active kept].each do |when_patched|
      define_method(:"test_chain_of_#{[*before, "US", *after].join("_")}_made_while_#{when_patched}") do
        # `alias` around a method that others have prepended to recurses forever even without us
        # (Ruby's bug 11120).
        skip_this = (before + after).each_cons(2).any? { |one, two| one == :prepend && two != :prepend }
        return assert(skip_this) if skip_this

        owner = owner()
        names = before.each_with_index.map { |way, n| :"#{way}#{n}".tap { |name| WAYS[way].(owner, name, :public) } }
        patch(owner, :work, :work, keep: when_patched == :kept)
        make = -> { after.each_with_index.map { |way, n| :"later_#{way}#{n}".tap { |name| WAYS[way].(owner, name, :private) } } }
        later = when_patched == :active ? MethodProfiler.profile(&make).value : make.call
        check(owner, links_in_order(names, later))
      end
    end
  end

  # Later links are outside earlier ones, and prepended ones outside all aliases.
  def links_in_order(before, after)
    all = (before + after).reverse
    all.select { |name| name.to_s.include?("prepend") } + all.reject { |name| name.to_s.include?("prepend") }
  end

  def test_an_alias_made_while_the_wrapper_is_in_keeps_its_visibility_and_is_the_original
    owner = class_of { def work = :original }
    patch(owner, :work, keep: true)
    owner.class_eval do
      alias_method :old_work, :work
      private :old_work
      alias_method :second, :work
      private def work = [:new, old_work]
      public :work
    end
    assert owner.private_method_defined?(:old_work) || owner.public_method_defined?(:old_work)
    assert_equal %i[new original], owner.new.work
    assert_equal :original, owner.new.second
    assert_equal 1, (calls { owner.new.work })
  end

  def test_aliases_of_singleton_methods_are_mended_too
    object = Object.new
    def object.work = :original
    patch(object, :work, singleton: true, keep: true)
    class << object
      alias old_work work
      def work = [:new, old_work]
    end
    assert_equal %i[new original], object.work
    assert_equal 1, (calls { object.work })
  end

  def test_aliases_of_class_methods_are_mended_too
    owner = class_of { def self.work = :original }
    patch(owner, :work, singleton: true, keep: true)
    class << owner
      alias old_work work
      def work = [:new, old_work]
    end
    assert_equal %i[new original], owner.work
    assert_equal 1, (calls { owner.work })
  end

  def test_the_class_s_own_hooks_are_called_as_before
    added = []
    owner = class_of { define_singleton_method(:method_added) { |name| added << name } }
    patch(owner, [:to_s], :work)
    owner.class_eval { def work = 1 }
    MethodProfiler.profile { owner.class_eval { def other = 1 } }
    assert_equal %i[work other], added
  end

  def test_a_method_object_taken_while_active_works_afterwards
    owner = class_of { def work = :original }
    patch(owner, :work)
    method = nil
    MethodProfiler.profile { method = owner.new.method(:work) }
    assert_equal :original, method.call
    assert_equal :original, method.unbind.bind_call(owner.new)
  end

  # Ways in which programs keep a Method, to redefine the method with it or to restore it.
  KEPT = {
    unbind: ->(method, name) { (old = method.unbind) && ->(owner) { owner.define_method(name) { |a, b: 1| [:kept, old.bind(self).call(a, b: b)] } } },
    bind_call: ->(method, name) { (old = method.unbind) && ->(owner) { owner.define_method(name) { |a, b: 1| [:kept, old.bind_call(self, a, b: b)] } } },
    call: ->(method, name) { ->(owner) { owner.define_method(name) { |a, b: 1| [:kept, method.call(a, b: b)] } } },
    to_proc: ->(method, name) { (old = method.to_proc) && ->(owner) { owner.define_method(name) { |a, b: 1| [:kept, old.call(a, b: b)] } } },
    curry: ->(method, name) { (old = method.curry) && ->(owner) { owner.define_method(name) { |a, b: 1| [:kept, [old.call(a).first, b]] } } }
  }.freeze

  def test_a_kept_method_defines_the_method_anew
    KEPT.each do |way, keep|
      [[class_of { def work(a, b: 1) = [a, b] }, false], [class_of { def self.work(a, b: 1) = [a, b] }, true]].each do |owner, singleton|
        patch(owner, :work, singleton: singleton, keep: true)
        receiver = singleton ? owner : owner.new
        keep.call(receiver.method(:work), :work).call(singleton ? owner.singleton_class : owner)
        assert_equal([:kept, [5, 6]], receiver.work(5, b: 6), way)
        assert_equal(1, calls { receiver.work(5) }, way)
      end
    end
  end

  def test_a_kept_method_is_put_back_after_a_stub
    [->(owner, kept) { owner.define_singleton_method(:work, kept) }, ->(owner, kept) { owner.define_singleton_method(:work, &kept) }].each do |put_back|
      owner = class_of { def self.work(a = 1) = [a] }
      patch(owner, :work, singleton: true, keep: true)
      kept = owner.method(:work)
      owner.define_singleton_method(:work) { :stub }
      assert_equal :stub, owner.work
      owner.singleton_class.remove_method(:work)
      put_back.call(owner, kept)
      assert_equal [[1], [2]], [owner.work, owner.work(2)]
      assert_equal(1, calls { owner.work })
    end
  end

  def test_a_method_object_of_an_instance_shows_the_class_s_own_method_and_counts
    owner = class_of { def work(a, b: 1) = [a, b] }
    plain = owner.instance_method(:work)
    patch(owner, :work, keep: true)
    one = owner.new
    method = one.method(:work)
    assert_equal [owner, plain.parameters, plain.source_location, one], [method.owner, method.parameters, method.source_location, method.receiver]
    assert_equal(2, calls { [1, 2].each(&method) })
  end

  def test_a_class_whose_method_is_something_else_keeps_it
    owner = class_of { def work = 1; def method = "GET" }
    patch(owner, :work, keep: true)
    assert_equal "GET", owner.new.method
    later = class_of { def work = 1 }
    patch(later, :work, keep: true)
    later.attr_reader :method
    assert_nil later.new.method
  end

  def test_the_article_s_own_profiler_on_the_same_method
    owner = class_of { def work(a) = a }
    patch(owner, :work)
    seed = "alias_method :work__unpatched, :work; def work(*args, &blk) = work__unpatched(*args, &blk)"
    MethodProfiler.profile { owner.class_eval(seed) }
    assert_equal 1, (calls { assert_equal 5, owner.new.work(5) })
  end
end
