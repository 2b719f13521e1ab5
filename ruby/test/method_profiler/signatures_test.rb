# frozen_string_literal: true

# A property: for any parameters of a method, calls behave the same with and without the patch,
# idle, active and kept: results, arguments of the block, and exceptions. A seeded generator creates
# the signatures and calls.

require "support/profiled"

class SignaturesTest < Minitest::Test
  include Profiled

  SEED = Integer(ENV.fetch("ASSAY_TEST_SEED", 20_171_017))
  SIGNATURES = Integer(ENV.fetch("ASSAY_TEST_SIGNATURES", 150))

  # A signature, and the source that returns its arguments.
  def signature(random)
    required = %w[a b].first(random.rand(3))
    optional = %w[c d].first(random.rand(3)).zip(["nil", "[a_default, :d]"]).map { |name, default| "#{name} = #{default}" }
    rest = ["*rest", "*", nil, nil].sample(random: random)
    posts = optional.empty? && rest.nil? ? [] : %w[y z].first(random.rand(3))
    keys = %w[k: l:].first(random.rand(3)) + ["m: 13", "n: k_default", "o: nil"].first(random.rand(4))
    key_rest = ["**options", "**nil", "**", nil, nil].sample(random: random)
    key_rest = nil if key_rest == "**nil" && keys.any?
    block = ["&block", nil].sample(random: random)
    list = [*required, *optional, *rest, *posts, *keys.shuffle(random: random), *key_rest, *block]
    names = [*required, *optional, *rest, *posts, *keys, *key_rest].map { |one| one[/\w+/] } - ["nil", nil]
    ["#{list.join(", ")}", "[[#{names.join(", ")}], block_given? && yield(*[#{names.join(", ")}].first(2))]"]
  end

  # Arguments of a call: positional, a trailing hash, keywords, a block, and splats of them.
  def call(random)
    positional = Array.new(random.rand(6)) { |n| [n, nil, :sym, [1], {h: 1}].sample(random: random) }
    keys = %i[k l m n o other].sample(random.rand(6), random: random).to_h { |key| [key, [1, nil, {k: 1}].sample(random: random)] }
    positional << {k: 1, "text" => 2} if random.rand(5).zero?
    flagged = random.rand(6).zero?
    block = [nil, ->(*got) { [:block, got] }].sample(random: random)
    [positional, keys, flagged, block]
  end

  FLAG = Class.new { ruby2_keywords def flag(*all) = all }.new

  def outcome(object, (positional, keys, flagged, block))
    positional = Marshal.load(Marshal.dump(positional))
    return [:value, object.work(*FLAG.flag(*positional, **keys), &block)] if flagged

    [:value, object.work(*positional, **keys, &block)]
  rescue ArgumentError => e
    [:error, e.class, e.message]
  end

  def owner_of(parameters, result, made)
    body = +"def a_default = 21\ndef k_default = 22\n"
    body << "def work(#{parameters})\n#{result}\nend" if made == :def
    # A bmethod has no block to yield to, and anonymous parameters are not written out.
    body << "define_method(:work) { |#{parameters}| #{result.sub(/, block_given\?.*/, "]")} }" if made == :define_method
    # Every other one that could be marked is: it tells keywords from a hash, and so must the wrapper.
    marked = made == :def && parameters.match?(/\*rest/) && !parameters.match?(/\w:|\*\*/) && parameters.size.even?
    body << "\nruby2_keywords(:work)" if marked
    body.sub!("block_given?", "rest.last.is_a?(Hash) && Hash.ruby2_keywords_hash?(rest.last), block_given?") if marked
    class_of { class_eval(body) }
  end

  def test_calls_give_the_same_with_the_patch_as_without_it
    random = Random.new(SEED)
    seen = Hash.new(0)
    SIGNATURES.times do |number|
      parameters, result = signature(random)
      made = number % 4 == 3 ? :define_method : :def
      plain = owner_of(parameters, result, made)
      owner = owner_of(parameters, result, made)
      arity = owner.instance_method(:work).arity
      patch(owner, :work, :work)
      calls = Array.new(20) { call(random) }
      expected = calls.map { |one| outcome(plain.new, one) }
      expected.each { |kind, *| seen[kind] += 1 }
      where = "def work(#{parameters}) made by #{made}; seed #{SEED}, signature #{number}"
      same = lambda do |state|
        calls.zip(expected) { |one, result| assert_equal result, outcome(owner.new, one), "#{state}: #{where}, called with #{one}" }
      end
      same.("idle")
      entered = row { same.("active") && assert_equal(arity, owner.new.method(:work).arity, where) }&.calls.to_i
      assert_operator entered, :>=, expected.count { |kind, *| kind == :value }, where
      MethodProfiler.keep!
      same.("kept")
      MethodProfiler.profile(exclusive: true, allocations: true) { same.("with everything") }
      MethodProfiler.keep!(false)
      same.("idle again")
      MethodProfiler.unpatch(owner)
    end
    assert_operator seen[:value], :>, SIGNATURES * 3
    assert_operator seen[:error], :>, SIGNATURES * 3
  end

  def test_delegation_by_three_dots_and_by_ruby2_keywords
    target = class_of { def work(*a, k: 0, **o, &b) = [a, k, o, b&.call] }
    dots = class_of(target) { def work(...) = super(...) }
    flags = class_of(target) { ruby2_keywords def work(*a, &b) = super(*a, &b) }
    [dots, flags].each do |owner|
      patch(owner, :work)
      assert_equal 3, (calls do
        assert_equal [[1], 2, {o: 3}, 4], owner.new.work(1, k: 2, o: 3) { 4 }
        assert_equal [[1, {k: 2}], 0, {}, nil], owner.new.work(1, {k: 2})
        assert_equal [[], 0, {}, nil], owner.new.work(**{})
      end)
    end
  end

  # Since Ruby 3.2 their parameters are equal; but keywords only fill a required parameter if there is no `**`.
  def test_keywords_go_where_they_went_with_three_dots_a_mark_or_two_stars
    target = class_of { def work(a, *b, **c, &d) = [a, b, c, d&.call] }
    dots = class_of(target) { def work(a, ...) = super(a, ...) }
    marked = class_of(target) { ruby2_keywords def work(a, *, &) = super }
    stars = class_of(target) { def work(a, *, **, &) = super }
    [dots, marked, stars].each do |owner|
      plain = [[[1, 2], {k: 3}], [[], {k: 3}], [[1, {k: 3}], {}]].map { |list, keys| outcome(owner.new, [list, keys]) }
      patch(owner, :work)
      MethodProfiler.profile do
        assert_equal plain, ([[[1, 2], {k: 3}], [[], {k: 3}], [[1, {k: 3}], {}]].map { |list, keys| outcome(owner.new, [list, keys]) })
      end
    end
  end

  def test_a_parameter_that_is_named_twice_or_taken_apart
    owner = class_of { def work(_, _, (a, (b, *c)), d = a) = [a, b, c, d] }
    patch(owner, :work)
    assert_equal 2, (calls do
      assert_equal [1, 2, [3], nil], owner.new.work(7, 8, [1, [2, 3]]) # Defaults are evaluated before destructuring.
      assert_equal [1, 2, [3], 9], owner.new.work(7, 8, [1, [2, 3]], 9)
    end)
  end
end
