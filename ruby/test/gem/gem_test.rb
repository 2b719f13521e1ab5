# frozen_string_literal: true

# The gem can be built and installed, with and without a compiler, and contains what it needs.

require "minitest/autorun"
require "open3"
require "rbconfig"
require "tmpdir"

class GemTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  USE = "require 'assay'; Assay::MethodProfiler.patch(String, :upcase, :up); " \
        "print Assay::MethodProfiler.recorder, Assay::MethodProfiler.profile { 'a'.upcase }[:up][:calls]"

  def run!(*command, **environment)
    output, status = Open3.capture2e(environment.transform_keys(&:to_s), *command, chdir: ROOT)
    assert_predicate status, :success?, "#{command.join(" ")}:\n#{output}"
    output
  end

  # A registry shows the README without the rest of the checkout.
  def test_the_readme_links_to_nothing_that_the_gem_has_not
    links = File.read(File.join(ROOT, "README.md")).scan(/\]\(([^)#]+)/).flatten.reject { |link| link.match?(%r{\Ahttps?://}) }
    assert_empty links.reject { |link| Gem::Specification.load(File.join(ROOT, "assay-bench.gemspec")).files.include?(link) }
  end

  def test_the_gem_is_built_and_installed_and_counts
    Dir.mktmpdir do |directory|
      file = File.join(directory, "assay.gem")
      run!("gem", "build", "assay-bench.gemspec", "--output", file)
      contents = run!("gem", "spec", file, "files").scan(/^- (.*)$/).flatten
      %w[lib/assay.rb lib/assay-bench.rb ext/assay/extconf.rb ext/assay/native.c README.md LICENSE-MIT LICENSE-APACHE].each { |name| assert_includes contents, name }
      refute(contents.any? { |name| name.match?(%r{\A(test|bench|tmp)/}) })
      {"native1" => {}, "ruby1" => {ASSAY_PURE: "1"}}.each_with_index do |(expected, environment), number|
        home = File.join(directory, "home#{number}")
        run!("gem", "install", "--local", "--no-document", "--install-dir", home, file, **environment)
        assert_equal expected, run!(RbConfig.ruby, "-e", "gem 'assay-bench'; #{USE}", GEM_PATH: home, GEM_HOME: home)
      end
    end
  end
end
