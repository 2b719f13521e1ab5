# frozen_string_literal: true

# Methods that can be patched, their appearance afterwards, and the errors for all others.

require "support/profiled"

class PatchingTest < Minitest::Test
  include Profiled

  # By an object: its class shows its own methods, never the wrappers.
  SIGNATURE = ->(owner, method) { owner.new.method(method).then { |m| [m.arity, m.parameters] } }

  def test_names_with_marks_and_operators
    names = %i[ok? go! value= [] []= + -@ ! == =~ <=> call ` % Constant self nil class]
    owner = class_of { names.each { |name| define_method(name) { |*arguments, &block| [name, arguments, block&.call] } } }
    patch(owner, names - [:class])
    object = owner.new
    assert_equal names.size - 1, (calls do
      assert_equal [:ok?, [1], 2], object.ok?(1) { 2 }
      assert_equal [:go!, [], nil], object.go!
      assert_equal 3, (object.value = 3)
      assert_equal [:[], [1, 2], nil], object[1, 2]
      assert_equal 5, (object[4] = 5)
      assert_equal [:+, [6], nil], object + 6
      assert_equal [:-@, [], nil], -object
      assert_equal [:!, [], nil], !object
      assert_equal [:==, [7], nil], object.public_send(:==, 7)
      assert_equal [:=~, [8], nil], object =~ 8
      assert_equal [:<=>, [9], nil], object <=> 9
      assert_equal [:call, [10], nil], object.(10)
      assert_equal [:`, ["ls"], nil], object.`("ls")
      assert_equal [:%, [11], nil], object % 11
      assert_equal [:Constant, [], nil], object.Constant()
      assert_equal [:self, [], nil], object.self
      assert_equal [:nil, [], nil], object.nil
    end)
  end

  def test_names_that_only_define_method_can_write
    owner = class_of do
      define_method(:"two words") { |a, b = 5, *rest, k: 6, &block| [a, b, rest, k, block&.call] }
      define_method(:"@at") { :at }
    end
    patch(owner, [:"two words", :"@at"])
    assert_equal 3, (calls do
      assert_equal [1, 5, [], 6, nil], owner.new.send(:"two words", 1)
      assert_equal [1, 2, [3], 4, 7], owner.new.send(:"two words", 1, 2, 3, k: 4) { 7 }
      assert_equal :at, owner.new.send(:"@at")
    end)
  end

  def test_visibility_is_kept
    owner = class_of do
      def all = hidden && kin(self.class.new)
      def kin(other) = other.guarded
      private def hidden = 1
      protected def guarded = 2
    end
    patch(owner, %i[all hidden guarded kin])
    [-> { MethodProfiler.start }, -> { MethodProfiler.stop }].each do |turn|
      assert owner.private_method_defined?(:hidden)
      assert owner.protected_method_defined?(:guarded)
      assert_raises(NoMethodError) { owner.new.hidden }
      assert_raises(NoMethodError) { owner.new.guarded }
      assert_equal 2, owner.new.all
      turn.call
    end
  end

  def test_arity_and_parameters_are_as_before
    owner = class_of do
      def none; end
      def required(a, b) = [a, b]
      def optional(a, b = a, *c, d) = [a, b, c, d]
      def keywords(a, k:, l: 1, m: 2, **rest, &block) = [a, k, l, m, rest, block]
      def no_keywords(a, **nil) = a
      def anonymous(a, *, &) = a
      def all_anonymous(a, *, **, &) = a
      def forwards(a, ...) = required(a, ...)
      attr_accessor :value
    end
    methods = owner.instance_methods(false)
    before = methods.map { |method| SIGNATURE.(owner, method) }
    patch(owner, methods)
    MethodProfiler.profile do
      named = ->((arity, parameters)) { [arity, parameters.map { |kind, name| name.to_s.start_with?("__assay") ? [kind] : [kind, *name] }] }
      assert_equal before.map(&named), (methods.map { |method| named.(SIGNATURE.(owner, method)) })
      assert_equal [1, 2], owner.new.forwards(1, 2)
    end
    assert_equal before, (methods.map { |method| SIGNATURE.(owner, method) })
  end

  def test_a_wrong_number_of_arguments_is_told_as_before
    owner = class_of { def two(a, b, k:) = [a, b, k] }
    plain = [[[1], {k: 1}], [[1, 2], {}], [[1, 2], {l: 1}]].map { |list, keys| assert_raises(ArgumentError) { owner.new.two(*list, **keys) }.message }
    patch(owner, :two)
    MethodProfiler.profile do
      patched = [[[1], {k: 1}], [[1, 2], {}], [[1, 2], {l: 1}]].map { |list, keys| assert_raises(ArgumentError) { owner.new.two(*list, **keys) }.message }
      assert_equal plain, patched
    end
  end

  def test_keywords_whose_names_are_words_of_the_language
    owner = class_of { define_method(:choose) { |list, if: nil, end: 2| [list, binding.local_variable_get(:if), binding.local_variable_get(:end)] } }
    patch(owner, :choose)
    assert_equal 1, (calls { assert_equal [[1], 3, 2], owner.new.choose([1], if: 3) })
  end

  def test_attribute_readers_and_writers_struct_members_and_methods_in_c
    owner = class_of { attr_accessor :value }
    pair = Struct.new(:left, :right)
    patch(owner, %i[value value=])
    patch(pair, %i[left right=])
    patch(owner, :instance_variable_get)
    assert_equal 5, (calls do
      object = owner.new
      object.value = 5
      assert_equal [5, 5], [object.value, object.instance_variable_get(:@value)]
      two = pair.new(1, 2)
      two.right = 7
      assert_equal [1, 7], [two.left, two.right]
    end)
  end

  def test_methods_in_c_still_tell_keywords_from_a_hash
    patch(Comparable, :clamp)
    patch(File, :open, singleton: true)
    assert_equal 2, (calls do
      assert_equal 3, File.open(File::NULL, mode: "r", encoding: "UTF-8") { 3 }
      assert_equal "b", "a".clamp("b", "c")
    end)
  end

  def test_define_method_and_singleton_methods
    owner = class_of do
      define_method(:made) { |a, b: 2| [a, b] }
      def self.made(a) = a * 2
    end
    object = owner.new
    def object.own = :own
    patch(owner, :made)
    patch(owner, :made, :class_made, singleton: true)
    patch(object.singleton_class, :own, :own)
    profile = MethodProfiler.profile do
      assert_equal [[1, 2], 6, :own], [object.made(1), owner.made(3), object.own]
    end
    assert_equal [1, 1, 1], profile.rows.values_at(:work, :class_made, :own).map(&:calls)
    assert_equal :class_made, MethodProfiler.patched(owner, :made, singleton: true)
  end

  def test_new_and_initialize
    owner = class_of { def initialize(a, b: 1) = @both = [a, b] }
    patch(owner, :initialize)
    patch(owner, :new, :new, singleton: true)
    profile = MethodProfiler.profile { assert_equal [1, 2], owner.new(1, b: 2).instance_variable_get(:@both) }
    assert_equal [1, 1], profile.rows.values_at(:work, :new).map(&:calls)
    assert owner.private_method_defined?(:initialize)
  end

  def test_an_object_of_basic_object
    owner = class_of(BasicObject) { def work(a, b = 2) = [a, b] }
    patch(owner, :work)
    assert_equal 1, (calls { assert_equal [1, 2], owner.new.work(1) })
  end

  def test_inherited_methods_count_where_they_were_patched
    base = class_of { def work = :base }
    sub = class_of(base)
    patch(sub, :work)
    assert_equal 1, (calls { base.new.work && sub.new.work })
  end

  def test_a_subclass_and_its_superclass_both_patched
    base = class_of { def work(n) = n }
    sub = class_of(base) { def work(n) = super + 1 }
    patch(base, :work)
    patch(sub, :work)
    row = row() { assert_equal 6, sub.new.work(5) }
    assert_equal [2, 1], [row.calls, row.outermost]
  end

  def test_a_module_that_classes_include_and_module_functions
    mixin = Module.new do
      def work = :mixed
      module_function
      def tool = :tool
    end
    owner = class_of { include mixin }
    patch(mixin, :work)
    patch(mixin, :tool, singleton: true)
    assert_equal 2, (calls { assert_equal %i[mixed tool], [owner.new.work, mixin.tool] })
  end

  def test_patching_twice_is_patching_once
    owner = class_of { def work = 1 }
    2.times { patch(owner, :work) }
    patch(owner, %i[work work])
    assert_equal 1, (calls { owner.new.work })
    error = assert_raises(ArgumentError) { MethodProfiler.patch(owner, :work, :other_name) }
    assert_match(/patched as :work already: unpatch it first/, error.message)
  end

  def test_the_wrapper_is_there_only_while_somebody_profiles
    needs_wrappers_that_go
    owner = class_of { def work = 1 }
    plain = owner.new.method(:work)
    patch(owner, :work)
    assert_equal plain.source_location, in_place(owner.new).source_location
    MethodProfiler.profile { refute_equal plain.source_location, in_place(owner.new).source_location }
    assert_equal plain.source_location, in_place(owner.new).source_location
  end

  def test_the_wrapper_stays_for_servers
    owner = class_of { def work = 1 }
    kept = class_of { def work = 1 }
    patch(owner, :work)
    patch(kept, :work, keep: true)
    location = -> (one) { in_place(one.new).source_location.first }
    assert_match(/assay: wrapper/, location.(kept))
    MethodProfiler.keep!
    assert_match(/assay: wrapper/, location.(owner))
    assert_equal 1, owner.new.work
    assert_equal 2, (calls { owner.new.work && kept.new.work })
    assert_match(/assay: wrapper/, location.(owner))
    MethodProfiler.keep!(false)
    assert_equal __FILE__, location.(owner) unless first_yjit?
    assert_match(/assay: wrapper/, location.(kept))
  end

  def test_a_patch_made_while_a_profile_runs_counts_from_then_on
    owner = class_of { def work = 1 }
    assert_equal 1, (calls do
      owner.new.work
      patch(owner, :work)
      owner.new.work
    end)
  end

  def test_unpatch_brings_the_method_back
    owner = class_of do
      def work = 1
      def other = 2
    end
    patch(owner, %i[work other])
    assert_equal 1, (calls do
      assert_equal [:work], MethodProfiler.unpatch(owner, :work)
      owner.new.work
      owner.new.other
    end)
    assert_nil MethodProfiler.patched(owner, :work)
    assert_equal [:other], MethodProfiler.unpatch(owner)
    assert_equal [], MethodProfiler.unpatch(owner)
    patch(owner, :work, :again)
    assert_equal 1, (calls(:again) { owner.new.work })
  end

  def test_what_does_not_exist_is_an_error_and_nothing_is_patched
    owner = class_of do
      def work = 1
      def method_missing(name, ...) = name == :ghost ? :boo : super
      def respond_to_missing?(name, all = false) = name == :ghost || super
    end
    error = assert_raises(NameError) { MethodProfiler.patch(owner, %i[work ghost], :work) }
    assert_match(/no method `ghost' in .*method_missing/, error.message)
    assert_equal 1, (error.respond_to?(:detailed_message) ? error.detailed_message(highlight: false) : error.message).lines.size
    assert_match(/did you mean work\?/, assert_raises(NameError) { MethodProfiler.patch(owner, :wrok, :work) }.message)
    assert_equal [:ghost, owner], [error.name, error.receiver]
    assert_nil MethodProfiler.patched(owner, :work)
    patch(owner, :method_missing)
    assert_equal 1, (calls { assert_equal :boo, owner.new.ghost })
  end

  def test_a_frozen_class_is_told_and_one_frozen_after_the_patch_works
    owner = class_of { def work = 1 }
    error = assert_raises(FrozenError) { MethodProfiler.patch(owner.dup.freeze, :work, :work) }
    assert_match(/is frozen.*before it is frozen/, error.message)
    patch(owner, :work)
    owner.freeze
    assert_equal 1, (calls { owner.new.work })
  end

  def test_refinements_are_told_and_calls_that_reach_the_class_count
    owner = class_of { def work = :plain }
    refinement = nil
    Module.new { refine(owner) { refinement = self } }
    error = assert_raises(ArgumentError) { MethodProfiler.patch(refinement, :work, :work) }
    assert_match(/Patch the class that is refined/, error.message)
    patch(owner, :work)
    source = "using(Module.new { refine($refined_owner) { def work = [super] } }); $refined_owner.new.work"
    $refined_owner = owner
    assert_equal 1, (calls { assert_equal [:plain], eval(source, TOPLEVEL_BINDING.dup) })
  ensure
    $refined_owner = nil
  end

  def test_methods_that_look_at_their_caller_are_refused
    [[Kernel, :binding], [Kernel, :block_given?], [String, :gsub], [Module, :private], [BasicObject, :instance_eval]].each do |owner, method|
      error = assert_raises(ArgumentError) { MethodProfiler.patch(owner, method, :work) }
      assert_match(/frame of whoever calls it/, error.message)
    end
  end

  # Newer Rubies implement some of them in Ruby.
  def test_operators_that_the_interpreter_computes_itself_are_refused
    [[Integer, :+], [Integer, :size], [Integer, :-@], [Array, :[]], [String, :==]].each do |owner, method|
      error = assert_raises(ArgumentError) { MethodProfiler.patch(owner, method, :work) }
      assert_match(/slower for the rest of the process|frame/, error.message)
    end
    own = class_of(Array) { def size = super + 1 }
    patch(own, :size)
    assert_equal 1, (calls { assert_equal 3, own.new([1, 2]).size })
  end

  def test_objects_that_are_no_classes_are_told
    assert_match(/singleton: true/, assert_raises(ArgumentError) { MethodProfiler.patch("text", :upcase, :work) }.message)
    assert_match(/Integer/, assert_raises(ArgumentError) { MethodProfiler.patch(5, :succ, :work, singleton: true) }.message)
    assert_raises(ArgumentError) { MethodProfiler.patch(String, [], :work) }
    assert_match(/by a Symbol or a String, not by 5/, assert_raises(ArgumentError) { MethodProfiler.patch(String, 5, :work) }.message)
    assert_match(/by a Symbol or a String, not by 5/, assert_raises(ArgumentError) { MethodProfiler.patch(String, :upcase, 5) }.message)
    assert_match(/take another/, assert_raises(ArgumentError) { MethodProfiler.patch(Hash, :store, :total_duration) }.message)
  end

  def test_classes_that_nobody_else_has_are_collected_with_their_wrappers
    skip("YJIT of Ruby 3.1 keeps every class whose methods it looked up") if first_yjit?
    left = {plain: nil, idle: {}, kept: {keep: true}, unpatched: {unpatch: true}}.transform_values { |options| left_of(100, options) }
    left.each { |state, number| assert_operator number, :<, left[:plain] + 50, "#{state}: #{left}" }
  end

  # The number of classes, out of `number`, that are not collected. The collector treats stale values on the stack as references, and may keep many
  # classes by chance; a real leak would keep all of them, every time.
  def left_of(number, options)
    fewest = number
    10.times do
      base = class_of { def work = 1 }
      Thread.new { make_and_call(base, number, options) }.join # No stack refers to one.
      MethodProfiler.start.stop
      GC.start
      fewest = [fewest, base.subclasses.size].min
      break if fewest < number / 2
    end
    fewest
  end

  def make_and_call(base, number, options)
    number.times do
      owner = class_of(base) { def work = 2 }
      MethodProfiler.patch(owner, :work, :collected, keep: options[:keep]) if options
      MethodProfiler.profile { owner.new.work }
      MethodProfiler.unpatch(owner) if options&.key?(:unpatch)
    end
    nil
  end

  # If their sites were collected, the wrappers would stay installed.
  def test_wrappers_come_and_go_after_the_collector_has_run
    needs_wrappers_that_go
    owner = class_of { def work = 1 }
    patch(owner, :work)
    3.times { GC.start }
    GC.compact if GC.respond_to?(:compact)
    assert_equal 1, (calls { owner.new.work })
    assert_equal __FILE__, in_place(owner.new).source_location.first
  end
end
