# frozen_string_literal: true

# Names each test in the log before it begins, so that `assay tests log` can say which test wrote what: a line `RUNNING` with the test's class and
# name. `require "assay/test_log"` in test_helper.rb or spec_helper.rb, behind the framework and the application; nothing happens unless
# the variable PROFILE_LOG is set. Works for Minitest, test-unit and RSpec, once however often it is loaded. Nothing is measured here.

module Assay
  # The line that begins each test.
  #
  #   require "assay/test_log"
  #
  #   $ rake log:clear && PROFILE_LOG=1 rake test && assay tests log log/test.log
  module TestLog
    # For Minitest, whose classes call `before_setup` for libraries.
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
      # Where the lines go: anything with a method `debug`. Unless it is set, the logger of Rails, or log/test.log.
      attr_writer :logger

      def logger
        @logger ||= (::Rails.logger if defined?(::Rails) && ::Rails.respond_to?(:logger)) || own_logger
      end

      # Whether PROFILE_LOG asks for the lines.
      def wanted? = !["", "0"].include?(ENV.fetch("PROFILE_LOG", ""))

      # Writes the line of this test.
      def begin(name) = logger.debug("RUNNING #{name.gsub(/\s+/, " ")}")

      # Has the frameworks that are loaded write the lines, if they are wanted. A second time does nothing.
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
        # Before all other hooks of the example, whose lines are its own.
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
