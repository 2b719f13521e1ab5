#!/bin/sh
# Makes eight small gems with tests, and an index of them as `gem generate_index` does.
# Usage: gems.sh DIRECTORY
set -eu
mkdir -p "$1/gems"
cd "$1"
number=0
for name in one two three four five six seven eight; do
    number=$((number + 1))
    rm -rf one-gem
    mkdir -p one-gem/lib one-gem/test
    cat >"one-gem/lib/assay_example_$name.rb" <<RUBY
module AssayExample
  def self.$name = $number
end
RUBY
    cat >"one-gem/test/test_$name.rb" <<RUBY
require "minitest/autorun"
require "assay_example_$name"

class Test$name < Minitest::Test
  def test_number
    assert_equal $number, AssayExample.$name
  end

  def test_sum
    assert_equal $number * ($number + 1) / 2, (1..AssayExample.$name).sum
  end
end
RUBY
    sed -i "s/class Test$name/class TestOf${number}/" "one-gem/test/test_$name.rb"
    cat >"one-gem/example.gemspec" <<RUBY
Gem::Specification.new do |gem|
  gem.name = "assay-example-$name"
  gem.version = "1.0.0"
  gem.summary = "Number $number of the examples"
  gem.authors = ["assay"]
  gem.license = "MIT"
  gem.homepage = "http://localhost"
  gem.files = Dir["lib/**/*.rb"] + Dir["test/**/*.rb"]
end
RUBY
    (cd one-gem && /usr/bin/gem build --quiet example.gemspec --output "../gems/assay-example-$name-1.0.0.gem" 2>/dev/null)
done
rm -rf one-gem
/usr/bin/gem generate_index --directory . >/dev/null
