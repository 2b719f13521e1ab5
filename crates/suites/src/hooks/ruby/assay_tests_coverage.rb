# frozen_string_literal: true

# With ASSAY_TESTS_COVERAGE: which functions and blocks of the project each test enters, which files it loads and opens, which directories it lists,
# which programs it starts. Loaded before anything of the project is. What a line of events is, and when a test begins, does not belong here.
#
# Ruby's own `Coverage` gives all lines of all files when asked, and takes one user: suites have theirs (SimpleCov). Here each file has a trace
# point of its own for calls, armed on that file's code alone: so the code of gems costs nothing, and nobody else notices. It is one in C
# (c/marks.c) where the library is there, else one in Ruby.

# Ruby's own way to note marks, with the methods of the library in C: a mark is the number of a file above a line.
module AssayMarksInRuby
  @epoch = 1
  @marks = []
  @seen = {}
  @told = false

  class << self
    def point(number)
      seen = (@seen[number] ||= {})
      TracePoint.new(:call, :b_call) do |point|
        line = point.lineno
        mark(number, line, seen) unless seen[line] == @epoch
      end
    end

    def begin(clear)
      @marks.clear if clear
      @epoch += 1
      @marks.size
    end

    def used
      @marks.size
    end

    def again(taken)
      taken.unpack("Q*").each do |mark|
        number, line = mark.divmod(1 << 32)
        seen = (@seen[number] ||= {})
        mark(number, line, seen) unless seen[line] == @epoch
      end
    end

    def taken(from)
      @marks[from..-1].pack("Q*")
    end

    def blocks(from)
      files = @marks[from..-1].uniq.sort.group_by { |mark| mark >> 32 }
      files.map { |number, marks| "\"#{number}\":[#{marks.map { |mark| mark & 0xffffffff }.join(",")}]" }.join(",")
    end

    def tell
      @told = true
    end

    # The main program's code can't be had.
    def main_code
      nil
    end

    private

    def mark(number, line, seen)
      seen[line] = @epoch
      @marks << (number << 32 | line)
      AssayMarks.tell_mark(number, line) if @told
    end
  end
end

