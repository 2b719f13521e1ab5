# frozen_string_literal: true

# The cost of the Rack middleware per request: an application that does nothing, without the middleware and with increasing parts of it,
# with requests in direct succession, and with each after reading 16 MiB and a short sleep. The latter is closer to a server, where other
# work fills the processor's caches between two requests.
#
#   ruby ruby/bench/requests.rb [--rounds 40]      the extension is looked for in ruby/tmp, where ruby/build.sh builds it
#
# The variants alternate in random order; the result is the median over the rounds of this thread's CPU time per request, less that of
# the application alone. It must not decide anything: no figure here is a test.

$LOAD_PATH.unshift(File.expand_path("../lib", __dir__), File.expand_path("../tmp", __dir__))

require "assay"
require "assay/rack"
require "optparse"
require "tempfile"

ROUNDS = { rounds: 40 }.tap { |given| OptionParser.new { |o| o.on("--rounds N", Integer) { |n| given[:rounds] = n } }.parse! }[:rounds]
ENVIRONMENT = { "REQUEST_METHOD" => "GET", "SCRIPT_NAME" => "", "PATH_INFO" => "/page/1/2" }.freeze
APPLICATION = ->(_env) { [200, { "content-type" => "text/plain" }, ["x"]] }
OTHER_WORK = "x" * (16 << 20)

# As many patches as a few libraries have.
PATCHED = Class.new { 30.times { |n| define_method(:"method_#{n}") { nil } } }
Assay::MethodProfiler.patch(PATCHED, PATCHED.instance_methods(false), :thing)
Assay::MethodProfiler.keep!

log = Tempfile.new("assay-requests")
WAYS = {
  "application" => APPLICATION,
  "start and stop" => lambda do |env|
    Assay::MethodProfiler.start.stop
    APPLICATION.call(env)
  end,
  "middleware, no header" => Assay::Rack.new(APPLICATION, header: false),
  "with header" => Assay::Rack.new(APPLICATION),
  "with header and a line to a file" => Assay::Rack.new(APPLICATION, log: log, format: :json)
}.freeze

def cpu = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)

# Returns the µs of a request, for this number of requests.
def one_after_the_other(application, requests = 300)
  began = cpu
  requests.times { application.call(ENVIRONMENT.dup) }
  (cpu - began).fdiv(requests) / 1e3
end

def after_other_work(application, requests = 20)
  times = Array.new(requests) do
    OTHER_WORK.sum
    sleep 0.0002
    env = ENVIRONMENT.dup
    began = cpu
    application.call(env)
    cpu - began
  end
  times.sum.fdiv(requests) / 1e3
end

found = Hash.new { |all, key| all[key] = [] }
WAYS.each_value { |application| one_after_the_other(application) }
ROUNDS.times do
  WAYS.to_a.shuffle.each do |name, application|
    found[[name, :hot]] << one_after_the_other(application)
    found[[name, :cold]] << after_other_work(application)
  end
end

median = ->(values) { values.sort[values.size / 2] }
puts "added to a request, µs of CPU time; #{RUBY_DESCRIPTION}, recorder #{Assay::MethodProfiler.recorder}, #{ROUNDS} rounds"
puts format("%-34s%22s%18s", "", "one after the other", "after other work")
WAYS.keys.drop(1).each do |name|
  puts format("%-34s%22.1f%18.1f", name, *%i[hot cold].map { |kind| median.(found[[name, kind]]) - median.(found[["application", kind]]) })
end
