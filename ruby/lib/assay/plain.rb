# frozen_string_literal: true

# Results as JSON and in pattern matching. By default Ruby serializes an object as its `to_s`, and
# ActiveSupport as its instance variables. It must not require a JSON library: it uses the one
# loaded by the program.

module Assay
  # Results with a `to_h` of plain values: `to_json`, `JSON.generate` and ActiveSupport all
  # serialize them as that Hash.
  module Plain
    def to_json(*arguments)
      require "json"
      to_h.to_json(*arguments)
    end

    # Called by ActiveSupport.
    def as_json(*arguments)
      plain = to_h
      plain.respond_to?(:as_json) ? plain.as_json(*arguments) : plain
    end

    # Called by Psych (YAML).
    def encode_with(coder) = coder.represent_map(nil, to_h)

    def deconstruct_keys(_names) = to_h
  end
  private_constant :Plain
end
