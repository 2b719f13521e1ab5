# frozen_string_literal: true

# Assay.compare finds out which of several pieces of Ruby code is faster, by how much, and with what
# confidence. It calibrates, measures in blocks of random order, and periodically asks the `assay`
# program for the verdict. It computes no statistics itself.

require_relative "../assay"
require_relative "binary"
require_relative "samples"
require_relative "compare/comparison"
require_relative "compare/experiment"
require_relative "compare/job"
require_relative "compare/plan"
require_relative "compare/progress"
require_relative "compare/recording"
require_relative "compare/result"
require_relative "compare/side"
require_relative "compare/stopwatch"
require_relative "compare/waiting"

module Assay
  # Compares pieces of Ruby code in one process.
  #
  #   Assay.compare do |x|
  #     x.config(time: 2, threshold: "2%")
  #     x.report("alias")   { object.aliased }
  #     x.report("prepend") { |times| i = 0; while i < times; object.prepended; i += 1; end }
  #   end
  #
  # prints the verdict with its interval, and the allocations per iteration. It stops as soon as the
  # answer is clear: `faster`, `slower`, or `equivalent` (any difference is below the threshold). If
  # the time runs out first, the verdict is `inconclusive`, with the bound known so far: a lack of
  # data is never mistaken for a lack of difference.
  #
  # Under `assay run --samples` and `assay bench`, the nanoseconds per iteration of every side are
  # passed on as values of metrics with the sides' names, and the allocations as `NAME allocations`.
  module Compare
    # Runs the comparison and returns a Result. The options are those of Job#config. Raises
    # ArgumentError for fewer than two reports. Raises Binary::Missing, before anything is measured,
    # if there is no `assay` program and no measuring process to receive the values.
    def self.run(**options)
      raise ArgumentError, "Assay.compare takes a block: Assay.compare { |x| x.report(\"name\") { … } }" unless block_given?

      job = Job.new(**options)
      yield job
      raise ArgumentError, "Assay.compare needs two reports at least, here are #{job.sides.size}" if job.sides.size < 2

      Binary.path unless Samples.wanted?
      experiment = Experiment.new(job.sides, job.plan, progress: job.quiet ? nil : Progress.wanted)
      begin
        Binary.available? ? experiment.run { |analysis| clear?(analysis) } : experiment.run
      rescue Interrupt # It is for the program; but the results so far are passed on first.
        conclude(job, experiment) if experiment.recording.blocks.positive?
        raise
      end
      conclude(job, experiment)
    end

    # Returns true if further measuring would change nothing, since every comparison of the analysis
    # is settled.
    def self.clear?(analysis)
      analysis["comparisons"].all? { |fields| fields["family"] != "primary" || Comparison.new(fields).settled? }
    end

    class << self
      private

      def conclude(job, experiment)
        hand_over(job.sides, experiment.recording)
        publish(job, Result.new(job.sides, experiment, loop_cost: Experiment.loop_cost))
      end

      def hand_over(sides, recording)
        return unless Samples.wanted?

        sides.each_with_index do |side, index|
          name = side.name.gsub(/[[:cntrl:]]/, " ")
          Samples.give(name[0, 100], recording.times(index).map { |seconds| seconds * 1e9 }, unit: "ns")
          Samples.give("#{name[0, 88]} allocations", recording.counts(index))
        end
      end

      def publish(job, result)
        result.save(job.saved) if job.saved
        File.write(job.json, JSON.pretty_generate(result.to_h) << "\n") if job.json
        return result if job.quiet

        if Binary.available?
          puts result.screen(colour: $stdout.tty? && !ENV.key?("NO_COLOR"))
        else
          warn "assay: the values were handed over; there is no verdict here, since the program `assay` was not found"
        end
        result
      end
    end
  end
end
