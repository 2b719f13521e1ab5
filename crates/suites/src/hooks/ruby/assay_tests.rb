# frozen_string_literal: true

# Loaded through RUBYOPT into every Ruby process of a suite. It waits until a test framework is
# loaded and only then loads the files next to it, which write the events
# (docs/reference/test-events.md). It must cost nothing without a framework, and must not change the
# behavior of any program.

if ENV["ASSAY_TESTS"].to_s.start_with?("path:") && !defined?(::AssayTests) && ["", Process.pid.to_s].include?(ENV["ASSAY_TESTS_WITHIN"].to_s)
  # Functions and values that must be captured before tests stub them.
  module AssayTests
    FOLDER = ENV["ASSAY_TESTS"].delete_prefix("path:").freeze
    HERE = __dir__.freeze
    CLOCK = Process.method(:clock_gettime)
    MONOTONIC = Process::CLOCK_MONOTONIC
    # Nanoseconds.
    LOADED = CLOCK.call(MONOTONIC, :nanosecond)
    ROOT = begin
      "#{Dir.pwd}/"
    rescue SystemCallError
      "/"
    end.freeze
    PROCESS = Process.pid
    FILE_OF_TESTS = /(\A|_)(tests?|spec)(_|\.rb\z)/.freeze
    @frameworks = {}

    class << self
      # Returns true if a framework is hooked.
      def hooked?(name)
        @frameworks.key?(name)
      end

      # Hooks the frameworks that were loaded since the last call. Called after every `require`.
      def look
        hook(:rspec) if defined?(::RSpec::Core::Runner) && defined?(::RSpec::Core::ExampleGroup) && defined?(::RSpec::Core::Example)
        hook(:minitest) if defined?(::Minitest::Test) && defined?(::Minitest::Runnable)
        hook(:test_unit) if defined?(::Test::Unit::UI::TestRunnerMediator) && defined?(::Test::Unit::TestCase)
      end

      # The program of a file of tests ends with an exception. If no framework has run a test by
      # then, none would report it, and a script may ignore the exit status.
      def ended_by(error)
        return if error.nil? || error.is_a?(SignalException) || (error.is_a?(SystemExit) && error.success?)
        return unless Process.pid == PROCESS && FILE_OF_TESTS.match?(File.basename($PROGRAM_NAME)) && !@framework

        # While an exception ends the program, `load` raises it again in the same thread.
        Thread.new { load_part("record") }.join
        why = error.is_a?(SystemExit) ? "with status #{error.status}" : "by #{error.class}: #{error.message}"
        fault("#{$PROGRAM_NAME} ended before its tests ran, #{why}")
      end

      private

      def hook(name)
        return if @frameworks.key?(name)

        @frameworks[name] = true
        load_part("record")
        guarded { load_part(name) }
      end

      # Uses `load`, because `require` calls this.
      def load_part(name)
        (@parts ||= {})[name] ||= load("#{HERE}/assay_tests_#{name}.rb")
      end
    end
  end

  # Defined as an alias, like RubyGems' version, with a file name that backtraces and `warn` omit.
  # It is beneath RubyGems' version because Bundler removes that one and restores the original.
  module Kernel
    name = private_method_defined?(:gem_original_require) ? "gem_original_require" : "require"
    module_eval(<<~RUBY, "<internal:assay_tests>", 1)
      alias_method :assay_tests_require, :#{name}

      def #{name}(path)
        loaded = assay_tests_require(path)
        ::AssayTests.look
        loaded
      end

      private :#{name}, :assay_tests_require
    RUBY
  end

  if ENV["ASSAY_TESTS_COVERAGE"].to_s.start_with?("path:")
    load("#{AssayTests::HERE}/assay_tests_coverage.rb") unless defined?(::AssayCoverage)
    AssayCoverage.ask(ENV["ASSAY_TESTS_COVERAGE"].delete_prefix("path:"), AssayTests::HERE)
  end

  # The first registered handler runs last.
  at_exit do
    AssayTests.ended_by($!) # rubocop:disable Style/SpecialGlobalVars
    AssayTests.finish if AssayTests.respond_to?(:finish)
  end
  AssayTests.look
end
