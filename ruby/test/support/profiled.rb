# frozen_string_literal: true

# Helpers for tests of the profiler: the profiler, and a clean registry after each test. Free of assertions.

require "minitest/autorun"
require "assay"

module Profiled
  MethodProfiler = Assay::MethodProfiler

  def teardown
    @patched&.each { |owner| MethodProfiler.unpatch(owner) }
    MethodProfiler.stop while MethodProfiler.current
    MethodProfiler.keep!(false)
    super
  end

  # The Method as Ruby itself finds it: that of the wrapper while it is in.
  def in_place(object, name = :work) = Kernel.instance_method(:method).bind_call(object, name)

  # Under the JIT compiler of Ruby 3.1 wrappers stay, and so do classes whose methods it has compiled.
  def first_yjit? = RUBY_VERSION.start_with?("3.1.") && defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled?

  def needs_wrappers_that_go = first_yjit? && skip("wrappers stay under YJIT of Ruby 3.1")

  # Patches until the end of the test; a name of its own, so that no test sees another's.
  def patch(owner, methods, name = :work, **options)
    (@patched ||= []) << (options[:singleton] ? owner.singleton_class : owner)
    MethodProfiler.patch(owner, methods, name, **options)
  end

  # The row of a profile of this block.
  def row(name = :work, **options, &block) = MethodProfiler.profile(**options, &block).rows[name]

  # Returns the number of calls of this name in the block.
  def calls(name = :work, &block) = row(name, &block)&.calls || 0

  # A class of this body, with a name of its own for messages.
  def class_of(superclass = Object, &body) = Class.new(superclass, &body)
end
