# frozen_string_literal: true

# Assay::TestCase: a Minitest test with the test-case API and a sandbox for every test. For tests
# that run in parallel threads, or that read files of their project by relative paths, `include
# Assay::Testing` in a Minitest::Test instead, and call `sandbox` where needed.

begin
  require "minitest"
rescue LoadError
  raise LoadError, "Assay::TestCase is a Minitest test, and minitest is not there: gem install minitest " \
                   "(Test::Unit: include Assay::Testing; RSpec: require \"assay/rspec\")"
end
require_relative "testing"

module Assay
  # A base class for tests.
  #
  #   require "minitest/autorun"
  #   require "assay/test_case"
  #
  #   class ReportTest < Assay::TestCase
  #     def test_it_writes_beside_itself
  #       Report.new.write("out.txt")         # into the test's own directory
  #       assert_path_exists "out.txt"
  #     end
  #   end
  class TestCase < Minitest::Test
    include Testing

    # The sandbox's path.
    attr_reader :directory

    # Called before `setup`, so that a test that forgets `super` there still has its sandbox.
    def before_setup
      super
      @directory = sandbox
    end
  end
end
