# frozen_string_literal: true

# The examples of the README do what they say.

require "support/profiled"
require "open3"
require "rbconfig"

class ReadmeTest < Minitest::Test
  README = File.read(File.expand_path("../../README.md", __dir__))
  PATHS = %w[lib tmp].flat_map { |place| ["-I", File.expand_path("../../#{place}", __dir__)] }

  def test_the_examples_run_in_their_order_and_give_what_stands_beside_them
    source = README.scan(/^```ruby\n(.*?)^```/m).flatten.join("\n")
    # `what # => 5` becomes an assertion, except where there are times.
    checks = 0
    source = source.gsub(/^([^#\n]+?)\s+# => (\d+)$/) { (checks += 1) && "raise #{$1.inspect} unless (#{$1}) == #{$2}" }
    assert_operator checks, :>=, 2
    output, status = Open3.capture2e(RbConfig.ruby, *PATHS, "-e", source)
    assert_predicate status, :success?, output
    [/^total +\d+\.\d+ ms$/, /^store +\d+\.\d+ ms +4 calls$/, /^own cost: \d+ ns a call/].each { |line| assert_match(line, output) }
  end

  # Examples that need a server run in test/farm; here their syntax is checked, and that the methods exist.
  def test_the_example_of_a_farm_calls_what_is_there
    source = README[/^```ruby farm\n(.*?)^```/m, 1]
    assert RubyVM::InstructionSequence.compile(source)
    called = source.scan(/^farm\.(\w+)/).flatten
    assert_operator called.size, :>=, 3
    called.each { |name| assert_includes Assay::Farm::Client.public_instance_methods, name.to_sym }
  end
end
