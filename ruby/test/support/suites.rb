# frozen_string_literal: true

# Runs a small suite of a test framework as a child process with the hooks that `assay tests` loads,
# and reads their output. Free of assertions.

require "fileutils"
require_relative "front_end"

module Suites
  HOOKS = File.join(FrontEnd::CHECKOUT, "crates/suites/src/hooks/ruby")

  # The output and files of a suite: `events` are those of all its processes, each with its file; `files` their names.
  Seen = Struct.new(:out, :status, :events, :files, :pid, keyword_init: true) do
    def of(kind) = events.select { |event| event.key?(kind) }
    def tests = of("test")
    def names = tests.map { |event| event["test"] }
    def test(name) = tests.find { |event| event["test"].end_with?(name) } || raise("no test #{name} in #{names}")
    def causes(name) = test(name).fetch("causes")
    def spans(kind) = of("span").select { |event| event["span"] == kind }
    # The recorded uses of a test, with the names of files instead of their numbers.
    def covers(name)
      own = of("covers").select { |event| event["covers"].end_with?(name) }
      raise("no test #{name}, or several") unless own.size == 1

      named(own[0])
    end

    def loaded = of("loaded").reject { |event| event.key?("assay_tests") }.map { |event| named(event) }

    def named(event)
      sources = of("source").select { |source| source["file_name"] == event["file_name"] }.to_h { |source| [source["number"], source["source"]] }
      blocks = event.fetch("blocks", {}).to_h { |number, lines| [sources.fetch(number.to_i), lines] }
      numbers = event.slice("loads", "loaded").transform_values { |all| all.map { |number| sources.fetch(number) } }
      event.merge("blocks" => blocks).merge(numbers)
    end

    def started = of("start").map { |event| event["start"] }
  end

  # The hooks next to the library that they load if present, in a directory that is removed with this process.
  def self.hooks_with_library
    @hooks_with_library ||= Dir.mktmpdir.tap do |directory|
      Minitest.after_run { FileUtils.rm_rf(directory) }
      FileUtils.cp(Dir[File.join(HOOKS, "*.rb")], directory)
      flags = %w[-std=gnu11 -O2 -shared -fPIC -nostdlib -ffreestanding -fno-stack-protector -fvisibility=hidden]
      system("cc", *flags, "-o", File.join(directory, "assay_marks.so"), File.join(FrontEnd::CHECKOUT, "c/marks.c")) or raise("no C compiler")
    end
  end

  # `source` is a Ruby file that is run by `command` (followed by its name) in a separate directory.
  def watched(source, *arguments, command: [RbConfig.ruby, "-w"], file: "suite_test.rb", hooks: true, causes: false, only: nil, order: nil, env: {},
              covers: nil, files: {})
    Dir.mktmpdir do |directory|
      directory = File.realpath(directory)
      Dir.mkdir(events = File.join(directory, "events"))
      Dir.mkdir(project = File.join(directory, "project"))
      hooked = covers == :library ? Suites.hooks_with_library : HOOKS
      files.merge(file => source).each do |name, text|
        FileUtils.mkdir_p(File.dirname(path = File.join(project, name)))
        File.write(path, text)
      end
      File.write(File.join(directory, "only"), only.join("\n")) if only
      env = {"ASSAY_TESTS_WITHIN" => nil, "ASSAY_TESTS" => ("path:#{events}" if hooks), "ASSAY_TESTS_CAUSES" => ("1" if causes),
             "ASSAY_TESTS_ONLY" => ("path:#{directory}/only" if only), "ASSAY_TESTS_ORDER" => order&.to_s,
             "ASSAY_TESTS_COVERAGE" => ("path:#{project}" if covers),
             "RUBYOPT" => ("-r#{hooked}/assay_tests.rb" if hooks)}.merge(env)
      out, status = Open3.capture2e(env, *command, file, *arguments, chdir: project)
      names = Dir.children(events).sort.grep(/\.jsonl\z/)
      Seen.new(out: out, status: status, files: names, events: names.flat_map { |name| read(File.join(events, name)) }, pid: status.pid)
    end
  end

  # Includes the last lines of a killed process, which are in its tail.
  def read(file)
    tail = file.sub(/jsonl\z/, "tail")
    text = File.read(file) + (File.exist?(tail) ? File.read(tail)[20..].delete("\0") : "")
    text.lines.map { |line| JSON.parse(line).merge("file_name" => File.basename(file)) }
  end

  def there?(library) = system(RbConfig.ruby, "-e", "require #{library.inspect}", err: File::NULL)
end
