# frozen_string_literal: true

# Results as JSON and in patterns. Without it Ruby writes an object as the text that `to_s` returns, and ActiveSupport as its instance
# variables. It must not require a library for JSON: it uses the one that the program has.

module Assay
  # Results with a `to_h` of plain values: they are written as that Hash, by `to_json` and `JSON.generate` as well as by ActiveSupport.
  module Plain
    def to_json(*arguments)
      require "json"
      to_h.to_json(*arguments)
    end

    # ActiveSupport asks for this.
    def as_json(*arguments)
      plain = to_h
      plain.respond_to?(:as_json) ? plain.as_json(*arguments) : plain
    end

    # Psych (YAML) asks for this.
    def encode_with(coder) = coder.represent_map(nil, to_h)

    def deconstruct_keys(_names) = to_h
  end
  private_constant :Plain
end
