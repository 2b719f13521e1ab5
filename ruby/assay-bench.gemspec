# frozen_string_literal: true

require_relative "lib/assay/version"

Gem::Specification.new do |gem|
  gem.name = "assay-bench"
  gem.version = Assay::VERSION
  gem.summary = "Where the time of a request goes, and whether a change is really faster"
  gem.description = "A method profiler for production that costs nothing while it is idle, comparisons of Ruby code with a verdict by " \
                    "the program assay, and a public API for tests of speed, allocations, calls and sleeping."
  gem.authors = ["The assay authors"]
  gem.licenses = ["MIT", "Apache-2.0"]
  gem.required_ruby_version = ">= 3.1"
  gem.files = Dir.glob("{lib/**/*.rb,ext/assay/{extconf.rb,*.c,*.h},README.md,LICENSE-*}", base: __dir__).sort
  gem.extensions = ["ext/assay/extconf.rb"]
  gem.require_paths = ["lib"]
  gem.metadata = {"rubygems_mfa_required" => "true"}
end
