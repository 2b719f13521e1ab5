# frozen_string_literal: true

# Every example of the guides is a program that runs, and whose tests pass.

require_relative "../support/front_end"

class GuideTest < Minitest::Test
  include FrontEnd

  GUIDES = File.join(FrontEnd::CHECKOUT, "docs/guides")
  LIBRARIES = { "minitest/autorun" => nil, "test/unit" => "ruby-test-unit", "rspec/autorun" => "ruby-rspec", "assay" => nil }.freeze

  def self.examples(guide)
    path = File.join(GUIDES, guide)
    File.exist?(path) ? File.read(path).scan(/^```ruby\n(.*?)^```$/m).flatten : []
  end

  def test_the_guides_have_their_examples
    skip("the guides are not beside the gem") unless Dir.exist?(GUIDES)
    assert_equal [6, 1, 1], %w[testing-with-ruby.md from-benchmark-ips.md from-timecop.md].map { |guide| GuideTest.examples(guide).size }
  end

  examples("testing-with-ruby.md").each_with_index do |example, index|
    define_method("test_example_#{index + 1}_of_testing_with_ruby_passes") do
      need_program
      library = example[/require "([^"]+)"/, 1]
      out, err, status = ruby(example, env: { "ASSAY" => ENV["ASSAY"], "LANG" => "C.UTF-8" })
      if !status.success? && err.match?(/cannot load such file -- #{library.split("/").first}/)
        skip("needs #{library} (Debian: #{LIBRARIES.fetch(library)})")
      end
      assert_predicate status, :success?, "#{out}#{err}"
      assert_match(/\b0 failures/, out)
      refute_match(/^0 (runs|tests|examples)/, out)
    end
  end

  examples("from-timecop.md").each do |example|
    define_method("test_the_example_of_from_timecop_passes") do
      out, err, status = ruby(example)
      assert_predicate status, :success?, "#{out}#{err}"
      assert_match(/^3 runs, 4 assertions, 0 failures/, out)
      assert_empty err
    end
  end

  examples("from-benchmark-ips.md").each do |example|
    define_method("test_the_example_of_from_benchmark_ips_gives_a_verdict") do
      need_program
      quick = example.sub("time: 5, warmup: 2", "time: 0.2, warmup: 0.01")
      out, err, status = ruby(quick, env: { "ASSAY" => ENV["ASSAY"], "LANG" => "C.UTF-8" })
      assert_predicate status, :success?, err
      assert_match(/interpolation/, out)
      assert_match(/allocations/, out)
    end
  end
end
