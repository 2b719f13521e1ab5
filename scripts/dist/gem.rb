# frozen_string_literal: true

# Builds the gem in this directory for a RubyGems platform (`ruby`: from source). Prints the name of
# the file.
# Usage: ruby gem.rb PLATFORM HOMEPAGE

require "rubygems/package"

spec = Gem::Specification.load("assay-bench.gemspec")
spec.homepage = ARGV.fetch(1)
unless ARGV.first == "ruby"
  spec.platform = Gem::Platform.new(ARGV.first)
  # A platform-specific gem compiles nothing on installation, so it omits the sources.
  spec.extensions = []
  spec.files = (spec.files.reject { |file| file.start_with?("ext/") } + Dir.glob("{exe,libexec,lib}/**/*").select { |file| File.file?(file) }).uniq.sort
  spec.bindir = "exe"
  spec.executables = ["assay"]
end
puts Gem::Package.build(spec)
