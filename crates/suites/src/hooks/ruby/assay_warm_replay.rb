# frozen_string_literal: true

# What a stage loads before its program begins: what earlier runs loaded, in an order in which a saved file costs little (assay_warm_loads.rb says what
# can bear another one). On the way processes are left behind, to go on from there.

module AssayWarm
  # See the head of this file, and that of assay_warm_stage.rb.
  module Stage
    # Another process is left behind where so many seconds have passed since the last, and such a share of all.
    LEAST = 0.03
    SHARE = 0.25
    MOST = 8
    # Where more libraries than these can't come early, none does.
    MOST_LATE = 4

    class << self
      # Whether what is loaded now is what earlier runs loaded.
      attr_reader :replays

      # A file is required, in the middle of what is replayed.
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

      # Whether another process goes on from here, so that this one can wait before a file.
      def leaves?(path)
        is_long = long?
        return false unless is_long || changed_before?(path)
        return false if @index >= MOST

        path = resolved(path)
        return false unless path && (is_long || AssayWarm.changed.include?(path))

        AssayWarm.within(path) && !$LOADED_FEATURES.include?(path)
      end

      # Whether loading took long since another process was left behind, of what it took in all.
      def long?
        since = AssayWarm.now - @last
        since >= LEAST && since >= SHARE * (@took + since)
      end

      # By its name alone, since that is asked of everything.
      def changed_before?(path)
        return false if AssayWarm.changed.empty?

        name = File.basename(path, ".rb")
        AssayWarm.changed.any? { |changed| File.basename(changed, ".rb") == name }
      end

      private

      # What earlier runs loaded: from the first file of the project on, and what comes before it. Libraries come before files of the project, but for
      # those after which they may be something else, and all in the order in which they were loaded.
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

      # Those that are loaded because somebody names a constant of them can come at any time: if they changed, the last one at the very end.
      def following(paths)
        paths.find { |path| !@named.include?(path) || !AssayWarm.changed.include?(path) } || paths.max_by { |path| AssayWarm.changed.index(path) }
      end

      # Libraries that files of the project ask for by now. Nobody waits for it, if it is done after a run.
      def note_order
        return if @is_noted

        @is_noted = true
        known = Seen.of(@program, "load")
        order = @loads.order { |path| Run.ahead?(path) }
        Seen.add_order(@program, @loads, order.select { |path| known.include?(path) || @loads.early.include?(path) })
      end

      def replay_one(path, output)
        is_early = @early[File.basename(path, ".rb")]&.include?(path)
        # With `-w` many warn whenever they come.
        errors = STDERR.stat.size if is_early && !$VERBOSE
        loaded = required(path, is_early)
        says = output.grew? || errors && STDERR.stat.size != errors
        anew(is_early ? "late" : "acts", path) if says || !loaded
      end

      # Another process begins here again, which knows that of the file.
      def anew(kind, path)
        paths = kind == "late" && Seen.of(@program, kind).size >= MOST_LATE ? @early.values.flatten : [path]
        Seen.add(@program, kind, paths)
        @link.say(:anew)
        exit!(0)
      end

      # Whether it can be loaded, or is to be left to runs.
      def required(path, is_early)
        require(path)
        true
      rescue SystemExit, StandardError, ScriptError => e
        # It may be well where the project asks for it.
        return false if is_early

        failed("#{e.message} (SyntaxError)") if e.is_a?(SyntaxError)
        # It may go well in a run, in another order; else the run says it as it would have.
        @notes << "#{path} could not be loaded before a run: #{e.message.lines.first.to_s.chomp} (#{e.class})"
      end

      # The project asks for a library that was loaded before, for the first time. What it does before that may have changed since.
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

      # The folders that earlier runs had, in their order. Gives those that were not there.
      def with_load_path
        known = Seen.of(@program, "path").select { |path| File.directory?(path) }
        added = known - $LOAD_PATH
        $LOAD_PATH.replace((added.empty? ? [] : known) | $LOAD_PATH)
        added
      end
    end
  end
end
