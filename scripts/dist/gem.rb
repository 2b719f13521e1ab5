# frozen_string_literal: true

# Packs the gem that lies in this directory, for a platform of RubyGems (`ruby`: from source). Prints the name of the file.
# Usage: ruby gem.rb PLATFORM HOMEPAGE

require "rubygems/package"

spec = Gem::Specification.load("assay-bench.gemspec")
spec.homepage = ARGV.fetch(1)
unless ARGV.first == "ruby"
  spec.platform = Gem::Platform.new(ARGV.first)
  # Nothing is compiled where it is installed; what it would be compiled from is of no use there.
  spec.extensions = []
  spec.files = (spec.files.reject { |file| file.start_with?("ext/") } + Dir.glob("{exe,libexec,lib}/**/*").select { |file| File.file?(file) }).uniq.sort
  spec.bindir = "exe"
  spec.executables = ["assay"]
end
puts Gem::Package.build(spec)
