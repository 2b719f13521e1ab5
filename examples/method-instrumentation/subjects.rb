# frozen_string_literal: true

# The experiments: the compared subjects, and the article's measurements of 2017. Every subject is a
# separate class with a method `call_it` that does some work. This file must not measure.

module Subjects
  # name::    as in the article
  # article:: iterations per second there, without work and with a Redis GET, in millions and in thousands; nil if it is not there
  # loop::    calls the method that number of times
  Subject = Struct.new(:name, :article, :loop, :before, :after, keyword_init: true)

  # {title => [Subject, ...]}, the plain method first; `work` is the source of the work.
  def self.all(work)
    {
      "reading the clock" => clocks(work),
      "patching" => patches(work),
      "thread safety" => threads(work),
      "the profiler, idle" => profilers(work, false),
      "the profiler, profiling" => profilers(work, true)
    }
  end

  # Returns a class with `plain` and `call_it`, the latter from this source; the loop has separate
  # call sites.
  def self.make(name, article, work, body, before: -> {}, after: -> {})
    owner = Class.new
    owner.class_eval(<<~RUBY, __FILE__, __LINE__ + 1)
      attr_accessor :count, :duration, :thread
      def initialize
        @count = 0
        @duration = 0.0
        @thread = Thread.current
      end
      def work
        #{work}
      end
      def call_it
        #{body}
      end
    RUBY
    yield owner if block_given?
    object = owner.new
    looping = Module.new { module_eval("def self.run(t, n)\n i = 0\n while i < n\n t.call_it\n i += 1\n end\nend") }
    Subject.new(name: name, article: article, loop: ->(n) { looping.run(object, n) }, before: before, after: after)
  end

  def self.timed(clock)
    "@count += 1\n began = #{clock}\n work\nensure\n @duration += #{clock} - began"
  end

  def self.clocks(work)
    [
      make("plain method", [19.623, 17.567], work, "work"),
      make("Time.now", [1.596, 16.730], work, timed("Time.now")),
      make("Process.clock_gettime", [4.972, 17.112], work, timed("Process.clock_gettime(Process::CLOCK_MONOTONIC)")),
      make("the same in whole nanoseconds", nil, work, timed("Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)"))
    ]
  end

  def self.patches(work)
    counting = Module.new { module_eval("def call_it\n @count += 1\n super\nend") }
    chain = "alias_method :call_it_before, :call_it\ndef call_it\n @count += 1\n call_it_before\nend"
    [
      make("plain method", [20.403, 17.259], work, "work"),
      make("prepend", [10.339, 17.056], work, "work") { |owner| owner.prepend(counting) },
      make("alias_method", [13.067, 17.464], work, "work") { |owner| owner.class_eval(chain) },
      make("written into the method", [16.581, 17.369], work, "@count += 1\n work")
    ]
  end

  # The article sets "prof" and reads "count", so its last subject never counted; here it is
  # included as published and as intended.
  def self.threads(work)
    store = Struct.new(:count)
    keep = ->(value) { -> { Thread.current["prof"] = value } }
    [
      make("plain method", [20.119, 18.007], work, "work"),
      make("Thread.current == @thread", [11.254, 18.081], work, "@count += 1 if Thread.current == @thread\n work"),
      make("storage on the thread, as published", [6.105, 18.042], work,
           "if (data = Thread.current[\"count\"])\n data.count += 1\n end\n work", before: keep.(store.new(0)), after: keep.(nil)),
      make("storage on the thread, as meant", nil, work,
           "if (data = Thread.current[\"prof\"])\n data.count += 1\n end\n work", before: keep.(store.new(0)), after: keep.(nil))
    ]
  end

  # The article's profiler, rewritten; and ours, in its default mode and in the mode for servers.
  def self.profilers(work, profiling)
    article = profiling ? [[20.261, 17.627], [2.247, 17.419]] : [[20.211, 17.478], [6.015, 17.293]]
    start, stop = profiling ? [-> { Assay::MethodProfiler.start }, -> { Assay::MethodProfiler.stop }] : [-> {}, -> {}]
    old_start, old_stop = profiling ? [-> { Thread.current[:article] = {} }, -> { Thread.current[:article] = nil }] : [-> {}, -> {}]
    [
      make("plain method", article[0], work, "work"),
      make("the article's MethodProfiler", article[1], work, "work", before: old_start, after: old_stop) do |owner|
        owner.class_eval(ARTICLE, __FILE__, __LINE__)
      end,
      make("Assay::MethodProfiler", nil, work, "work", before: start, after: stop) do |owner|
        Assay::MethodProfiler.patch(owner, :call_it, :thing)
      end,
      make("Assay::MethodProfiler, kept in", nil, work, "work", before: start, after: stop) do |owner|
        Assay::MethodProfiler.patch(owner, :call_it, :thing, keep: true)
      end
    ]
  end

  ARTICLE = <<~RUBY
    alias_method :call_it_unpatched, :call_it
    def call_it(*args, &block)
      return call_it_unpatched(*args, &block) unless (rows = Thread.current[:article])

      begin
        began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        call_it_unpatched(*args, &block)
      ensure
        row = (rows[:thing] ||= {duration: 0.0, calls: 0})
        row[:duration] += Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
        row[:calls] += 1
      end
    end
  RUBY
  private_constant :ARTICLE
end
