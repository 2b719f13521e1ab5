# frozen_string_literal: true

# Gives each request's totals to the `assay` that measures this process, by the sample protocol.

require_relative "../patches"
require_relative "../samples"

module Assay
  class Rack
    # An output, as Log is one.
    module Samples
      # See Request#finish. The metrics: `request` and a row's name in seconds, "<name>_calls" as numbers.
      def self.request(request)
        totals = request.totals
        Assay::Samples.give("request", totals.duration, unit: "s")
        # A request without a single call is one with zero calls, and not one of which nothing is known.
        (Patches.rows | totals.rows.keys).each do |name|
          row = totals.rows[name]
          Assay::Samples.give(name.name, row ? row.duration : 0, unit: "s")
          Assay::Samples.give("#{name}_calls", row ? row.calls : 0)
        end
      end
    end
    private_constant :Samples
  end
end