# See the head of this file. It stands for itself, since a process that is kept warm has it without the other hooks.
module AssayCoverage
  # What lies below such a folder is others' code.
  OTHERS = %r{/(?:site-packages|dist-packages|node_modules|\.venv|venv|vendor/bundle|gems|\.git)/}.freeze
  SPECIAL = /["\\\u0000-\u001f\u007f]/.freeze
  EXPAND = File.method(:expand_path)
  # As it is before it is watched.
  EXISTS = File.method(:exist?)
  # Evaluated texts are code of the file that they name; each keeps its code alive once it is watched.
  MOST_EVALUATED = 5_000
  MOST_WORDS = 64
  # What Ruby leaves to the shell.
  SHELL = /[*?{}\[\]<>()~&|\\$;'`"\n#=%]|\A\s*(?:cd|exec|eval|export|set|source|\.|test|trap|ulimit|umask|unset|wait)\b/.freeze
  WILDCARD = /[*?\[{]/.freeze

  # A group of tests: what was done for it, once it is set up.
  Group = Struct.new(:marks, :notes)

  @files = {}
  @sources = []
  @announced = 0
  # Loaded since that was told; all that was loaded before is told again by a forked process.
  @loads = []
  @loaded = []
  @told_marks = {}
  @points = []
  # Code that is not watched yet, with the numbers of files.
  @unarmed = []
  # What was loaded or read, in its order, for whoever wants to know it.
  @used = []
  @evaluated = 0
  # By kind, each with the number of when it was noted last.
  @notes = {opens: {}, lists: {}, spawns: {}, loads: {}}
  @noted = 0
  @told_notes = {}
  @outside = {}
  @outside_marks = []
  @running = 0
  @groups = []
  @setting_up = nil
  @written_to = {}
  @shared = nil

  class << self
    # Begins to watch what is loaded from below this folder. Without `arms` only files are noted, until somebody asks for tests.
    def watch(root, folder, arms: true)
      return if @marks

      @arms = arms
      top(root, folder)
      begin
        require "#{folder}/assay_marks.so"
      rescue LoadError
        Object.const_set(:AssayMarks, AssayMarksInRuby)
      end
      @marks = ::AssayMarks
      ::AssayMarks.define_singleton_method(:tell_mark) { |number, line| AssayCoverage.tell("b", number, line) }
      @compiled = TracePoint.new(:script_compiled) { |point| compiled(point) }
      @compiled.enable
      load("#{folder}/assay_tests_opens.rb")
      Intercepted.put_in
    end

    # Whose files are the project's, and which are these hooks'.
    def top(root, folder)
      @roots = ["#{root.chomp("/")}/", "#{(File.realpath(root) rescue root).chomp("/")}/"].uniq.freeze # rubocop:disable Style/RescueModifier
      @root = @roots[0]
      @folder = "#{folder}/"
    end

    # Tests are asked for, perhaps in a process that has loaded the project already.
    def ask(root, folder)
      watch(root, folder)
      @asked = @arms = true
      @rests = false
      @unarmed.shift(@unarmed.size).each { |number, code| arm(number, code) }
    end

    # What is used from now on nobody wants to know, unless tests are asked for.
    def rests
      @rests = true
    end

    def asked?
      @asked
    end

    # Files of the project that were loaded or read, from the one of this number on; and folders that were listed, which end in `/`.
    def used_since(number)
      @used[number..-1].to_h { |path| [path, true] }
    end

    # The main program is executed next, by somebody else than Ruby.
    def main_program_is(code)
      return unless @root && (path = within(EXPAND.call(code.path)))

      @main = true
      arm(loaded_now(path), code)
    end

    # The main program was there before: its code is found by where all that runs was called.
    def main_program
      return if @main || (path = within(EXPAND.call($0))).nil?

      code = @marks.main_code
      own = code && code.path == $0 ? [code] : code_of_classes(EXPAND.call($0))
      return if own.empty?

      @main = true
      number = loaded_now(path)
      own.each { |each| arm(number, each) }
    end

    # The path from the project's top, or nil.
    def within(path)
      root = @roots.find { |each| path.start_with?(each) }
      return if root.nil? || path.start_with?(@folder) || path.index(OTHERS, root.size - 1)

      path[root.size..-1]
    end

    # A test begins. Gives what `test_ends` is given.
    def test_begins
      @running += 1
      return [@marks.begin(false), @noted] if @running > 1

      set_up
      outside
      @marks.begin(true)
      @noted = 0
      @notes.each_value { |noted| noted.clear unless noted.empty? }
      @groups.each { |group| again(group) }
      [0, 0]
    end

    # Gives the members of its line.
    def test_ends(begun)
      hear if @forks
      from, noted = begun
      blocks = @marks.blocks(from)
      blocks = ",\"blocks\":{#{blocks}}" unless blocks.empty?
      more = @noted == noted ? nil : members(@notes, noted)
      blocks = "#{blocks},\"unseen\":#{json(@unseen)}" if @unseen
      @running -= 1
      if @running.zero?
        @marks.begin(true)
        @noted = 0
        @notes.each_value(&:clear) if more
        @unseen = nil unless @armed_all
      end
      more ? "#{blocks}#{more}" : blocks
    end

    # A group of tests is set up now.
    def group_begins
      set_up
      outside if @running.zero?
      @groups << (@setting_up = Group.new("", nil))
    end

    def group_set_up
      set_up
    end

    # After its tests. Where those run in threads, nobody knows which of them this was done for.
    def group_ends
      group = @groups.pop
      group_is_everybodys(group) if group && (group.equal?(@setting_up) || @running.positive? || @threads)
      @setting_up = nil
    end

    def threads
      @threads = true
    end

    # What happened outside of tests since this was asked, as the lines of sources and one more; nil where there was nothing.
    def news
      outside if @running.zero? && !@setting_up
      lines = sources
      return lines if @loads.empty? && @outside_marks.empty? && @outside.empty?

      blocks = @outside_marks.uniq.sort.group_by { |mark| mark >> 32 }
      blocks = blocks.map { |number, marks| "\"#{number}\":[#{marks.map { |mark| mark & 0xffffffff }.join(",")}]" }
      blocks = ",\"blocks\":{#{blocks.join(",")}}" unless blocks.empty?
      rest = @outside.map { |kind, noted| ",\"#{kind}\":[#{noted.join(",")}]" }.join
      lines = "#{lines}{\"loaded\":[#{@loads.uniq.join(",")}]#{blocks unless blocks.empty?}#{rest}}\n"
      @loads.clear
      @outside_marks.clear
      @outside.clear
      lines
    end

    # The lines of files that have got a number since.
    def sources
      return "" if @announced == @sources.size

      lines = @sources[@announced..-1].map.with_index(@announced) { |path, number| "{\"source\":#{json(path)},\"number\":#{number}}\n" }
      @announced = @sources.size
      lines.join
    end

    # This process is a child now: within a test one whose marks are the test's, else one that tells all anew.
    def forked(in_test)
      if in_test
        return unless @shared

        @child = true
        @marks.tell
      else
        @announced = 0
        @loads = @loaded.dup
        @outside_marks = @told_marks.keys
        @outside = @told_notes.group_by { |(kind, _), _| kind }.transform_values { |notes| notes.map { |(_, note), _| note } }
        @shared = nil
        @running = 0
      end
    end

    # Before a test forks: what the child marks comes through here.
    def forks(folder)
      return if @running.zero?

      @forks = true
      return if @shared

      path = "#{folder}/#{Process.pid}.forks"
      @shared = File.for_fd(IO.sysopen(path, IO::RDWR | IO::CREAT | IO::EXCL | IO::APPEND, 0o600), "r+b")
      @shared_read = 0
      File.unlink(path)
    rescue SystemCallError
      @shared = nil
    end

    # A child says to its parent what it marked or noted.
    def tell(kind, what, line = nil)
      what = @sources[what] if kind == "b"
      @shared.syswrite("#{[kind, what, line].join("\0")}\n".b) unless what.include?("\n")
    rescue SystemCallError, IOError
      nil
    end

    # Notes for the test that runs, or for whatever happens outside.
    def note(kind, note)
      @notes[kind][note] = (@noted += 1)
      tell(kind.to_s, note) if @child && kind != :loads
    end

    # A file is opened for reading, or a directory listed.
    def path_used(kind, path, below = nil)
      return if @rests

      path = path.to_path if path.respond_to?(:to_path)
      return unless path.is_a?(String)

      path = EXPAND.call(path) unless path.start_with?("/") && !path.include?("/.") && !path.include?("//")
      return unless path.start_with?(*@roots) || "#{path}/".start_with?(*@roots)

      own = path.size < @root.size && "#{path}/".start_with?(*@roots) ? "." : within(path)
      # Frameworks show lines of the code that they ran, when a test is over.
      return if own.nil? || kind == :opens && (@written_to[own] || @running.zero? && @files.key?(own))

      @used << (kind == :opens ? own : "#{own}#{below}/") unless @asked
      note(kind, json("#{own}#{below}"))
    rescue ArgumentError, EncodingError
      nil
    end

    # What a test reads that it has written itself is nothing that it depends on.
    def path_written(path)
      path = path.to_path if path.respond_to?(:to_path)
      return unless path.is_a?(String)

      own = within(EXPAND.call(path))
      @written_to[own] = true if own && !@notes[:opens].key?(json(own)) && !EXISTS.call(path)
    rescue ArgumentError, EncodingError
      nil
    end

    # Before Ruby 3.1 nobody tells what a process does that a test forks.
    def forks_unseen
      @unseen ||= "a process that it forked" if @running.positive? && !@child
    end

    # A program is started, by the arguments of `spawn`.
    def started(arguments)
      return if @rests

      place = place_of(arguments)
      words = arguments.reject { |argument| argument.is_a?(Hash) || argument.nil? }
      words = words.flat_map { |word| word.is_a?(Array) ? word.first(1) : [word] }.grep(String)
      words = words[0].match?(SHELL) ? ["sh", "-c", words[0]] : words[0].split if words.size == 1
      return if words.empty?

      text = "[#{words.first(MOST_WORDS).map { |word| json(word) }.join(",")}]"
      more = "#{",\"in\":#{json(place)}" if place}#{",\"cut\":true" if words.size > MOST_WORDS}"
      note(:spawns, more.empty? ? text : "{\"words\":#{text}#{more}}")
    rescue ArgumentError, EncodingError
      nil
    end

    # The directory of a program; nil: the top of the project.
    def place_of(arguments)
      given = arguments.grep(Hash).filter_map { |options| options[:chdir] }.last
      given = given.to_path if given.respond_to?(:to_path)
      place = given.is_a?(String) ? EXPAND.call(given) : Dir.pwd
      "#{place}/".start_with?(*@roots) && @roots.include?("#{place}/") ? nil : place
    rescue SystemCallError
      "/"
    end

    def json(text)
      utf8 = text.encoding == Encoding::UTF_8 || text.encoding == Encoding::US_ASCII
      text = utf8 ? text : text.dup.force_encoding(Encoding::UTF_8)
      text = text.scrub unless text.valid_encoding?
      text.match?(SPECIAL) ? "\"#{text.gsub(SPECIAL) { |special| format("\\u%04x", special.ord) }}\"" : "\"#{text}\""
    end

    private

    # A text was compiled, and is executed next.
    def compiled(point)
      return if @rests

      code = point.instruction_sequence
      path = (code.absolute_path || code.path).to_s
      path = EXPAND.call(path) unless path.start_with?("/", "(", "<")
      return unless path.start_with?(*@roots) && (own = within(path))

      evaluated = point.eval_script
      unless evaluated
        # One that is loaded again and again counts as text.
        return armed_all if @files.key?(own) && (@evaluated += 1) > MOST_EVALUATED

        return arm(loaded_now(own), code)
      end
      return armed_all if (@evaluated += 1) > MOST_EVALUATED

      # The lines of templates are those of a file that was opened, perhaps.
      arm(number_of(own), code) if @files.key?(own) || EXISTS.call(path)
    rescue StandardError
      nil
    end

    # From now on something is missing in all tests.
    def armed_all
      @armed_all = true
      @unseen = "more than #{MOST_EVALUATED} texts were evaluated as code of the project"
    end

    # Its top is executed.
    def loaded_now(path)
      number = number_of(path)
      note(:loads, number) unless @running.zero?
      tell("loads", path) if @child
      @used << path unless @asked
      # What a test loads (autoload, a late require) stays for the tests after it, whose use of its constants nobody sees.
      @loads << number
      @loaded << number
      number
    end

    def number_of(path)
      @files[path] ||= begin
        @sources << path
        @sources.size - 1
      end
    end

    def arm(number, code)
      return @unarmed << [number, code] unless @arms

      @points << @marks.point(number).tap { |point| point.enable(target: code) }
    rescue ArgumentError # There is nothing to be entered.
      nil
    end

    # Without the library: methods and blocks that classes have by now.
    def code_of_classes(path)
      ObjectSpace.each_object(Module).flat_map do |owner|
        Intercepted::METHODS.bind(owner).call(false).filter_map do |name|
          method = Intercepted::METHOD.bind(owner).call(name)
          RubyVM::InstructionSequence.of(method) if method.source_location && EXPAND.call(method.source_location[0]) == path
        rescue NameError, TypeError
          nil
        end
      end.compact
    end

    # Takes what was done for the group that is being set up.
    def set_up
      return unless (group = @setting_up)

      group.marks = @marks.taken(0)
      group.notes = @notes.transform_values(&:keys) unless @noted.zero?
      @setting_up = nil
      clear
    end

    def clear
      @marks.begin(true)
      @noted = 0
      @notes.each_value(&:clear)
    end

    def again(group)
      @marks.again(group.marks) unless group.marks.empty?
      group.notes&.each { |kind, notes| notes.each { |note| note(kind, note) } }
    end

    def group_is_everybodys(group)
      set_up
      group.marks.unpack("Q*").each { |mark| outside_mark(mark) }
      group.notes&.each { |kind, notes| notes.each { |note| outside_note(kind, note) } }
    end

    # Takes what happened outside of tests.
    def outside
      @marks.taken(0).unpack("Q*").each { |mark| outside_mark(mark) } unless @marks.used.zero?
      @notes.each { |kind, notes| notes.each_key { |note| outside_note(kind, note) } } unless @noted.zero?
      clear
    end

    def outside_mark(mark)
      return if @told_marks[mark]

      @told_marks[mark] = true
      @outside_marks << mark
    end

    def outside_note(kind, note)
      return @loads << note if kind == :loads
      return if @told_notes[[kind, note]]

      @told_notes[[kind, note]] = true
      (@outside[kind] ||= []) << note
    end

    def members(notes, since)
      notes.map do |kind, noted|
        next if noted.empty?

        some = since.zero? ? noted.keys : noted.select { |_, at| at > since }.keys
        ",\"#{kind}\":[#{some.join(",")}]" unless some.empty?
      end.join
    end

    # What children said since.
    def hear
      @forks = false
      size = @shared ? @shared.size - @shared_read : 0
      return if size.zero?

      said = @shared.pread(size, @shared_read)
      whole = said.rindex("\n") or return
      @shared_read += whole + 1
      said[0..whole].force_encoding(Encoding::UTF_8).each_line(chomp: true) do |line|
        kind, what, number = line.split("\0")
        case kind
        when "b" then @marks.again([(number_of(what) << 32) | number.to_i].pack("Q"))
        when "loads" then note(:loads, number_of(what))
        else note(kind.to_sym, what)
        end
      end
    rescue SystemCallError, IOError
      nil
    end
  end
end
