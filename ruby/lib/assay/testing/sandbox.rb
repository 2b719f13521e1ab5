# frozen_string_literal: true

# A private directory and environment for a test. Both are process-wide, so only one thread at a
# time can have them.

require "fileutils"
require "tmpdir"

module Assay
  module Testing
    # An empty directory that is the working directory, HOME and TMPDIR, and an environment that may
    # be changed freely. Variables that point outside HOME are removed from it.
    class Sandbox
      ELSEWHERE = %w[XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME].freeze
      private_constant :ELSEWHERE

      @lock = Mutex.new
      @owner = nil
      @depth = 0

      class << self
        # Raises ThreadError while another thread has one.
        def enter
          @lock.synchronize do
            if @owner && !@owner.equal?(Thread.current)
              raise ThreadError, "another thread has a sandbox: the working directory and the environment are the whole process's. " \
                                 "Don't run tests with sandboxes in parallel threads"
            end
            @owner = Thread.current
            @depth += 1
          end
        end

        def leave
          @lock.synchronize do
            @depth -= 1
            @owner = nil if @depth.zero?
          end
        end
      end

      # The absolute path, without symbolic links.
      attr_reader :directory

      # Creates and enters the directory. `env` contains variables to set, or to remove if they are
      # nil.
      def initialize(env)
        Sandbox.enter
        settle(env)
      end

      # Leaves the directory, restores the environment, and removes the directory with its contents.
      def undo
        Dir.chdir(@before)
      ensure
        ENV.replace(@environment)
        FileUtils.rm_rf(@directory)
        Sandbox.leave
      end

      private

      def settle(env)
        @before = Dir.pwd
        @environment = ENV.to_h
        @directory = File.realpath(Dir.mktmpdir("assay-test-"))
        Dir.chdir(@directory)
        own = { "HOME" => @directory, "TMPDIR" => @directory, **ELSEWHERE.to_h { |name| [name, nil] } }
        ENV.update(own.merge(env.transform_keys(&:to_s)))
      rescue StandardError
        @directory ? undo : Sandbox.leave
        raise
      end
    end
  end
end
