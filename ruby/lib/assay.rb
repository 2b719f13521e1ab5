# frozen_string_literal: true

# The gem's front door: what it offers, each part loaded when it is first used, so that requiring the gem costs nothing. Nothing is
# measured, patched or written here.

require_relative "assay/version"

# The Ruby front end of `assay`, the program that says whether something is really faster, by how much, and how sure one can be.
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

  # Compares pieces of Ruby in this process; see Assay::Compare.run, which takes the same and gives an Assay::Compare::Result.
  #
  #   Assay.compare do |x|
  #     x.report("plus") { "a" + "b" }
  #     x.report("interpolation") { "#{"a"}#{"b"}" }
  #   end
  def self.compare(...) = Compare.run(...)
end
