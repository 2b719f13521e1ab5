# frozen_string_literal: true

module Assay
  # Version of the gem.
  VERSION = "0.1.0"
end
