# frozen_string_literal: true

# Writes the events of a process that runs tests: one file per process, lines of JSON, each written
# as a whole. It contains nothing specific to a framework.
#
# From Ruby 3.1 on, lines go to a memory-mapped file (the tail), so that a test costs no system call
# and the lines survive if the process is killed; the tail is flushed to the events file when it is
# full, and at the end. In older versions the line of a finished test is written together with the
# next one, so that a test costs one write; it is written immediately if the test's process was
# forked, before code of the suite runs, and at the end. Nothing here may raise an exception into a
# suite: `guarded` records the problem and continues.

module AssayTests
  # A running test. `faults` and `returned` are for the framework-specific part.
  class Running
    attr_reader :name, :json, :group_json, :place, :thread, :begin, :gc, :runs, :objects, :counts
    attr_accessor :setup_end, :body_end, :faults, :returned, :overlapped, :covers, :setup_gc, :body_gc, :retries, :again

    def initialize(name, group_json, place)
      @name = name
      @json = AssayTests.json(name)
      @group_json = group_json
      @place = place
      @thread = Thread.current
      @overlapped = false
      if CAUSES
        @runs = GC_COUNT.call
        @objects = GC_STAT.call(:total_allocated_objects)
        @counts = COUNTS.dup
      end
      @gc = GC_TIME ? GC_TIME.call : 0
      @begin = CLOCK.call(MONOTONIC, :nanosecond)
    end
  end

  PID = Process.method(:pid)
  GC_TIME = (GC.method(:total_time) if GC.respond_to?(:total_time) && GC.measure_total_time)
  GC_COUNT = GC.method(:count)
  GC_STAT = GC.method(:stat)
  # From Ruby 3.1 on every fork calls a single method; in older versions processes are distinguished
  # by their IDs.
  FORKS_ARE_SEEN = Process.respond_to?(:_fork)
  CAUSES = ENV["ASSAY_TESTS_CAUSES"] == "1"
  # True if frames for samplers are requested; see assay_tests_frames.rb.
  FRAMES = ENV["ASSAY_TESTS_FRAMES"] == "1"
  # True if usage by tests is recorded; see assay_tests_coverage.rb.
  COVERAGE = defined?(::AssayCoverage) ? ::AssayCoverage.asked? : false
  # Counts of the process so far; see assay_tests_causes.rb.
  COUNTS = Array.new(10, 0) # rubocop:disable Style/MutableConstant
  LOG_LINES, SQL, SQL_TIME, REDIS, REDIS_TIME, SLEEPS, SLEEP_TIME, HTTP, HTTP_TIME, PROCESSES = *0..9
  IO_CLASS = IO
  FILE_CLASS = File
  # The class for memory-mapped files; referring to it warns that it is experimental.
  MAPS =
    if IO.const_defined?(:Buffer)
      begin
        warned = Warning[:experimental]
        Warning[:experimental] = false
        IO::Buffer.method(:map).tap { |maps| File.open(__FILE__) { |file| maps.call(file, 1, 0, IO::Buffer::READONLY) } }
      rescue StandardError, NotImplementedError
        nil
      ensure
        Warning[:experimental] = warned
      end
    end
  OPEN = IO.method(:sysopen)
  UNLINK = File.method(:unlink)
  MAIN_THREAD = Thread.main
  # High descriptor numbers: a file that the suite opens after closing all descriptors must not be
  # mistaken for the hooks' own file.
  HIGH = [900, 200, 64].freeze
  # Maximum length of a message in characters, and minimum duration of a span in nanoseconds.
  LONGEST_MESSAGE = 1_000
  SHORTEST_SPAN = 50_000
  # Sizes in bytes of the tail and of its head, and the position in the head of the running test's
  # phase. The head begins with the offset of the tail's lines in the events file.
  TAIL = 1 << 16
  HEAD = 20
  PHASE = 18
  IN_SETUP, IN_BODY, IN_TEARDOWN = *"sbt".bytes
  # Prefix of a name that selects all tests of a file.
  WHOLE_FILE = "file:"
  SPECIAL = /["\\\u0000-\u001f\u007f]/.freeze
  ESCAPES = {"\"" => "\\\"", "\\" => "\\\\", "\n" => "\\n", "\r" => "\\r", "\t" => "\\t"}.freeze

  @pid = PID.call
  @parent = Process.ppid
  @muted = false
  @forked = false
  @io = nil
  @path = nil
  # Lines to be written, without a tail.
  @pending = []
  @tail = nil
  @tail_at = HEAD
  @tail_wanted = true
  @lock = Mutex.new
  @written = 0
  # Other tests may begin during an iteration: iterate over `values`, which is taken atomically.
  @tests = {}.compare_by_identity
  @threads = {}.compare_by_identity
  @places = {}
  @groups = {}
  @load_end = nil
  @failures = 0

  class << self
    # The running tests, keyed by the framework's object.
    attr_reader :tests

    def now
      CLOCK.call(MONOTONIC, :nanosecond)
    end

    # The names in ASSAY_TESTS_ONLY, or nil.
    def only
      return @only if defined?(@only)

      from = ENV["ASSAY_TESTS_ONLY"].to_s
      @only = from.start_with?("path:") ? File.readlines(from.delete_prefix("path:"), chomp: true, encoding: "UTF-8").reject(&:empty?) : nil
    end

    # The seed in ASSAY_TESTS_ORDER, or nil.
    def order
      ENV["ASSAY_TESTS_ORDER"].to_s[/\A\d+\z/]&.to_i
    end

    # Runs a part of the hooks; exceptions are recorded and not passed to the suite.
    def guarded
      yield
    rescue StandardError, NotImplementedError => e
      begin
        @failures += 1
        emit(%({"problem":#{json("#{e.class}: #{e.message} (#{e.backtrace&.first})")},"at":#{now}e-9}\n)) if @failures <= 20
      rescue StandardError
        nil
      end
      nil
    end

    # Prepends methods with this source, using a file name in the framework's own directory, which
    # backtraces omit.
    def plant(target, source, folder)
      methods = Module.new
      methods.module_eval(source, "#{folder}/assay_tests.rb", 1)
      target.prepend(methods)
      methods
    end

    # Returns the source of a method that wraps a framework's own, for `plant`; `ends` is evaluated
    # only if `begins` returned true.
    def around(method, begins, ends)
      <<~RUBY
        def #{method}
          return super unless #{begins}

          begin
            super
          ensure
            #{ends}
          end
        end
      RUBY
    end

    # Like `around`, for a span.
    def spanning(method, begins)
      <<~RUBY
        def #{method}
          span = #{begins}
          super
        ensure
          ::AssayTests.span_ended(span)
        end
      RUBY
    end

    # The framework begins to run the loaded tests.
    def run_begins(framework, version)
      return if inactive?

      @framework ||= [framework, version]
      return if @load_end

      @load_end = now
      AssayTests.watch_causes if CAUSES
      AssayCoverage.main_program if COVERAGE
      span("load", nil, LOADED, @load_end)
    end

    # A test begins. Returns nil if it does not belong to this process but to another, running test.
    def begin_test(key, name, group, place)
      return if inactive? || (!@tests.empty? && nested?)

      AssayTests.look_for_libraries if CAUSES
      within unless @within
      # Before the test's clock starts.
      @lock.synchronize { prepare if @tail_wanted } if @tail_wanted
      covers = covers_begin if COVERAGE
      test = Running.new(name, @groups[group] ||= json(group), place)
      unless @tests.empty?
        test.overlapped = true
        @tests.values.each { |other| other.overlapped = true }
      end
      @tests[key] = test
      test.covers = covers
      # Frameworks may run within an `exit` handler themselves.
      @raised = $!
      emit(%({"start":#{test.json},"at":#{test.begin}e-9}\n))
      @tail ? mark(IN_SETUP) : flush
      test
    end

    # The test's setup ended.
    def setup_ended(key)
      return unless (test = @tests[key])

      mark(IN_BODY)
      test.setup_gc = GC_TIME.call if GC_TIME
      test.setup_end = CLOCK.call(MONOTONIC, :nanosecond)
    end

    # The test's body ended. Returns the test.
    def body_ended(key)
      return unless (test = @tests[key])

      test.body_end = CLOCK.call(MONOTONIC, :nanosecond)
      test.body_gc = GC_TIME.call if GC_TIME
      mark(IN_TEARDOWN)
      test
    end

    # Publishes the phase of the running test to outside observers.
    def mark(phase)
      @tail&.set_value(:U8, PHASE, phase)
    end

    # A test ended. `name` is given if the framework has determined it only since the start.
    def end_test(key, status, message, name = nil, id = nil)
      ended = CLOCK.call(MONOTONIC, :nanosecond)
      # A child forked by the test that reaches this point has no test.
      return if inactive? || (test = @tests.delete(key)).nil?
      # The process is exiting (`exit`, a fatal signal): the test does not end.
      return if !$!.equal?(@raised) && ($!.is_a?(SystemExit) || $!.is_a?(SignalException))

      setup = test.setup_end
      body = test.body_end
      named = name && name != test.name ? json(name) : test.json
      started = ",\"started\":#{test.json}" unless named.equal?(test.json)
      # One string, since this is the hot path of suites of quick tests.
      phases =
        if setup && body then ",\"setup\":#{setup - test.begin}e-9,\"body\":#{body - setup}e-9,\"teardown\":#{ended - body}e-9"
        elsif setup then ",\"setup\":#{setup - test.begin}e-9"
        elsif body then ",\"teardown\":#{ended - body}e-9"
        end
      gc = collected(test, GC_TIME.call) if GC_TIME && !test.overlapped
      phases = "#{phases},\"retries\":#{test.retries}" if test.retries.to_i > 0
      phases = "#{phases},\"again\":true" if test.again
      more = more(test) if CAUSES || test.overlapped
      more = "#{",\"id\":#{json(id)}" if id}#{",\"message\":#{json(cut(message))}" if message}#{more}" if id || message
      emit "{\"test\":#{named}#{started},\"group\":#{test.group_json},#{test.place}\"begin\":#{test.begin}e-9,\"end\":#{ended}e-9," \
                  "\"status\":\"#{status}\"#{phases}#{gc}#{more}}\n#{covers(named, test) if COVERAGE}"
      @last_end = ended
      flush if @forked
      nil
    end

    # Returns the garbage collection time, in total and by phase.
    def collected(test, now)
      all = now - test.gc
      text = ",\"gc\":#{all}e-9"
      return text if all.zero? || test.setup_gc.nil? || test.body_gc.nil?

      before = test.setup_gc - test.gc
      within = test.body_gc - test.setup_gc
      "#{text},\"gc_of\":{\"setup\":#{before}e-9,\"body\":#{within}e-9,\"teardown\":#{now - test.body_gc}e-9}"
    end

    # Time at which the last test of this process ended; nil before the first.
    attr_reader :last_end

    # Reports a test that the framework did not run because the setup of its group failed.
    def no_test(name, group, place, status, message)
      at = now
      times = %("begin":#{at}e-9,"end":#{at}e-9)
      emit(%({"test":#{json(name)},"group":#{json(group)},#{place}#{times},"status":"#{status}","message":#{json(cut(message))}}\n))
    end

    # Reports a failure outside of tests: of a hook shared by several tests.
    def beside(name, group, message)
      return if inactive?

      at = now
      times = %("begin":#{at}e-9,"end":#{at}e-9)
      emit(%({"test":#{json(name)},"group":#{json(group)},#{times},"status":"error","message":#{json(cut(message))},"beside":true}\n))
    end

    # Reports why the suite failed, other than by a test: a sentence without its end.
    def fault(text)
      return if inactive?

      emit(%({"fault":#{json(cut(text))},"at":#{now}e-9}\n))
      flush
    end

    # The suite begins something outside of tests. A line before it identifies it if it hangs.
    # Returns the argument for `span_ended`.
    def span_begins(kind, group, announce: true)
      guarded do
        next if inactive?

        begun = now
        covers_group(kind, true) if COVERAGE
        if announce
          emit(%({"open":"#{kind}","group":#{json(group)},"at":#{begun}e-9}\n))
          flush
        end
        [kind, group, begun, announce]
      end
    end

    # If the start was reported, the end is reported as well, however short the span was.
    def span_ended(span)
      ended = now
      return unless span

      kind, group, begun, announced = span
      covers_group(kind, false) if COVERAGE
      guarded { span(kind, group, begun, ended, shortest: announced ? 0 : SHORTEST_SPAN) }
    end

    def span(kind, group, from, to, shortest: SHORTEST_SPAN)
      return if to - from < shortest

      emit(%({"span":"#{kind}","group":#{json(group)},"begin":#{from}e-9,"end":#{to}e-9}\n))
    end

    # Returns the position of a test as members of its line.
    def place(file, line)
      return "" unless file

      %("file":#{@places[file] ||= json(relative(file))},"line":#{line || "null"},)
    end

    def json(text)
      return "null" if text.nil?

      text = text.to_s
      utf8 = text.encoding == Encoding::UTF_8 || text.encoding == Encoding::US_ASCII
      text = text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace) unless utf8
      text = text.scrub unless text.valid_encoding?
      return "\"#{text}\"" unless text.match?(SPECIAL)

      "\"#{text.gsub(SPECIAL) { |special| ESCAPES[special] || format("\\u%04x", special.ord) }}\""
    end

    # Selects from these tests by name those in ASSAY_TESTS_ONLY, in its order; for `file:PATH` all
    # other tests for which the block returns that file.
    def chosen(all)
      found(all.keys)
      only.flat_map do |name|
        next [all[name]].compact unless name.start_with?(WHOLE_FILE)

        file = name.delete_prefix(WHOLE_FILE)
        all.reject { |own, _| only.include?(own) }.values.uniq.select { |one| relative(yield(one).to_s) == file }
      end
    end

    # Returns a file's name as used in lines.
    def relative(file)
      file.start_with?(ROOT) ? file[ROOT.size..-1] : file.delete_prefix("./")
    end

    # Reports which of the requested tests this process lacks.
    def found(names)
      missing = (@only || []).reject { |name| name.start_with?(WHOLE_FILE) } - names
      emit(%({"missing":[#{missing.map { |name| json(name) }.join(",")}]}\n)) unless missing.empty?
    end

    # Adds a line to the tail, or keeps it until the next `flush`. Threads are serialized because a
    # write may switch to another thread.
    def emit(line)
      @lock.synchronize { @tail ? keep(line) : @pending << line }
    end

    # Writes pending lines with one write. Lines in the tail can wait.
    def flush
      return if @tail || @pending.empty? || inactive?

      @lock.synchronize { write(@pending.shift(@pending.size).join) unless @tail }
    rescue SystemCallError, IOError
      nil
    end

    # Called in a forked child. Pending lines are written by its parent.
    def forked(pid = PID.call)
      AssayCoverage.forked(!@tests.empty? || @muted) if COVERAGE
      @muted = true unless @tests.empty?
      @pid = pid
      @parent = Process.ppid
      @forked = true
      # Another thread of the parent may have held it.
      @lock = Mutex.new
      @io = @path = @tail = nil
      @tail_at = HEAD
      @tail_wanted = true
      @pending.clear
      @tests.clear
    end

    # Called at the end of the process.
    def finish
      return if inactive? || @path.nil?

      emit(AssayCoverage.news) if COVERAGE
      emit(%({"end":#{now}e-9}\n))
      return flush unless @tail

      @lock.synchronize { empty }
      @tail = nil
      UNLINK.call(tail_path)
    rescue SystemCallError, IOError
      nil
    end

    private

    # Returns true in a child forked by a test, which writes nothing: its work belongs to the test.
    def inactive?
      forked(PID.call) unless FORKS_ARE_SEEN || PID.call == @pid
      @muted
    end

    def nested?
      return false if @tests.empty?

      thread = Thread.current
      @tests.values.any? { |test| test.thread.equal?(thread) }
    end

    # Programs started by tests do not report: their time belongs to the test.
    def within
      @within = true
      ENV["ASSAY_TESTS_WITHIN"] = @pid.to_s
    end

    # Omits values that would include other tests' shares.
    def more(test)
      return (causes(test) if CAUSES) unless test.overlapped

      thread = test.thread
      ",\"thread\":#{@threads[thread] ||= @threads.size + 1}" unless thread.equal?(MAIN_THREAD)
    end

    def causes(test)
      counts = COUNTS
      before = test.counts
      objects = GC_STAT.call(:total_allocated_objects) - test.objects
      %(,"causes":{"log_lines":#{counts[LOG_LINES] - before[LOG_LINES]},"sql":#{counts[SQL] - before[SQL]},) +
        %("sql_time":#{counts[SQL_TIME] - before[SQL_TIME]}e-9,"redis":#{counts[REDIS] - before[REDIS]},) +
        %("redis_time":#{counts[REDIS_TIME] - before[REDIS_TIME]}e-9,"allocations":#{objects},) +
        %("gc_runs":#{GC_COUNT.call - test.runs},"sleeps":#{counts[SLEEPS] - before[SLEEPS]},) +
        %("sleep_time":#{counts[SLEEP_TIME] - before[SLEEP_TIME]}e-9,"http":#{counts[HTTP] - before[HTTP]},) +
        %("http_time":#{counts[HTTP_TIME] - before[HTTP_TIME]}e-9,"processes":#{counts[PROCESSES] - before[PROCESSES]}})
    end

    # Earlier events are reported first.
    def covers_begin
      guarded do
        AssayCoverage.threads unless Thread.current.equal?(MAIN_THREAD)
        begun = AssayCoverage.test_begins
        news = AssayCoverage.news
        emit(news) unless news.empty?
        begun
      end
    end

    # Returns the lines that follow the line of a test.
    def covers(named, test)
      guarded do
        next unless test.covers

        members = AssayCoverage.test_ends(test.covers)
        "#{AssayCoverage.sources}{\"covers\":#{named}#{members}}\n"
      end
    end

    def covers_group(kind, begins)
      case kind
      when "group_setup" then begins ? AssayCoverage.group_begins : AssayCoverage.group_set_up
      when "group_teardown" then AssayCoverage.group_ends if begins
      end
    end

    def cut(message)
      message = message.to_s
      message.size > LONGEST_MESSAGE ? "#{message[0, LONGEST_MESSAGE]}…" : message
    end

    def write(lines)
      @io ||= opened
      @written += @io.syswrite(lines)
    rescue IOError, Errno::EBADF # The suite closed it.
      @io = opened
      @written += @io.syswrite(lines)
    end

    # Adds a line to the tail, flushing it first if necessary.
    def keep(line)
      size = line.bytesize
      empty if @tail_at + size > TAIL
      return write(line).then { place_tail } if HEAD + size > TAIL

      @tail.set_string(line, @tail_at)
      @tail_at += size
    end

    # The lines are written to the file before they are removed from the tail, whose head contains
    # their offset in the file.
    def empty
      return if @tail_at == HEAD

      size = @tail_at - HEAD
      write(@tail.get_string(HEAD, size))
      place_tail
      @tail.clear(0, HEAD, size)
      @tail_at = HEAD
    end

    def place_tail
      @tail.set_string(format("%018d", @written), 0)
    end

    # All pages are allocated on disk before they are used: a missing one would kill the process.
    def prepare
      @tail_wanted = false
      return unless MAPS

      @io ||= opened
      write(@pending.shift(@pending.size).join)

      descriptor = OPEN.call(tail_path, IO_CLASS::RDWR | IO_CLASS::CREAT | IO_CLASS::EXCL, 0o600)
      file = FILE_CLASS.for_fd(descriptor, "r+b")
      begin
        whole = file.syswrite("#{format("%018d", @written)} \n".ljust(TAIL, "\0")) == TAIL
        @tail = MAPS.call(file, TAIL) if whole
      ensure
        file.close
      end
    rescue SystemCallError, IOError
      nil
    end

    def tail_path
      "#{@path.delete_suffix("jsonl")}tail"
    end

    def opened
      lines = nil
      descriptor = @path ? OPEN.call(@path, IO_CLASS::WRONLY | IO_CLASS::APPEND) : created.tap { lines = header }
      io = IO_CLASS.for_fd(high(descriptor), "ab", autoclose: false)
      @written = io.syswrite(lines) if lines
      io
    end

    # A file may exist from another process with this number, or from this one before it executed
    # another program.
    def created
      (1..1_000).each do |number|
        path = "#{FOLDER}/#{@pid}#{"-#{number}" if number > 1}.jsonl"
        descriptor = OPEN.call(path, IO_CLASS::WRONLY | IO_CLASS::APPEND | IO_CLASS::CREAT | IO_CLASS::EXCL, 0o600)
        @path = path
        return descriptor
      rescue Errno::EEXIST
        next
      end
    end

    def high(descriptor)
      low = IO_CLASS.for_fd(descriptor, "ab", autoclose: false)
      HIGH.each do |least|
        moved = low.fcntl(1030, least) # F_DUPFD_CLOEXEC of Linux.
        low.close
        return moved
      rescue SystemCallError, NotImplementedError
        next
      end
      descriptor
    end

    def header
      framework, version = @framework
      worker = ENV["TEST_ENV_NUMBER"]
      worker = "1" if worker && worker.empty?
      %({"assay_tests":1,"framework":#{json(framework)},"framework_version":#{json(version)},) +
        %("language":"ruby","language_version":#{json(RUBY_VERSION)},) +
        %("process":#{@pid},"parent":#{@parent},"worker":#{json(worker)},"loaded":#{LOADED}e-9}\n)
    end
  end
end

if AssayTests::FORKS_ARE_SEEN
  Process.singleton_class.prepend(
    Module.new do
      forks = "::AssayCoverage.forks(::AssayTests::FOLDER); " if AssayTests::COVERAGE
      module_eval("def _fork = (#{forks}super.tap { |pid| ::AssayTests.forked if pid.zero? })", "<internal:assay_tests>", 1)
    end
  )
end
load("#{AssayTests::HERE}/assay_tests_causes.rb") if AssayTests::CAUSES
load("#{AssayTests::HERE}/assay_tests_frames.rb") if AssayTests::FRAMES
