# frozen_string_literal: true

# The gems that runs activate, if RubyGems alone decides which. Finding gems and reading their
# specifications takes a run longer than the fork itself, so stages do it in advance. With Bundler
# nothing is done here: it has chosen all gems when the program begins, or will do so itself.

module AssayWarm
  # See the head of this file.
  module Gems
    BUNDLER = %r{/bundler(?:/setup|/inline)?\.rb\z}.freeze

    class << self
      # Activates the gems that earlier runs activated if a new process would find the same ones.
      def activate(program)
        return unless decides? && Seen.of(program, "bundles").empty?

        @found = found
        # Any search for files in gems reads all specifications.
        Gem::Specification.stubs
        wanted = locked
        Seen.of(program, "gem").each do |each|
          name, version = each.split
          next if Gem.loaded_specs.key?(name) || wanted.fetch(name, version) != version || !newest?(name, version)

          Kernel.send(:gem, name, "= #{version}")
        rescue LoadError
          # Some gems require another version of a dependency.
          next
        end
      end

      # Returns the gems activated in a run, in order.
      def activated
        defined?(::Gem) ? Gem.loaded_specs.values : []
      end

      # Records the gems of a run.
      def note(program, specs)
        return Seen.add(program, "bundles", ["1"]) if defined?(::Bundler)

        Seen.set(program, "gem", specs.map { |spec| "#{spec.name} #{spec.version}" })
      end

      # Returns true if the required file makes its own choice of gems.
      def bundler?(path)
        @found && path.match?(BUNDLER)
      end

      # Called at the start of a run, to find gems that were installed since.
      def renew
        Gem::Specification.reset if @found && @found != found
      rescue StandardError
        nil
      end

      # Returns true if a file belongs to a version of its gem other than the one in use.
      def another_version?(path)
        return false unless defined?(::Gem) && (gem = path[%r{/gems/([^/]+)-\d[^/]*/}, 1])

        spec = Gem.loaded_specs[gem] || (Gem::Specification.stubs_for(gem).first if decides?)
        !spec.nil? && !path.start_with?("#{spec.full_gem_path}/")
      end

      private

      def decides?
        defined?(::Gem::Specification) && !defined?(::Bundler) && Gem::Specification.respond_to?(:stubs_for)
      end

      # The versions that Bundler would require if it is loaded later.
      def locked
        path = "#{ROOT}/Gemfile.lock"
        File.file?(path) ? File.read(path).scan(/^    ([^\s(]+) \(([^)]+)\)$/).to_h : {}
      rescue SystemCallError, ArgumentError
        {}
      end

      def newest?(name, version)
        Gem::Specification.stubs_for(name).first&.version.to_s == version
      end

      # Times at which gems were last installed or removed.
      def found
        Gem::Specification.dirs.map { |folder| File.mtime(folder) rescue nil } # rubocop:disable Style/RescueModifier
      end
    end
  end
end
