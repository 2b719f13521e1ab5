# frozen_string_literal: true

# A library that exists only to be mutated: small, ordinary classes with specs of ordinary quality
# (bench/mutants.py).
require_relative "kit/calculator"
require_relative "kit/heap"
require_relative "kit/interval"
require_relative "kit/lines"
require_relative "kit/recent"
require_relative "kit/table"
require_relative "kit/words"
