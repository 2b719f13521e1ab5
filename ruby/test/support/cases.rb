# frozen_string_literal: true

# Helpers for the tests of ruby/test/cases/README.md. In each language the test of a case is called `test_` and the name of the
# case.

require "support/profiled"

module Cases
  include Profiled

  # Runs the work without a profile, within one, and afterwards: the results are equal, and `count` calls are counted.
  def same(owner, methods, count = 1, **options, &work)
    plain = work.call
    patch(owner, methods, :work, **options)
    profile = MethodProfiler.profile(&work)
    assert plain == profile.value, "#{plain.inspect} without, #{profile.value.inspect} within a profile"
    assert_equal count, profile.dig(:work, :calls) || 0
    assert plain == work.call, "afterwards"
    plain
  end

  # Returns the error of the work; its class and message are the same without a profile and within
  # one.
  def same_error(owner, methods, **options, &work)
    plain = assert_raises(Exception, &work)
    patch(owner, methods, :work, **options)
    within = nil
    MethodProfiler.profile { within = assert_raises(Exception, &work) }
    assert_equal [plain.class, plain.message], [within.class, within.message]
    within
  end

  # Disables Ruby's warnings about redefined methods, which are intended here.
  def quietly
    verbose, $VERBOSE = $VERBOSE, nil
    yield
  ensure
    $VERBOSE = verbose
  end
end
