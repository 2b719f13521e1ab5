# frozen_string_literal: true

# Loads in a stage, before its program begins, what earlier runs loaded, in an order in which a
# saved file costs little (assay_warm_loads.rb determines which files may be reordered). On the way
# it leaves processes behind from which loading can be resumed.

module AssayWarm
  # See the heads of this file and of assay_warm_stage.rb.
  module Stage
    # Conditions for leaving another process behind: seconds since the last one, and their share of
    # the total loading time; and the maximum number of such processes.
    LEAST = 0.03
    SHARE = 0.25
    MOST = 8
    # Maximum number of libraries that cannot be loaded early; if there are more, none is.
    MOST_LATE = 4

    class << self
      # True while the files of earlier runs are being loaded.
      attr_reader :replays

      # A file is required during the replay.
      def before_require(path)
        path = path.to_path if path.respond_to?(:to_path)
        return unless Thread.current.equal?(Thread.main)

        name = File.basename(path, ".rb")
        anew("bundles", "1") if %w[bundler setup inline].include?(name) && Gems.bundler?(resolved(path).to_s)
        early = @early[name]
        asked_again(path, early) if early
        leave_behind if path != @left_before && leaves?(path)
      rescue StandardError, LoadError
        nil
      end

      # Returns true if loading continues in another process so that this one can wait before a
      # file.
      def leaves?(path)
        is_long = long?
        return false unless is_long || changed_before?(path)
        return false if @index >= MOST

        path = resolved(path)
        return false unless path && (is_long || AssayWarm.changed.include?(path))

        AssayWarm.within(path) && !$LOADED_FEATURES.include?(path)
      end

      # Returns true if a large share of the loading time has passed since a process was left
      # behind.
      def long?
        since = AssayWarm.now - @last
        since >= LEAST && since >= SHARE * (@took + since)
      end

      # Compares only base names, since this is called for every required file.
      def changed_before?(path)
        return false if AssayWarm.changed.empty?

        name = File.basename(path, ".rb")
        AssayWarm.changed.any? { |changed| File.basename(changed, ".rb") == name }
      end

      private

      # Returns what earlier runs loaded: the files from the first project file on, and those before
      # it. Libraries are moved before project files, but not before those that may affect them
      # (`settles`); otherwise files are in the order in which they were loaded.
      def planned
        early, late, settles, acts, @named = %w[early late settles acts named].map { |kind| Seen.of(@program, kind) }
        known = Seen.of(@program, "load").reject { |path| path.match?(ACTS) || acts.include?(path) || !File.file?(path) }
        natural = known.take_while { |path| AssayWarm.within(path).nil? }
        is_late = false
        paths = known.reject do |path|
          next is_late ||= late.include?(path) unless AssayWarm.within(path)

          settles << path if is_late
          is_late = false
        end
        parts = paths.slice_when { |path,| settles.include?(path) }
        paths = parts.flat_map { |part| part.partition { |path| AssayWarm.within(path).nil? }.flatten }
        moved = paths.reject { |path| AssayWarm.within(path) || natural.include?(path) }
        @asked = {}
        @early = (moved | (early & paths)).group_by { |path| File.basename(path, ".rb") }
        first = paths.index { |path| AssayWarm.within(path) } || paths.size
        [paths[first..-1], paths[0...first]]
      end

      def replay(paths)
        return if paths.empty?

        added = with_load_path
        @replays = true
        Output.watched do |output|
          until paths.empty?
            path = following(paths)
            if path != @left_before && leaves?(path)
              @left_before = path
              leave_behind
              next
            end
            paths.delete(path)
            replay_one(path, output) unless Gems.another_version?(path)
          end
        end
      ensure
        @replays = false
        added&.each { |folder| $LOAD_PATH.delete_at($LOAD_PATH.rindex(folder)) if $LOAD_PATH.include?(folder) }
      end

      # Files that are loaded because a constant is named can be loaded at any time: those that
      # changed recently come last, the latest change at the very end.
      def following(paths)
        paths.find { |path| !@named.include?(path) || !AssayWarm.changed.include?(path) } || paths.max_by { |path| AssayWarm.changed.index(path) }
      end

      # Records the libraries that project files now require. After a run, nothing waits for this.
      def note_order
        return if @is_noted

        @is_noted = true
        known = Seen.of(@program, "load")
        order = @loads.order { |path| Run.ahead?(path) }
        Seen.add_order(@program, @loads, order.select { |path| known.include?(path) || @loads.early.include?(path) })
      end

      def replay_one(path, output)
        is_early = @early[File.basename(path, ".rb")]&.include?(path)
        # With `-w` many libraries print warnings whenever they are loaded.
        errors = STDERR.stat.size if is_early && !$VERBOSE
        loaded = required(path, is_early)
        says = output.grew? || errors && STDERR.stat.size != errors
        anew(is_early ? "late" : "acts", path) if says || !loaded
      end

      # Another process starts over, knowing this about the file.
      def anew(kind, path)
        paths = kind == "late" && Seen.of(@program, kind).size >= MOST_LATE ? @early.values.flatten : [path]
        Seen.add(@program, kind, paths)
        @link.say(:anew)
        exit!(0)
      end

      # Returns true if the file could be loaded, and false if it is left to runs.
      def required(path, is_early)
        require(path)
        true
      rescue SystemExit, StandardError, ScriptError => e
        # It may succeed at the point where the project requires it.
        return false if is_early

        failed("#{e.message} (SyntaxError)") if e.is_a?(SyntaxError)
        # It may succeed in a run, in a different order; otherwise the run reports the error.
        @notes << "#{path} could not be loaded before a run: #{e.message.lines.first.to_s.chomp} (#{e.class})"
      end

      # The project requires a library for the first time that was loaded early. The project code
      # before that may have changed since.
      def asked_again(path, early)
        path = resolved(path)
        return if !early.include?(path) || @asked[path]

        may_come_first = @loads.may_come_first?(path)
        @asked[path] = true unless may_come_first.nil?
        anew("late", path) if may_come_first == false
      end

      def resolved(path)
        path = ($LOAD_PATH.resolve_feature_path(path) || [])[1] unless path.start_with?("/")
        path && !File.file?(path) ? "#{path}.rb" : path
      end

      # Adds the directories of earlier runs, in their order. Returns those that were missing.
      def with_load_path
        known = Seen.of(@program, "path").select { |path| File.directory?(path) }
        added = known - $LOAD_PATH
        $LOAD_PATH.replace((added.empty? ? [] : known) | $LOAD_PATH)
        added
      end
    end
  end
end
