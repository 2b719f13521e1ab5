# frozen_string_literal: true

# Writes the events of a process that runs tests: one file a process, lines of JSON, each written whole. What a framework is does not belong here.
#
# From Ruby 3.1 on lines go into a file that the process has in its memory (the tail), where a test costs no system call and whoever kills the
# process finds them all the same; it is emptied into the file of events when it is full, and at the end. Before, a line of a test that ended
# waits for the next one, so that a test costs one write; it is written at once where the test's process was forked, before anything of the suite's
# own runs, and at the end. Nothing here may raise into a suite: `guarded` notes the problem and goes on.

module AssayTests
  # A test that runs. `faults` and `returned` are what a framework's part wants to remember.
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
  # From Ruby 3.1 on every fork passes one method; before, processes are told apart by their number.
  FORKS_ARE_SEEN = Process.respond_to?(:_fork)
  CAUSES = ENV["ASSAY_TESTS_CAUSES"] == "1"
  # Whether samplers shall see what runs; see assay_tests_frames.rb.
  FRAMES = ENV["ASSAY_TESTS_FRAMES"] == "1"
  # Whether what tests use is noted; see assay_tests_coverage.rb.
  COVERAGE = defined?(::AssayCoverage) ? ::AssayCoverage.asked? : false
  # What the test's process did so far; see assay_tests_causes.rb.
  COUNTS = Array.new(10, 0) # rubocop:disable Style/MutableConstant
  LOG_LINES, SQL, SQL_TIME, REDIS, REDIS_TIME, SLEEPS, SLEEP_TIME, HTTP, HTTP_TIME, PROCESSES = *0..9
  IO_CLASS = IO
  FILE_CLASS = File
  # What makes memory of a file; naming it warns that it is new.
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
  # Descriptors above the suite's own: what a suite opens after it closed all is not taken for ours.
  HIGH = [900, 200, 64].freeze
  # A message is cut behind so many characters, a span left out below so many nanoseconds.
  LONGEST_MESSAGE = 1_000
  SHORTEST_SPAN = 50_000
  # Bytes of the tail; of its head: where its lines belong, and the phase of the test that runs.
  TAIL = 1 << 16
  HEAD = 20
  PHASE = 18
  IN_SETUP, IN_BODY, IN_TEARDOWN = *"sbt".bytes
  # What a name begins with that stands for all tests of a file.
  WHOLE_FILE = "file:"
  SPECIAL = /["\\\u0000-\u001f\u007f]/.freeze
  ESCAPES = {"\"" => "\\\"", "\\" => "\\\\", "\n" => "\\n", "\r" => "\\r", "\t" => "\\t"}.freeze

  @pid = PID.call
  @parent = Process.ppid
  @muted = false
  @forked = false
  @io = nil
  @path = nil
  # Lines that wait where there is no tail.
  @pending = []
  @tail = nil
  @tail_at = HEAD
  @tail_wanted = true
  @lock = Mutex.new
  @written = 0
  # Others may begin while one looks at all: of `values`, which are taken at once.
  @tests = {}.compare_by_identity
  @threads = {}.compare_by_identity
  @places = {}
  @groups = {}
  @load_end = nil
  @failures = 0

  class << self
    # The tests that run, by whatever stands for them in their framework.
    attr_reader :tests

    def now
      CLOCK.call(MONOTONIC, :nanosecond)
    end

    # The names that ASSAY_TESTS_ONLY gives, or nil.
    def only
      return @only if defined?(@only)

      from = ENV["ASSAY_TESTS_ONLY"].to_s
      @only = from.start_with?("path:") ? File.readlines(from.delete_prefix("path:"), chomp: true, encoding: "UTF-8").reject(&:empty?) : nil
    end

    # The seed of ASSAY_TESTS_ORDER, or nil.
    def order
      ENV["ASSAY_TESTS_ORDER"].to_s[/\A\d+\z/]&.to_i
    end

    # Runs a part of the hooks; what it raises is noted, and the suite left alone.
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

    # Prepends methods of this source. They stand under a name in the framework's own folder, as which backtraces leave them out.
    def plant(target, source, folder)
      methods = Module.new
      methods.module_eval(source, "#{folder}/assay_tests.rb", 1)
      target.prepend(methods)
      methods
    end

    # The source of a method around a framework's own, for `plant`: what begins says whether what ends is called, too.
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

    # The same around what is a span.
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

    # The framework begins to run what was loaded.
    def run_begins(framework, version)
      return if inactive?

      @framework ||= [framework, version]
      return if @load_end

      @load_end = now
      AssayTests.watch_causes if CAUSES
      AssayCoverage.main_program if COVERAGE
      span("load", nil, LOADED, @load_end)
    end

    # A test begins. Gives nil where it is none of this process's own: within another test.
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
      # Frameworks may run within a handler of `exit` themselves.
      @raised = $!
      emit(%({"start":#{test.json},"at":#{test.begin}e-9}\n))
      @tail ? mark(IN_SETUP) : flush
      test
    end

    # Its setup ended,
    def setup_ended(key)
      return unless (test = @tests[key])

      mark(IN_BODY)
      test.setup_gc = GC_TIME.call if GC_TIME
      test.setup_end = CLOCK.call(MONOTONIC, :nanosecond)
    end

    # and its body. Gives it.
    def body_ended(key)
      return unless (test = @tests[key])

      test.body_end = CLOCK.call(MONOTONIC, :nanosecond)
      test.body_gc = GC_TIME.call if GC_TIME
      mark(IN_TEARDOWN)
      test
    end

    # What one sees from outside of the test that runs.
    def mark(phase)
      @tail&.set_value(:U8, PHASE, phase)
    end

    # A test ended. `name` differs from that at the beginning where the framework found it meanwhile.
    def end_test(key, status, message, name = nil, id = nil)
      ended = CLOCK.call(MONOTONIC, :nanosecond)
      # A child that the test forked, and that came here, knows of no test.
      return if inactive? || (test = @tests.delete(key)).nil?
      # The process is leaving (`exit`, a signal that ends it): the test has no end.
      return if !$!.equal?(@raised) && ($!.is_a?(SystemExit) || $!.is_a?(SignalException))

      setup = test.setup_end
      body = test.body_end
      named = name && name != test.name ? json(name) : test.json
      started = ",\"started\":#{test.json}" unless named.equal?(test.json)
      # As one text, since a suite of quick tests spends its time here.
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

    # The time of the garbage collector, in total and by phase.
    def collected(test, now)
      all = now - test.gc
      text = ",\"gc\":#{all}e-9"
      return text if all.zero? || test.setup_gc.nil? || test.body_gc.nil?

      before = test.setup_gc - test.gc
      within = test.body_gc - test.setup_gc
      "#{text},\"gc_of\":{\"setup\":#{before}e-9,\"body\":#{within}e-9,\"teardown\":#{now - test.body_gc}e-9}"
    end

    # When the last test of this process ended; nil before the first.
    attr_reader :last_end

    # A test that the framework reports without having run it, since its group could not be set up.
    def no_test(name, group, place, status, message)
      at = now
      times = %("begin":#{at}e-9,"end":#{at}e-9)
      emit(%({"test":#{json(name)},"group":#{json(group)},#{place}#{times},"status":"#{status}","message":#{json(cut(message))}}\n))
    end

    # A failure beside tests: of a hook of several tests.
    def beside(name, group, message)
      return if inactive?

      at = now
      times = %("begin":#{at}e-9,"end":#{at}e-9)
      emit(%({"test":#{json(name)},"group":#{json(group)},#{times},"status":"error","message":#{json(cut(message))},"beside":true}\n))
    end

    # The suite does something outside of tests. A line before it says what hung, if it does. Gives what `span_ended` is given.
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

    # Whoever was told that it began is told that it ended, however short it was.
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

    # Where a test stands, as the members of its line.
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

    # Of these tests by name those that ASSAY_TESTS_ONLY names, in its order; of `file:PATH` all others that the block
    # says to stand in that file.
    def chosen(all)
      found(all.keys)
      only.flat_map do |name|
        next [all[name]].compact unless name.start_with?(WHOLE_FILE)

        file = name.delete_prefix(WHOLE_FILE)
        all.reject { |own, _| only.include?(own) }.values.uniq.select { |one| relative(yield(one).to_s) == file }
      end
    end

    # A file as it is named in lines.
    def relative(file)
      file.start_with?(ROOT) ? file[ROOT.size..-1] : file.delete_prefix("./")
    end

    # Notes which of the tests that were asked for this process has.
    def found(names)
      missing = (@only || []).reject { |name| name.start_with?(WHOLE_FILE) } - names
      emit(%({"missing":[#{missing.map { |name| json(name) }.join(",")}]}\n)) unless missing.empty?
    end

    # Keeps a line: in the tail, or until the next `flush`. Threads take turns, since a write lets others come in between.
    def emit(line)
      @lock.synchronize { @tail ? keep(line) : @pending << line }
    end

    # Writes what waits, by one write. What is in the tail can wait.
    def flush
      return if @tail || @pending.empty? || inactive?

      @lock.synchronize { write(@pending.shift(@pending.size).join) unless @tail }
    rescue SystemCallError, IOError
      nil
    end

    # This process is a child now. What waited is its parent's to write.
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

    # The process ends.
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

    # Nothing is written where a test forked, and that child came here: what it does is the test's.
    def inactive?
      forked(PID.call) unless FORKS_ARE_SEEN || PID.call == @pid
      @muted
    end

    def nested?
      return false if @tests.empty?

      thread = Thread.current
      @tests.values.any? { |test| test.thread.equal?(thread) }
    end

    # Programs that tests start don't report: their time is the test's.
    def within
      @within = true
      ENV["ASSAY_TESTS_WITHIN"] = @pid.to_s
    end

    # What would be that of others, too, is left out.
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

    # What happened before it is told of before it.
    def covers_begin
      guarded do
        AssayCoverage.threads unless Thread.current.equal?(MAIN_THREAD)
        begun = AssayCoverage.test_begins
        news = AssayCoverage.news
        emit(news) unless news.empty?
        begun
      end
    end

    # The lines that follow that of a test.
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

    # Puts a line into the tail, which is emptied for it if it has to be.
    def keep(line)
      size = line.bytesize
      empty if @tail_at + size > TAIL
      return write(line).then { place_tail } if HEAD + size > TAIL

      @tail.set_string(line, @tail_at)
      @tail_at += size
    end

    # The lines are first in the file, and then no longer in the tail: its head says where they belong.
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

    # All of it is on the disk before it is used: what is missing there would end the process.
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

    # A number that another process had before, or this one before it became another program, has a file already.
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
