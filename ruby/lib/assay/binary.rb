# frozen_string_literal: true

# Finds and runs the `assay` program. All statistics of this gem are computed by it, none here.
#
# This file must work while the code under test is faked: a test may have replaced `IO.popen`,
# `spawn` and the clock for its thread, so the methods needed here are captured when the file is
# loaded.

require "json"
require "tempfile"

module Assay
  # The `assay` program.
  module Binary
    # The program was not found.
    class Missing < StandardError; end

    # The program rejected its input, or was interrupted.
    class Failed < StandardError; end

    # Environment variable with the path of the program, for when it is not on the PATH.
    VARIABLE = "ASSAY"

    POPEN = IO.method(:popen)
    # Absolute, since a test may have changed the working directory by the time it is needed.
    BEGAN_IN = Dir.pwd
    # Present in platform-specific gems.
    OWN = File.expand_path("../../libexec/assay", __dir__)
    private_constant :POPEN, :BEGAN_IN, :OWN

    class << self
      # Returns the path of the program: the value of the variable ASSAY, or the program in this gem
      # (if it is platform-specific), or the first `assay` on the PATH. Looked up on every call,
      # since a test may change the environment. Raises Missing, with the command that installs it.
      def path
        named = ENV[VARIABLE].to_s
        return named_program(named) unless named.empty?
        return OWN if program?(OWN)

        directories = ENV.fetch("PATH", "").split(File::PATH_SEPARATOR)
        found = directories.map { |directory| File.expand_path("assay", File.expand_path(directory, BEGAN_IN)) }.find { |file| program?(file) }
        found or raise Missing, "the program `assay` is not on the PATH: verdicts come from it, this gem only measures\n" + remedy
      end

      # Returns true if the program was found.
      def available?
        path
        true
      rescue Missing
        false
      end

      # Returns the output of `assay compare --json` for a sample file as a Hash; its fields are in
      # docs/reference/json.md. Raises Missing or Failed.
      def analysis(file)
        JSON.parse(run("compare", "--json", "--quiet", file))
      rescue JSON::ParserError => e
        raise Failed, "`#{path} compare --json` did not print JSON (#{e.message[0, 100]}): is it this `assay`?"
      end

      # Returns the output of `assay compare` for a sample file as text. Raises Missing or Failed.
      def screen(file, colour: false)
        run("compare", "--quiet", "--color", colour ? "always" : "never", file)
      end

      private

      def run(*arguments)
        program = path
        Tempfile.create("assay-talk") do |talk|
          said = POPEN.call([program, *arguments, { in: File::NULL, err: talk.fileno, talk.fileno => talk.fileno }], &:read)
          status = $?
          return said.force_encoding(Encoding::UTF_8) if status.success?

          talk.rewind
          raise Failed, "`#{program} #{arguments.first}` ended with #{ending(status)}:\n#{talk.read.strip}"
        end
      rescue SystemCallError => e
        raise Failed, "`#{program}` can't be started: #{e.message}. Build it for this machine, or name another with #{VARIABLE}=FILE"
      end

      def ending(status) = status.exited? ? "status #{status.exitstatus}" : "signal #{status.termsig}"

      def named_program(named)
        file = File.expand_path(named, BEGAN_IN)
        return file if program?(file)

        why = File.exist?(file) ? "it may not be executed" : "there is no such file"
        raise Missing, "#{VARIABLE}=#{named} names no program that can be started: #{why}\n#{remedy}"
      end

      def program?(file) = File.file?(file) && File.executable?(file)

      def remedy
        "  install it from a checkout of assay:  cargo install --locked --path crates/assay\n" \
          "  or name a built one:                  export #{VARIABLE}=/path/to/assay"
      end
    end
  end
end
