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

  # Returns the Method as found by Ruby itself: that of the wrapper if it is installed.
  def in_place(object, name = :work) = Kernel.instance_method(:method).bind_call(object, name)

  # Under the JIT compiler of Ruby 3.1, wrappers stay installed, and so do classes whose methods it
  # has compiled.
  def first_yjit? = RUBY_VERSION.start_with?("3.1.") && defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled?

  def needs_wrappers_that_go = first_yjit? && skip("wrappers stay under YJIT of Ruby 3.1")

  # Patches until the end of the test, under a unique name, so that tests do not affect each other.
  def patch(owner, methods, name = :work, **options)
    (@patched ||= []) << (options[:singleton] ? owner.singleton_class : owner)
    MethodProfiler.patch(owner, methods, name, **options)
  end

  # Returns the row of a profile of this block.
  def row(name = :work, **options, &block) = MethodProfiler.profile(**options, &block).rows[name]

  # Returns the number of calls of this name in the block.
  def calls(name = :work, &block) = row(name, &block)&.calls || 0

  # Returns a class with this body, with its own name for messages.
  def class_of(superclass = Object, &body) = Class.new(superclass, &body)
end
