# frozen_string_literal: true

# Notes which methods a Ruby process calls, except while a file is required, and writes the file and first line of each when
# the process ends; line 0 stands for a loaded file itself. If ASSAY_DELAYED names a method by its first line and file, its
# calls are delayed by ASSAY_DELAY nanoseconds instead. Required before anything of the user runs.

delayed = ENV.fetch('ASSAY_DELAYED', nil)
if delayed
  line, path = delayed.split("\t", 2)
  line = Integer(line)
  path = File.realpath(path)
  span = Integer(ENV.fetch('ASSAY_DELAY'))
  files = {}
  clock = Process::CLOCK_MONOTONIC
  tracing = TracePoint.new(:call) do |call|
    next unless call.lineno == line

    file = call.path
    files[file] = File.exist?(file) && File.realpath(file) == path unless files.key?(file)
    next unless files[file]

    deadline = Process.clock_gettime(clock, :nanosecond) + span
    nil while Process.clock_gettime(clock, :nanosecond) < deadline
  end
else
  called = {}
  # A method that is called more often than this while files are required counts as executed: to look at its callers each time
  # would take too long.
  most_calls = 100
  required = Hash.new(0)
  requires = %w[require require_relative Kernel#require Kernel#require_relative]
  tracing = TracePoint.new(:call) do |call|
    method = [call.lineno, call.path]
    next if called.key?(method)
    if required[method] < most_calls && caller_locations(0).any? { |frame| requires.include?(frame.label) }
      required[method] += 1
    else
      called[method] = true
    end
  end
  own = __dir__
  at_exit do
    tracing.disable
    loaded = [$PROGRAM_NAME, *$LOADED_FEATURES].grep(/\.rb\z/).map { |file| [0, file] }
    lines = (called.keys + loaded).map { |number, file| "#{number}\t#{File.expand_path(file)}" }
    File.write(File.join(own, "#{Process.pid}.started"), lines.uniq.sort.map { |text| "#{text}\n" }.join)
  end
end
tracing.enable
