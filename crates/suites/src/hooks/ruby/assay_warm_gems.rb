# frozen_string_literal: true

# The gems that runs activate, where RubyGems alone decides which: to find them, and to read what they say of themselves, takes a run longer than to
# fork it, so that stages do it before. Under Bundler there is nothing to do here: it has settled all that when the program begins, or wants to.

module AssayWarm
  # See the head of this file.
  module Gems
    BUNDLER = %r{/bundler(?:/setup|/inline)?\.rb\z}.freeze

    class << self
      # Activates those that earlier runs activated, where they are what a new process would find.
      def activate(program)
        return unless decides? && Seen.of(program, "bundles").empty?

        @found = found
        # Whoever looks for files of gems reads all of them.
        Gem::Specification.stubs
        wanted = locked
        Seen.of(program, "gem").each do |each|
          name, version = each.split
          next if Gem.loaded_specs.key?(name) || wanted.fetch(name, version) != version || !newest?(name, version)

          Kernel.send(:gem, name, "= #{version}")
        rescue LoadError
          # Some want another one of those that they depend on.
          next
        end
      end

      # Those that a run has, in their order.
      def activated
        defined?(::Gem) ? Gem.loaded_specs.values : []
      end

      # It writes them down.
      def note(program, specs)
        return Seen.add(program, "bundles", ["1"]) if defined?(::Bundler)

        Seen.set(program, "gem", specs.map { |spec| "#{spec.name} #{spec.version}" })
      end

      # Something is required that decides itself.
      def bundler?(path)
        @found && path.match?(BUNDLER)
      end

      # A run begins: what was installed since is there.
      def renew
        Gem::Specification.reset if @found && @found != found
      rescue StandardError
        nil
      end

      # Whether a file is of another version of its gem than the one that is used now.
      def another_version?(path)
        return false unless defined?(::Gem) && (gem = path[%r{/gems/([^/]+)-\d[^/]*/}, 1])

        spec = Gem.loaded_specs[gem] || (Gem::Specification.stubs_for(gem).first if decides?)
        !spec.nil? && !path.start_with?("#{spec.full_gem_path}/")
      end

      private

      def decides?
        defined?(::Gem::Specification) && !defined?(::Bundler) && Gem::Specification.respond_to?(:stubs_for)
      end

      # What Bundler would want, if it comes after all.
      def locked
        path = "#{ROOT}/Gemfile.lock"
        File.file?(path) ? File.read(path).scan(/^    ([^\s(]+) \(([^)]+)\)$/).to_h : {}
      rescue SystemCallError, ArgumentError
        {}
      end

      def newest?(name, version)
        Gem::Specification.stubs_for(name).first&.version.to_s == version
      end

      # When gems were installed or removed last.
      def found
        Gem::Specification.dirs.map { |folder| File.mtime(folder) rescue nil } # rubocop:disable Style/RescueModifier
      end
    end
  end
end
