# frozen_string_literal: true

# Every example of the guide is an application that answers, or code that runs.

require "support/front_end"
require "support/servers"

class RequestsGuideTest < Minitest::Test
  include FrontEnd
  include RealServers

  GUIDE = File.join(FrontEnd::CHECKOUT, "docs/guides/requests-in-production.md")
  EXAMPLES = File.exist?(GUIDE) ? File.read(GUIDE).scan(/^```ruby\n(.*?)^```/m).flatten : []
  FROM_ANOTHER = File.join(FrontEnd::CHECKOUT, "docs/guides/from-rack-mini-profiler.md")

  # An application for those that need one, and one request to it.
  RUN = <<~'RUBY'
    require "rack/builder"
    require "rack/mock"
    App = ->(env) { [200, {"content-type" => "text/plain"}, ["hello"]] }
    answer = Rack::MockRequest.new(Rack::Builder.new_from_string(File.read("config.ru"))).get("/", "HTTP_X_STAFF" => "yes")
    puts [answer.status, answer.body, answer["server-timing"]].join("|")
    puts File.read("requests.log") if File.exist?("requests.log")
  RUBY

  def test_the_guide_has_its_examples
    skip("the guides are not beside the gem") unless File.exist?(GUIDE)
    assert_equal 5, EXAMPLES.size
  end

  # A script that sends requests to an application, here one with a statement for each request.
  ASKED = <<~'RUBY'
    File.write("config.ru", <<~CONFIG)
      require "assay"
      class Database; def ask = 1; end
      Assay::MethodProfiler.patch(Database, :ask, :sql)
      use Assay::Rack
      run ->(env) { Database.new.ask; [200, {}, [env["QUERY_STRING"]]] }
    CONFIG
  RUBY

  EXAMPLES.each_with_index do |example, index|
    next if example.start_with?("# report.rb")

    define_method("test_example_#{index + 1}_runs") do
      need("rack", "ruby-rack")
      need("pg", "ruby-pg") if example.include?('"pg"')
      need("redis", "ruby-redis") if example.include?('"redis"')
      program = example.start_with?("# config.ru") ? "File.write(\"config.ru\", #{example.dump})\n#{RUN}" : "require \"assay\"\n#{example}\nputs :ran"
      said, error, status = ruby(program)
      assert status.success?, error
      assert_empty error
      assert_match(example.start_with?("# config.ru") ? /^200\|hello\|total;dur=[\d.]+$/ : /^ran$/, said)
      assert_match(/total_ms=|"total_ms":/, said) if example.include?("log:")
    end
  end

  def test_the_examples_of_the_guide_from_rack_mini_profiler
    skip("the guides are not beside the gem") unless File.exist?(FROM_ANOTHER)
    %w[rack pg redis].each { |gem| need(gem, "ruby-#{gem}") }
    config, part = File.read(FROM_ANOTHER).scan(/^```ruby\n(.*?)^```/m).flatten
    said, error, status = ruby("File.write(\"config.ru\", #{config.dump})\n#{RUN}")
    assert_equal [true, ""], [status.success?, error]
    assert_match(/^200\|hello\|total;dur=/, said)
    search = "class Search; def find(words) = words; end\nAssay::MethodProfiler.patch(Search, :find, :search)\n"
    said, error, = ruby("require \"assay\"\n#{search}#{part}\nputs profile.to_json")
    assert_equal [["total_duration", "search"], "", 1], [JSON.parse(said).keys, error, JSON.parse(said)["search"]["calls"]]
  end

  def test_the_script_gives_the_values_of_every_request_to_who_measures_it
    skip("the guides are not beside the gem") unless File.exist?(GUIDE)
    need("rack", "ruby-rack")
    script = EXAMPLES.find { |example| example.start_with?("# report.rb") }
    program = "#{ASKED}#{script}\nAssay::Samples.flush\nputs File.read(\"given\")"
    said, error, status = ruby(program, "eager", env: { "ASSAY_SAMPLES" => "path:given" })
    assert status.success?, error
    assert_empty error
    values = said.lines.map { |line| JSON.parse(line) }.select { |line| line["metric"] == "sql_calls" }
    assert_equal 5, values.sum { |line| line["value"] || line["values"].sum }
  end
end
