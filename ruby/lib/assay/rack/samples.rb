# frozen_string_literal: true

# Passes each request's totals to the `assay` that measures this process, through the sample
# protocol.

require_relative "../patches"
require_relative "../samples"

module Assay
  class Rack
    # An output, like Log.
    module Samples
      # See Request#finish. The metrics are `request` and the names of the rows, in seconds, and
      # "<name>_calls" as numbers.
      def self.request(request)
        totals = request.totals
        Assay::Samples.give("request", totals.duration, unit: "s")
        # A request without calls has zero calls; it must not look like one with missing data.
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
