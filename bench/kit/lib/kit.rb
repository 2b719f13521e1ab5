# frozen_string_literal: true

# A library whose only use is to be changed: small classes of the usual kinds, with specs of the usual care (bench/mutants.py).
require_relative "kit/calculator"
require_relative "kit/heap"
require_relative "kit/interval"
require_relative "kit/lines"
require_relative "kit/recent"
require_relative "kit/table"
require_relative "kit/words"
