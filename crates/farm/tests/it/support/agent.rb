#!/usr/bin/env ruby
# frozen_string_literal: true

# Stands in for `assay-farm agent --once JOB` without testing anything: it requests the job, holds
# it for a moment, and reports that its tests passed. The tests of placing therefore need no sandbox
# and finish quickly. Events are appended to the file named by AGENT_LOG.

require "json"
require "net/http"

# Without a number, it only says hello.
words = ARGV.drop(1).map { |word| word == "--once" ? "--once=0" : word }
options = words.flat_map { |word| word.split("=", 2) }.each_slice(2).to_h
job = Integer(options.fetch("--once"))
node = options.fetch("--name")
TOKEN = File.read(options.fetch("--token-file")).strip
SERVER = URI(options.fetch("--server"))
LOG = ENV.fetch("AGENT_LOG")

def said(what) = File.open(LOG, "a") { |file| file.write("#{what}\n") }

# The server may also be unavailable for a moment, like the controller.
def ask(kind, path, body)
  tries = 0
  begin
    request = kind.new("/api/v1#{path}", "Authorization" => "Bearer #{TOKEN}", "Content-Type" => "application/json")
    request.body = JSON.generate(body)
    answer = Net::HTTP.start(SERVER.host, SERVER.port) { |http| http.request(request) }
    [answer.code.to_i, answer.body.to_s.empty? ? nil : JSON.parse(answer.body)]
  rescue SystemCallError, IOError
    raise if (tries += 1) > 100

    sleep 0.1
    retry
  end
end

facts = { "os" => "virtual", "node" => node }
facts["disk"] = "slow" if node == "n2"
instance = "#{node}-#{Process.pid}-#{rand(1 << 40)}"
ask(Net::HTTP::Post, "/nodes/#{node}/hello",
    { tool: "agent.rb", targets: [{ name: node, facts: facts }], kinds: %w[test], instance: instance, time: Time.now.utc.strftime("%FT%TZ") })
exit if job.zero?

load File.expand_path("../../../../../ruby/lib/assay/farm.rb", __dir__)
digest = Assay::Farm.digest(facts)
status, leased = ask(Net::HTTP::Post, "/nodes/#{node}/lease", { instance: instance, targets: [digest], kinds: %w[test], job: job })
if status != 200
  said("#{job} none #{status} #{leased}")
  exit
end
said("#{job} leased #{node}")
trap("TERM") do
  File.open(LOG, "a") { |file| file.write("#{job} ended\n") }
  exit!(1)
end
sleep Float(ENV.fetch("AGENT_SECONDS", "0.2"))
outcome = { state: "passed", began: "2026-01-01T00:00:00Z", seconds: 0.1, evidence: { tests: 1 } }
status, = ask(Net::HTTP::Put, "/jobs/#{job}/result", { nonce: leased["nonce"], key: instance, outcome: outcome })
said("#{job} result #{status}")
