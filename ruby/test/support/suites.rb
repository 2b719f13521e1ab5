# frozen_string_literal: true

# Runs a small suite of a test framework as a child, with the hooks that `assay tests` loads, and reads what they wrote. It stays free of assertions.

require_relative "front_end"

module Suites
  HOOKS = File.join(FrontEnd::CHECKOUT, "crates/suites/src/hooks")

  # What a suite said and wrote: `events` are those of all its processes, each with its file; `files` their names.
  Seen = Struct.new(:out, :status, :events, :files, :pid, keyword_init: true) do
    def of(kind) = events.select { |event| event.key?(kind) }
    def tests = of("test")
    def names = tests.map { |event| event["test"] }
    def test(name) = tests.find { |event| event["test"].end_with?(name) } || raise("no test #{name} in #{names}")
    def causes(name) = test(name).fetch("causes")
    def spans(kind) = of("span").select { |event| event["span"] == kind }
    def started = of("start").map { |event| event["start"] }
  end

  # `source` is a Ruby file that is run by `command` (with its name behind), in a directory of its own.
  def watched(source, *arguments, command: [RbConfig.ruby, "-w"], file: "suite_test.rb", hooks: true, causes: false, only: nil, order: nil, env: {})
    Dir.mktmpdir do |directory|
      directory = File.realpath(directory)
      Dir.mkdir(events = File.join(directory, "events"))
      Dir.mkdir(project = File.join(directory, "project"))
      File.write(File.join(project, file), source)
      File.write(File.join(directory, "only"), only.join("\n")) if only
      env = {"ASSAY_TESTS_WITHIN" => nil, "ASSAY_TESTS" => ("path:#{events}" if hooks), "ASSAY_TESTS_CAUSES" => ("1" if causes),
             "ASSAY_TESTS_ONLY" => ("path:#{directory}/only" if only), "ASSAY_TESTS_ORDER" => order&.to_s,
             "RUBYOPT" => ("-r#{HOOKS}/assay_tests.rb" if hooks)}.merge(env)
      out, status = Open3.capture2e(env, *command, file, *arguments, chdir: project)
      files = Dir.children(events).sort.grep(/\.jsonl\z/)
      Seen.new(out: out, status: status, files: files, events: files.flat_map { |name| read(File.join(events, name)) }, pid: status.pid)
    end
  end

  # With the last lines of a process that was killed, which stand in its tail.
  def read(file)
    tail = file.sub(/jsonl\z/, "tail")
    text = File.read(file) + (File.exist?(tail) ? File.read(tail)[20..].delete("\0") : "")
    text.lines.map { |line| JSON.parse(line).merge("file_name" => File.basename(file)) }
  end

  def there?(library) = system(RbConfig.ruby, "-e", "require #{library.inspect}", err: File::NULL)
end
