# frozen_string_literal: true

# The gem's entry point. Each part is autoloaded on first use, so requiring the gem costs nothing.
# Nothing is measured, patched or written here.

require_relative "assay/version"

# The Ruby front end of `assay`, the program that tells whether something is really faster, by how
# much, and with what confidence.
module Assay
  autoload :Binary, "assay/binary"
  autoload :Compare, "assay/compare"
  autoload :Farm, "assay/farm"
  autoload :MethodProfiler, "assay/method_profiler"
  autoload :Patches, "assay/patches"
  autoload :Rack, "assay/rack"
  autoload :Samples, "assay/samples"
  autoload :TestCase, "assay/test_case"
  autoload :Testing, "assay/testing"

  # Compares pieces of Ruby code in this process. Takes the same arguments as Assay::Compare.run and
  # returns an Assay::Compare::Result.
  #
  #   Assay.compare do |x|
  #     x.report("plus") { "a" + "b" }
  #     x.report("interpolation") { "#{"a"}#{"b"}" }
  #   end
  def self.compare(...) = Compare.run(...)
end
