# frozen_string_literal: true

# The middleware and the patches can be required alone, together and in any order, without warnings
# from Ruby.

require "minitest/autorun"
require "rbconfig"

class LoadingTest < Minitest::Test
  FILES = %w[assay assay/rack assay/patches assay/railtie].freeze

  FILES.permutation(2) do |first, second|
    define_method("test_#{first}_and_then_#{second}") do
      program = "require #{first.dump}; require #{second.dump}; require 'assay'; print Assay::Rack.name, Assay::Patches.libraries.size"
      paths = $LOAD_PATH.first(3).flat_map { |path| ["-I", path] }
      assert_equal "Assay::Rack6", IO.popen([RbConfig.ruby, "-w", *paths, "-e", program, err: %i[child out]], &:read)
    end
  end
end
