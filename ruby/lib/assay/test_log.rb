# frozen_string_literal: true

# Writes the name of each test to the log before it begins, so that `assay tests log` can attribute
# log lines to tests: a line `RUNNING` with the test's class and name. `require "assay/test_log"` in
# test_helper.rb or spec_helper.rb, after the framework and the application; does nothing unless the
# variable PROFILE_LOG is set. Works for Minitest, test-unit and RSpec, and may be loaded several
# times. Nothing is measured here.

module Assay
  # Writes the line that begins each test.
  #
  #   require "assay/test_log"
  #
  #   $ rake log:clear && PROFILE_LOG=1 rake test && assay tests log log/test.log
  module TestLog
    # For Minitest, which provides `before_setup` for libraries.
    module OfMinitest
      def before_setup
        TestLog.begin("#{self.class} #{name}")
        super
      end
    end

    # For test-unit, which has no such hook.
    module OfTestUnit
      def run(...)
        TestLog.begin("#{self.class} #{method_name}")
        super
      end
    end

    class << self
      # The destination of the lines: anything with a method `debug` [default: the logger of Rails,
      # or log/test.log].
      attr_writer :logger

      def logger
        @logger ||= (::Rails.logger if defined?(::Rails) && ::Rails.respond_to?(:logger)) || own_logger
      end

      # Returns true if PROFILE_LOG is set.
      def wanted? = !["", "0"].include?(ENV.fetch("PROFILE_LOG", ""))

      # Writes the line of this test.
      def begin(name) = logger.debug("RUNNING #{name.gsub(/\s+/, " ")}")

      # Makes the loaded frameworks write the lines, if enabled. Idempotent.
      def install
        return unless wanted?

        ::Minitest::Test.prepend(OfMinitest) if defined?(::Minitest::Test)
        ::Test::Unit::TestCase.prepend(OfTestUnit) if defined?(::Test::Unit::TestCase) && !minitest?(::Test::Unit::TestCase)
        into_rspec if defined?(::RSpec::Core) && ::RSpec.respond_to?(:configure)
      end

      private

      # Rails and others give Minitest's class the old name.
      def minitest?(test_case) = defined?(::Minitest::Test) && test_case <= ::Minitest::Test

      def into_rspec
        return if @in_rspec

        @in_rspec = true
        # Runs before all other hooks of the example, so that their lines are attributed to it.
        ::RSpec.configure { |config| config.prepend_before { |example| TestLog.begin(example.full_description) } }
      end

      def own_logger
        require "fileutils"
        require "logger"
        FileUtils.mkdir_p("log")
        Logger.new("log/test.log")
      end
    end

    install
  end
end
