# frozen_string_literal: true

# With ASSAY_TESTS_COVERAGE: records which functions and blocks of the project each test enters,
# which files it loads and opens, which directories it lists, and which programs it starts. Loaded
# before any project code. The format of events and the start of tests are handled elsewhere.
#
# Ruby's own `Coverage` returns all lines of all files on each query, and supports only one user,
# which is often the suite itself (SimpleCov). Here each file has its own trace point for calls that
# is enabled only for that file's code: the code of gems costs nothing, and other users of trace
# points do not notice. The trace point is implemented in C (c/marks.c) if the library exists, and
# otherwise in Ruby.

# Records marks in Ruby, with the same methods as the C library: a mark is a file number in the
# upper bits and a line in the lower ones.
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

    # The code of the main program is not accessible.
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

# See the head of this file. It is self-contained, since processes that are kept warm use it without
# the other hooks.
module AssayCoverage
  # Directories with these names contain third-party code.
  OTHERS = %r{/(?:site-packages|dist-packages|node_modules|\.venv|venv|vendor/bundle|gems|\.git)/}.freeze
  SPECIAL = /["\\\u0000-\u001f\u007f]/.freeze
  EXPAND = File.method(:expand_path)
  # The original method, before it is wrapped.
  EXISTS = File.method(:exist?)
  # Maximum number of evaluated texts. They count as code of the file that they name; each keeps its
  # code alive once it is watched.
  MOST_EVALUATED = 5_000
  MOST_WORDS = 64
  # Commands that Ruby passes to the shell.
  SHELL = /[*?{}\[\]<>()~&|\\$;'`"\n#=%]|\A\s*(?:cd|exec|eval|export|set|source|\.|test|trap|ulimit|umask|unset|wait)\b/.freeze
  WILDCARD = /[*?\[{]/.freeze

  # A group of tests: the marks and notes of its setup.
  Group = Struct.new(:marks, :notes)

  @files = {}
  @sources = []
  @announced = 0
  # Files loaded since the last report; a forked process reports all previously loaded files again.
  @loads = []
  @loaded = []
  @told_marks = {}
  @points = []
  # Code that is not watched yet, with file numbers.
  @unarmed = []
  # Files that were loaded or read, in order, for `used_since`.
  @used = []
  @evaluated = 0
  # By kind, each note with the number of its last occurrence.
  @notes = {opens: {}, lists: {}, spawns: {}, loads: {}}
  @noted = 0
  @told_notes = {}
  @outside = {}
  @outside_marks = []
  # Files loaded since the first test or group began, by their paths.
  @late = {}
  @running = 0
  @groups = []
  @setting_up = nil
  @written_to = {}
  @shared = nil

  class << self
    # Begins to watch files that are loaded from below this directory. Without `arms`, only files
    # are recorded until tests are requested.
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

    # Sets the directory of the project's files, and that of these hooks.
    def top(root, folder)
      @roots = ["#{root.chomp("/")}/", "#{(File.realpath(root) rescue root).chomp("/")}/"].uniq.freeze # rubocop:disable Style/RescueModifier
      @root = @roots[0]
      @folder = "#{folder}/"
    end

    # Called when coverage of tests is requested, possibly after the project was loaded.
    def ask(root, folder)
      watch(root, folder)
      @asked = @arms = true
      @rests = false
      @unarmed.shift(@unarmed.size).each { |number, code| arm(number, code) }
    end

    # Stops recording use until tests are requested.
    def rests
      @rests = true
    end

    def asked?
      @asked
    end

    # Returns the project files that were loaded or read, starting at this number, and the
    # directories that were listed, which end in `/`.
    def used_since(number)
      @used[number..-1].to_h { |path| [path, true] }
    end

    # Called before the main program is executed by something other than Ruby.
    def main_program_is(code)
      return unless @root && (path = within(EXPAND.call(code.path)))

      @main = true
      arm(loaded_now(path), code)
    end

    # The main program was loaded before the hooks: its code is found through the callers of running
    # code.
    def main_program
      return if @main || (path = within(EXPAND.call($0))).nil?

      code = @marks.main_code
      own = code && code.path == $0 ? [code] : code_of_classes(EXPAND.call($0))
      return if own.empty?

      @main = true
      number = loaded_now(path)
      own.each { |each| arm(number, each) }
    end

    # Returns the path relative to the project's top, or nil.
    def within(path)
      root = @roots.find { |each| path.start_with?(each) }
      return if root.nil? || path.start_with?(@folder) || path.index(OTHERS, root.size - 1)

      path[root.size..-1]
    end

    # Called when a test begins. Returns the argument for `test_ends`.
    def test_begins
      @running += 1
      return [@marks.begin(false), @noted] if @running > 1

      set_up
      outside
      @begun = true
      @marks.begin(true)
      @noted = 0
      @notes.each_value { |noted| noted.clear unless noted.empty? }
      @groups.each { |group| again(group) }
      [0, 0]
    end

    # Returns the members of the test's line.
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

    # Called before a group of tests is set up.
    def group_begins
      set_up
      outside if @running.zero?
      @begun = true
      @groups << (@setting_up = Group.new("", nil))
    end

    def group_set_up
      set_up
    end

    # Called after its tests. If those run in threads, it is unknown which of them the setup was
    # for.
    def group_ends
      group = @groups.pop
      group_is_everybodys(group) if group && (group.equal?(@setting_up) || @running.positive? || @threads)
      @setting_up = nil
    end

    def threads
      @threads = true
    end

    # Returns what happened outside of tests since the last call: the lines of new sources, followed
    # by one more line if anything happened.
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

    # Returns the lines of files that were numbered since the last call.
    def sources
      return "" if @announced == @sources.size

      lines = @sources[@announced..-1].map.with_index(@announced) { |path, number| "{\"source\":#{json(path)},\"number\":#{number}}\n" }
      @announced = @sources.size
      lines.join
    end

    # Called in a forked child: within a test its marks belong to the test; otherwise it reports
    # everything again.
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

    # Called before a test forks: the child's marks are transferred through this file.
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

    # Sends a mark or note from a child to its parent.
    def tell(kind, what, line = nil)
      what = @sources[what] if kind == "b"
      @shared.syswrite("#{[kind, what, line].join("\0")}\n".b) unless what.include?("\n")
    rescue SystemCallError, IOError
      nil
    end

    # Records a note for the running test, or outside of tests.
    def note(kind, note)
      is_new = !@notes[kind].key?(note)
      @notes[kind][note] = (@noted += 1)
      return if kind == :loads

      tell(kind.to_s, note) if @child
      # A file is loaded once: later tests depend on what it read at that time as well.
      outside_note(kind, note) if is_new && !@late.empty? && loading?
    end

    # A file is opened for reading, or a directory is listed.
    def path_used(kind, path, below = nil)
      return if @rests

      path = path.to_path if path.respond_to?(:to_path)
      return unless path.is_a?(String)

      path = EXPAND.call(path) unless path.start_with?("/") && !path.include?("/.") && !path.include?("//")
      return unless path.start_with?(*@roots) || "#{path}/".start_with?(*@roots)

      own = path.size < @root.size && "#{path}/".start_with?(*@roots) ? "." : within(path)
      # Frameworks show lines of executed code after a test.
      return if own.nil? || kind == :opens && (@written_to[own] || @running.zero? && @files.key?(own))

      @used << (kind == :opens ? own : "#{own}#{below}/") unless @asked
      note(kind, json("#{own}#{below}"))
    rescue ArgumentError, EncodingError
      nil
    end

    # A test does not depend on files that it has written itself.
    def path_written(path)
      path = path.to_path if path.respond_to?(:to_path)
      return unless path.is_a?(String)

      own = within(EXPAND.call(path))
      @written_to[own] = true if own && !@notes[:opens].key?(json(own)) && !EXISTS.call(path)
    rescue ArgumentError, EncodingError
      nil
    end

    # Before Ruby 3.1, processes forked by a test cannot be observed.
    def forks_unseen
      @unseen ||= "a process that it forked" if @running.positive? && !@child
    end

    # A program is started, with the arguments of `spawn`.
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

    # Returns the directory of a program; nil for the top of the project.
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

    # A text was compiled and is executed next.
    def compiled(point)
      return if @rests

      code = point.instruction_sequence
      path = (code.absolute_path || code.path).to_s
      path = EXPAND.call(path) unless path.start_with?("/", "(", "<")
      return unless path.start_with?(*@roots) && (own = within(path))

      evaluated = point.eval_script
      unless evaluated
        # A file that is loaded repeatedly counts as evaluated text.
        return armed_all if @files.key?(own) && (@evaluated += 1) > MOST_EVALUATED

        return arm(loaded_now(own), code)
      end
      return armed_all if (@evaluated += 1) > MOST_EVALUATED

      # The lines of templates may be those of a file that was opened.
      arm(number_of(own), code) if @files.key?(own) || EXISTS.call(path)
    rescue StandardError
      nil
    end

    # From now on the coverage of all tests is incomplete.
    def armed_all
      @armed_all = true
      @unseen = "more than #{MOST_EVALUATED} texts were evaluated as code of the project"
    end

    # Returns true while a late file is being loaded: its top level is on the stack.
    def loading?
      caller_locations(2).any? { |place| place.label == "<top (required)>" && @late.key?(place.absolute_path || place.path) }
    end

    # The top level of a file is executed.
    def loaded_now(path)
      number = number_of(path)
      @roots.each { |root| @late["#{root}#{path}"] = true } if @begun
      note(:loads, number) unless @running.zero?
      tell("loads", path) if @child
      @used << path unless @asked
      # A file loaded by a test (autoload, a late require) stays loaded for later tests, whose use
      # of its constants is not observed.
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

    # Without the library: returns the methods and blocks of all current classes.
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

    # Assigns what was recorded to the group that is being set up.
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

    # Assigns what was recorded to the code outside of tests.
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

    # Reads what children have reported.
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
