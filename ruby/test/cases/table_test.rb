# frozen_string_literal: true

# The table of ruby/test/cases/README.md: each case has a test of that name here, or a reason for its absence.

require "minitest/autorun"

class CasesTableTest < Minitest::Test
  PAGE = File.expand_path("README.md", __dir__)
  LAST = "## Cases that one language does not have"

  def test_every_case_has_a_test_or_a_reason
    cases, reasons = File.read(PAGE, encoding: "UTF-8").split("#{LAST}\n")
    without = names(reasons.to_s.lines.grep(/\| Ruby \|/).join)
    assert_operator names(cases).size, :>=, 150
    assert_empty names(cases) - without - tests, "cases without a test"
    assert_empty without & tests, "cases with a test, and a reason why there is none"
  end

  private

  def names(text) = text.scan(/^\| `(\w+)` \|/).flatten.uniq
  def tests = Dir[File.join(__dir__, "*_test.rb")].flat_map { |file| File.read(file, encoding: "UTF-8").scan(/^  def test_(\w+)/) }.flatten
end
