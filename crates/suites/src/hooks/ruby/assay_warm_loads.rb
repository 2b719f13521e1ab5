# frozen_string_literal: true

# Which files are loaded one after the other, who asks for each, and which of them may come before whoever asks. A library that the project requires
# may, where nothing that the project does before could make it another one; a file that is loaded because a constant is named may come right before
# the file that names it, where that one is loaded in this way itself. Nothing is loaded here, and nothing kept.

module AssayWarm
  # See the head of this file.
  class Loads
    # `lines`: where those files of the project stand that are being loaded meanwhile. `kind`: `:asked` (by a line with `require`), `:named` (a constant
    # of it), or nil.
    Load = Struct.new(:path, :parent, :lines, :kind, :code)
    ASKS = /\brequire|\bautoload\b|\bload\b/.freeze
    # All else that a file calls while it is loaded may be heard by what is loaded later.
    HARMLESS = %i[require require_relative autoload expand_path dirname join absolute_path realpath __dir__ unshift push append concat include? any? each
                  map freeze to_s to_sym first last attr_reader attr_writer attr_accessor private public protected module_function private_constant
                  public_constant private_class_method public_class_method alias_method define_method include extend lambda proc nil? empty?
                  start_with? end_with? index uniq sort size length succ min max hash
                  [] == != ! =~ !~ === <=> < > <= >= + - * / % ** << >> & | ~ -@ +@].to_h { |name| [name, true] }.freeze
    SETS = %i[opt_aset opt_aset_with setglobal invokesuper].freeze
    SINGLETON = 1
    SCOPED = 8

    # Libraries that `order` found to come before the files that ask for them.
    attr_reader :early

    # A block is called after each file.
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

    # What a process that was forked loaded is its own.
    def clear
      @loads.clear
    end

    # Whether a library, of which a file of the project asks now, may have come before; nil if none does.
    def may_come_first?(path)
      frames = caller_locations(1)
      parent = frames.find { |frame| frame.label == "<top (required)>" }&.absolute_path
      load = Load.new(path, parent, *asked(frames))
      above = above(load, @loads)
      comes_first?(load, above) if above[0]&.code
    end

    # In the order in which they are to be loaded: of those that the block says to be loaded as a whole, those that no other one loads, and
    # those that may come before whoever loads them.
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

    # Of these files those of the project that do something, they or what they load, that what is loaded later may hear.
    def settling(paths)
      own = paths.select { |path| AssayWarm.within(path) }
      @loads.each_value.select(&:code).each_with_object([]) do |load, found|
        root = load
        root = @loads[root.parent] until root.nil? || own.include?(root.path)
        found << own.delete(root.path) if root && does?(load)
      end
    end

    # Those that were loaded because a constant is named.
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

    # Where the project's files stand, and how they asked.
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

    # Not as the project's own reading.
    def text(path)
      @texts[path] ||= File.for_fd(IO.sysopen(path)).read.b.lines
    rescue SystemCallError
      []
    end

    # Those that are loaded meanwhile, the innermost first.
    def above(load, whole)
      found = []
      while (load = @loads[load.parent])
        found << load if whole[load.path]
      end
      found
    end

    # A library, of which a file of the project asks, before anything was done that it could hear.
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

    # Whether this library, or what it loads, asks whether constants of the project are there.
    def asks_for(load, constants)
      question = /(?:\bdefined\?|\bconst_defined\?|\bconst_get)\W{0,5}(?:#{Regexp.union(constants.map(&:to_s)).source})\b/n
      @loads.each_value.find { |other| (other.path == load.path || below?(other, load.path)) && text(other.path).any? { |line| line.match?(question) } }
    end

    def does?(load, line = nil, constants = [])
      acts?(load.code.to_a, line, constants, true)
    rescue StandardError
      true
    end

    # Whether code does more than to require, to name paths and to define things, up to this line; what it defines at the top is added to `constants`.
    def acts?(code, last, constants, is_top)
      # What is done where something is raised stands beside it.
      return true if code[-2].any? { |_, other| other.is_a?(Array) && acts?(other, last, constants, false) }

      code[-1].each do |each|
        return false if each.is_a?(Integer) && last && each > last
        next unless each.is_a?(Array)
        return true if SETS.include?(each[0])

        case each[0]
        when :setconstant then constants << each[1] if is_top
        # On all objects.
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

    # A class or module that is opened is not the project's, as far as that can be seen.
    def foreign?(name, flags, is_top)
      return is_top if flags & 7 == SINGLETON
      return true if flags & SCOPED != 0
      return false unless is_top

      file, = Object.const_source_location(name)
      file.nil? || AssayWarm.within(file).nil?
    end
  end
end
