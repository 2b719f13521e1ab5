# frozen_string_literal: true

# Helpers for several tests: the built program, and Ruby as a child process. Free of assertions.

require "json"
require "minitest/autorun"
require "open3"
require "rbconfig"
require "stringio"
require "tmpdir"

$LOAD_PATH.unshift(File.expand_path("../../lib", __dir__))
require "assay"

module FrontEnd
  LIB = File.expand_path("../../lib", __dir__)
  CHECKOUT = File.expand_path("../../..", __dir__)

  # The newest `assay` built here, unless the variable already names one.
  ENV["ASSAY"] ||= %w[release debug].map { |profile| File.join(CHECKOUT, "target", profile, "assay") }
                                    .select { |file| File.executable?(file) }.max_by { |file| File.mtime(file) }

  # The program computes the verdicts: without it there is nothing to test.
  def need_program
    skip("needs the program `assay`: cargo build, or ASSAY=/path/to/assay") unless Assay::Binary.available?
  end

  # Runs a Ruby program with the gem on its load path; returns its standard output, standard error
  # and status.
  def ruby(program, *arguments, env: {}, options: {})
    Dir.mktmpdir do |directory|
      file = File.join(directory, "program.rb")
      File.write(file, program)
      Open3.capture3(env, RbConfig.ruby, "-I", LIB, file, *arguments, chdir: directory, **options)
    end
  end
end
