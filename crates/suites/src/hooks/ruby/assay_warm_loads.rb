# frozen_string_literal: true

# Records which files are loaded in which order and by which file, and determines which of them may
# be loaded before the file that requires them. A library that the project requires may be, if
# nothing that the project does before could affect it; a file that is loaded because a constant is
# named may be loaded directly before the file that names it, if that one is also loaded this way.
# Nothing is loaded or stored here.

module AssayWarm
  # See the head of this file.
  class Loads
    # `lines`: the current positions in project files that are being loaded. `kind`: `:asked` (by a
    # line with `require`), `:named` (through a constant), or nil.
    Load = Struct.new(:path, :parent, :lines, :kind, :code)
    ASKS = /\brequire|\bautoload\b|\bload\b/.freeze
    # Any other method called while a file is loaded may affect files that are loaded later.
    HARMLESS = %i[require require_relative autoload expand_path dirname join absolute_path realpath __dir__ unshift push append concat include? any? each
                  map freeze to_s to_sym first last attr_reader attr_writer attr_accessor private public protected module_function private_constant
                  public_constant private_class_method public_class_method alias_method define_method include extend lambda proc nil? empty?
                  start_with? end_with? index uniq sort size length succ min max hash
                  [] == != ! =~ !~ === <=> < > <= >= + - * / % ** << >> & | ~ -@ +@].to_h { |name| [name, true] }.freeze
    SETS = %i[opt_aset opt_aset_with setglobal invokesuper].freeze
    SINGLETON = 1
    SCOPED = 8

    # Libraries that `order` moved before the files that require them.
    attr_reader :early

    # The block is called after each file.
    def initialize(&after)
      @loads = {}
      @texts = {}
      @early = []
      @after = after
      @point = TracePoint.new(:script_compiled) { |point| compiled(point) }
    end

    def watch
      @point.enable
    end

    def watches?
      @point.enabled?
    end

    def stop
      @point.disable
    end

    # Discards the parent's records in a forked process.
    def clear
      @loads.clear
    end

    # Returns whether a library that a project file is requiring now could have been loaded before
    # it; nil if no project file requires it.
    def may_come_first?(path)
      frames = caller_locations(1)
      parent = frames.find { |frame| frame.label == "<top (required)>" }&.absolute_path
      load = Load.new(path, parent, *asked(frames))
      above = above(load, @loads)
      comes_first?(load, above) if above[0]&.code
    end

    # Returns the order in which to load files: of those for which the block returns true, the files
    # that no other one loads, and those that may be loaded before the file that requires them.
    def order
      whole = @loads.each_value.select { |load| yield(load.path) }.to_h { |load| [load.path, load] }
      found = []
      whole.each_value do |load|
        above = above(load, whole)
        next found << load.path if above.empty?

        before = if load.kind == :named && above[0].kind == :named then above[0].path
                 elsif comes_first?(load, above) then above[-1].path
                 end
        next unless (at = before && found.index(before))

        found.insert(at, load.path)
        @early << load.path unless load.kind == :named
      end
      found
    end

    # Returns the project files among these that, directly or through files they load, do something
    # that may affect files loaded later.
    def settling(paths)
      own = paths.select { |path| AssayWarm.within(path) }
      @loads.each_value.select(&:code).each_with_object([]) do |load, found|
        root = load
        root = @loads[root.parent] until root.nil? || own.include?(root.path)
        found << own.delete(root.path) if root && does?(load)
      end
    end

    # Returns the files that were loaded because a constant is named.
    def named(paths)
      paths.select { |path| @loads[path]&.kind == :named }
    end

    private

    def compiled(point)
      code = point.instruction_sequence
      return if point.eval_script || (path = code.absolute_path).nil?

      unless @loads.key?(path)
        own = AssayWarm.within(path)
        frames = caller_locations(2)
        parent = frames.find { |frame| frame.label == "<top (required)>" }&.absolute_path
        @loads[path] = Load.new(path, parent, *asked(frames), own ? code : nil)
      end
      @after&.call
    end

    # Returns the positions in project files, and the kind of request.
    def asked(frames)
      lines = {}
      kind = nil
      is_direct = true
      frames.each do |frame|
        path = frame.absolute_path
        unless path && AssayWarm.within(path)
          is_direct &&= frame.base_label == "require" || frame.path.start_with?(HERE, "<internal:")
          next
        end
        if lines.empty?
          asks = text(path)[frame.lineno - 1].to_s.match?(ASKS)
          kind = asks ? :asked : (:named if is_direct)
        end
        lines[path] = [lines[path].to_i, frame.lineno].max
      end
      [lines, kind]
    end

    # Does not count as a read by the project.
    def text(path)
      @texts[path] ||= File.for_fd(IO.sysopen(path)).read.b.lines
    rescue SystemCallError
      []
    end

    # Returns the files that are being loaded, innermost first.
    def above(load, whole)
      found = []
      while (load = @loads[load.parent])
        found << load if whole[load.path]
      end
      found
    end

    # Returns true for a library that a project file requires before doing anything that could
    # affect it.
    def comes_first?(load, above)
      return false if load.code || load.kind != :asked || above[0].code.nil?

      top = above[-1].path
      constants = []
      @loads.each_value do |other|
        break if other.equal?(load)
        next unless other.code && (other.path == top || below?(other, top))
        return false if does?(other, load.lines[other.path], constants)
      end
      constants.empty? || asks_for(load, constants).nil?
    end

    def below?(load, path)
      while (load = @loads[load.parent])
        return true if load.path == path
      end
      false
    end

    # Returns true if this library, or a file that it loads, checks whether constants of the project
    # are defined.
    def asks_for(load, constants)
      question = /(?:\bdefined\?|\bconst_defined\?|\bconst_get)\W{0,5}(?:#{Regexp.union(constants.map(&:to_s)).source})\b/n
      @loads.each_value.find { |other| (other.path == load.path || below?(other, load.path)) && text(other.path).any? { |line| line.match?(question) } }
    end

    def does?(load, line = nil, constants = [])
      acts?(load.code.to_a, line, constants, true)
    rescue StandardError
      true
    end

    # Returns true if code up to this line does more than require files, build paths and define
    # things; definitions at the top level are added to `constants`.
    def acts?(code, last, constants, is_top)
      # Exception handlers are stored in a separate table.
      return true if code[-2].any? { |_, other| other.is_a?(Array) && acts?(other, last, constants, false) }

      code[-1].each do |each|
        return false if each.is_a?(Integer) && last && each > last
        next unless each.is_a?(Array)
        return true if SETS.include?(each[0])

        case each[0]
        when :setconstant then constants << each[1] if is_top
        # Defines a method on all objects.
        when :definemethod then return true if is_top
        when :defineclass
          return true if foreign?(each[1], each[-1], is_top) || acts?(each[2], last, constants, false)

          constants << each[1] if is_top
        else
          called = each.find { |operand| operand.is_a?(Hash) && operand.key?(:mid) }
          next unless called
          return true unless harmless?(called[:mid])

          block = each.find { |operand| operand.is_a?(Array) && operand[0].is_a?(String) }
          return true if block && acts?(block, last, constants, false)
        end
      end
      false
    end

    def harmless?(name)
      HARMLESS[name] || name.start_with?("core#")
    end

    # Returns true if the opened class or module is, to the extent that this can be determined, not
    # the project's.
    def foreign?(name, flags, is_top)
      return is_top if flags & 7 == SINGLETON
      return true if flags & SCOPED != 0
      return false unless is_top

      file, = Object.const_source_location(name)
      file.nil? || AssayWarm.within(file).nil?
    end
  end
end
