# frozen_string_literal: true

# Intercepts Ruby's methods that open files, list directories and start programs, for coverage; each
# call is recorded and then continues as usual.

module AssayCoverage
  # Methods that open files, list directories and start programs.
  module Intercepted
    # File name of the methods defined here in backtraces.
    FILE = "<internal:assay_tests>"
    METHODS = Module.instance_method(:instance_methods)
    METHOD = Module.instance_method(:instance_method)
    # The original method, before it is wrapped.
    DIRECTORY = ::File.method(:directory?)
    # `require` itself calls none of these methods. Other internal files (Pathname in some versions)
    # call them on behalf of their caller.
    LOADERS = %r{\A<internal:gem_prelude|/(rubygems|bundler)[/.]|/assay_\w+\.rb\z}.freeze

    class << self
      def put_in
        # Both `File.open` and `File.new` call this method.
        before(::File, <<~'RUBY')
          def initialize(path, *rest, **options, &block)
            mode = rest.empty? ? options[:mode] : rest[0]
            ::AssayCoverage::Intercepted.opened(path, mode) unless path.is_a?(::Integer)
            super
          end
          private :initialize
        RUBY
        before(::IO.singleton_class, %i[read binread readlines foreach].map { |name| <<~RUBY }.join)
          def #{name}(path, *rest, **options, &block)
            ::AssayCoverage.path_used(:opens, path)
            super
          end
        RUBY
        looks = %i[
          exist? file? directory? size size? zero? empty? stat lstat mtime atime ctime birthtime ftype readable? writable? executable?
          readable_real? writable_real? executable_real? world_readable? world_writable? owned? grpowned? pipe? socket? blockdev? chardev?
          setuid? setgid? sticky? symlink? readlink
        ]
        [::File.singleton_class, ::FileTest.singleton_class].each do |target|
          # The methods that this version of Ruby has.
          known = looks.select { |name| target.method_defined?(name) || target.private_method_defined?(name) }
          before(target, known.map { |name| <<~RUBY }.join)
            def #{name}(path)
              ::AssayCoverage::Intercepted.looked(path)
              super
            end
          RUBY
        end
        before(::Dir.singleton_class, <<~'RUBY')
          def exist?(path)
            ::AssayCoverage::Intercepted.looked(path)
            super
          end
        RUBY
        before(::IO.singleton_class, <<~'RUBY')
          def write(path, *rest, **options, &block)
            ::AssayCoverage.path_written(path)
            super
          end

          def copy_stream(from, *rest, **options, &block)
            ::AssayCoverage.path_used(:opens, from) unless from.is_a?(::IO)
            super
          end

          def popen(*arguments, **options, &block)
            ::AssayCoverage.started([*arguments.flatten(1), options])
            super
          end

          def sysopen(path, *rest)
            # These files open sources so to compare them, which is no use by a test.
            own = caller_locations(1, 1)&.first&.path&.match?(::AssayCoverage::Intercepted::LOADERS)
            ::AssayCoverage::Intercepted.opened(path, rest[0]) unless own
            super
          end
        RUBY
        before(::File::Stat, <<~'RUBY')
          def initialize(path)
            ::AssayCoverage::Intercepted.looked(path)
            super
          end
          private :initialize
        RUBY
        identical = "def identical?(one, other)\n::AssayCoverage::Intercepted.looked(one)\n::AssayCoverage::Intercepted.looked(other)\nsuper\nend\n"
        [::File.singleton_class, ::FileTest.singleton_class].each { |target| before(target, identical) }
        before(::Dir.singleton_class, %i[entries children each_child foreach empty? open new].map { |name| <<~RUBY }.join)
          def #{name}(path, *rest, **options, &block)
            ::AssayCoverage.path_used(:lists, path)
            super
          end
        RUBY
        before(::Dir.singleton_class, <<~'RUBY')
          def glob(patterns, *rest, **options, &block)
            ::AssayCoverage::Intercepted.globbed(patterns, options[:base])
            super
          end

          def [](*patterns, **options)
            ::AssayCoverage::Intercepted.globbed(patterns, options[:base])
            super
          end
        RUBY
        before(::Process.singleton_class, %i[spawn exec].map { |name| <<~RUBY }.join)
          def #{name}(*arguments, **options, &block)
            ::AssayCoverage.started([*arguments, options])
            super
          end
        RUBY
        into_kernel(%i[system spawn exec `], "::AssayCoverage.started(arguments)")
        into_kernel(%i[fork], "::AssayCoverage.forks_unseen") unless Process.respond_to?(:_fork)
        into_kernel(%i[open], "::AssayCoverage::Intercepted.opened(arguments[0], arguments[1])")
        into_kernel(%i[test], "arguments.drop(1).each { |path| ::AssayCoverage::Intercepted.looked(path) }")
      end

      # A query of existence, size or times of a file. A directory counts as listed.
      def looked(path)
        return if path.is_a?(::IO) || path.nil?

        path = path.to_path if path.respond_to?(:to_path)
        # The use of sources is observed when they run, and a new source counts as a change by
        # itself.
        return unless path.is_a?(::String) && !path.end_with?(".rb", ".so")
        # RubyGems, Bundler and these hooks look for files that they load, which is observed when
        # they are loaded.
        caller_path = caller_locations(2, 1)&.first&.path
        return if caller_path&.match?(LOADERS) && !::AssayCoverage.within(caller_path)

        ::AssayCoverage.path_used(DIRECTORY.call(path) ? :lists : :opens, path)
      end

      def opened(path, mode)
        return if path.nil?
        return ::AssayCoverage.started([path[1..-1]]) if path.is_a?(String) && path.start_with?("|")

        reads = case mode
                when String then mode.start_with?("r")
                when Integer then (mode & (IO::WRONLY | IO::TRUNC)).zero?
                else true
                end
        reads ? ::AssayCoverage.path_used(:opens, path) : ::AssayCoverage.path_written(path)
      end

      # Records the directory before the variable part of a pattern; if subdirectories are included,
      # it ends in `/**`.
      def globbed(patterns, base)
        Array(patterns).each do |pattern|
          pattern = pattern.to_path if pattern.respond_to?(:to_path)
          next unless pattern.is_a?(String)

          fixed = pattern[0...(pattern.index(WILDCARD) || pattern.size)]
          rest = pattern[fixed.size..-1]
          folder = fixed[0...(fixed.rindex("/") || 0)]
          folder = "/" if folder.empty? && fixed.start_with?("/")
          # Frameworks search the directories of all gems.
          is_whole = folder.start_with?("/") && !folder.include?("/.") && !folder.include?("//")
          folder = EXPAND.call(folder.empty? ? "." : folder, base.nil? ? nil : base.to_s) unless is_whole
          ::AssayCoverage.path_used(:lists, folder, rest.include?("/") ? "/**" : nil)
        end
      end

      private

      def before(target, source)
        methods = Module.new
        methods.module_eval("# frozen_string_literal: true\n#{source}", FILE, 0)
        target.prepend(methods)
      end

      # Up to Ruby 2.7, prepending to a module does not affect classes that already include it, so
      # an alias is used.
      def into_kernel(names, noted)
        names.each do |name|
          kept = "assay_coverage_#{name == :` ? "backtick" : name}"
          text = "alias_method :#{kept}, :#{name}\ndef #{name}(*arguments, &block)\n#{noted}\n#{kept}(*arguments, &block)\nend\n" \
                 "ruby2_keywords(:#{name}) if respond_to?(:ruby2_keywords, true)\nprivate :#{name}, :#{kept}\n"
          ::Kernel.module_eval(text, FILE, 1)
          ::Kernel.singleton_class.class_eval(text.sub(/^private .*/, "private :#{kept}"), FILE, 1)
        end
      end
    end
  end
end
