# frozen_string_literal: true

# Preloaded commands: a run behaves like a newly started command; only changed files are loaded again; every error is
# reported, and no process is left over.

require_relative "../support/warm"

class WarmTest < Minitest::Test
  include FrontEnd
  include Suites

  FILES = {
    "lib/foo.rb" => "class Foo\n  def a = 1\nend\n",
    "test/test_helper.rb" => "$LOAD_PATH.unshift(File.expand_path('../lib', __dir__))\nrequire 'foo'\nrequire 'minitest/autorun'\n",
    "test/a_test.rb" => "require 'test_helper'\nclass ATest < Minitest::Test\n  def test_a = assert_equal(1, Foo.new.a)\nend\n",
    "test/b_test.rb" => <<~'RUBY'
      require "test_helper"
      class BTest < Minitest::Test
        def test_b
          puts "random #{rand(1 << 40)}"
          assert_equal(2, Foo.new.a)
        end
      end
    RUBY
  }.freeze
  TESTS = [RbConfig.ruby, "-Itest", "test/a_test.rb"].freeze

  def test_a_run_is_as_the_command
    Warm.of(FILES, *TESTS) do |warm|
      first = warm.learn("test/a_test.rb", "--seed", "1", "-v")
      warm_out = warm.run("test/a_test.rb", "--seed", "1", "-v").out
      cold, = Open3.capture2e(RbConfig.ruby, "-Itest", "test/a_test.rb", "--seed", "1", "-v", chdir: warm.project)
      assert_equal plain(cold), plain(warm_out)
      assert_equal plain(cold), plain(first.out)
      state = warm.state
      assert_equal %w[framework helpers], state["stages"].map { |stage| stage["name"] }
      assert_equal %w[lib/foo.rb test/test_helper.rb], state["loaded"].map { |path| path.delete_prefix("#{warm.project}/") }.sort
      runs = Array.new(2) { warm.run("test/b_test.rb") }
      assert_equal [1, 1], runs.map(&:exit)
      assert_equal 2, runs.map { |run| run.out[/random \d+/] }.uniq.size
    end
  end

  def test_what_changed_is_loaded_again
    Warm.of(FILES, *TESTS) do |warm|
      warm.learn("test/a_test.rb")
      framework = warm.state["stages"][0]["pid"]
      assert_nil warm.changed("test/a_test.rb", "README")
      warm.write("lib/foo.rb", "class Foo\n  def a = 2\nend\n")
      assert_equal "helpers", warm.changed("lib/foo.rb")
      assert_equal [1, 0], [warm.run("test/a_test.rb").exit, warm.run("test/b_test.rb").exit]
      assert_equal framework, warm.state["stages"][0]["pid"]
      warm.write("lib/foo.rb", "class Foo\n  def a = 2 2\nend\n")
      warm.changed("lib/foo.rb")
      assert_match(%r{/lib/foo\.rb:2: syntax error}, warm.run("test/a_test.rb").refused)
      assert_match(/syntax error/, warm.state["notes"].join)
      warm.write("lib/foo.rb", "class Foo\n  def a = 1\nend\n")
      refute_nil warm.changed("lib/foo.rb")
      assert_equal 0, warm.run("test/a_test.rb").exit
      # A run reports a missing file.
      File.unlink(File.join(warm.project, "lib/foo.rb"))
      warm.changed("lib/foo.rb")
      assert_match(/cannot load such file -- foo/, warm.run("test/a_test.rb").out)
      refute_equal 0, warm.run("test/a_test.rb").exit
    end
  end

  def test_what_was_saved_last_is_what_runs
    files = {"lib/one.rb" => "ONE = 0\n", "lib/two.rb" => "TWO = 0\n", "test/a_test.rb" => "require_relative '../lib/one'\nrequire_relative '../lib/two'\np [ONE, TWO]\n"}
    Warm.of(files, *TESTS) do |warm|
      warm.learn("test/a_test.rb")
      12.times do |number|
        warm.write("lib/one.rb", "ONE = #{number}\n")
        warm.changed("lib/one.rb")
        sleep(0.003 * (number % 4))
        warm.write("lib/two.rb", "TWO = #{number}\n")
        refute_nil warm.changed("lib/two.rb")
        assert_equal "[#{number}, #{number}]\n", warm.run("test/a_test.rb").out
      end
      state = warm.state
      quick = warm.ask({state: "quick"})
      assert(state["stages"].all? { |stage| stage.delete("memory").positive? })
      assert_equal state, quick
    end
  end

  # Each file adds a line when it is loaded.
  def test_a_process_waits_in_the_middle_of_a_long_load
    log = "File.write('loads', File.basename(__FILE__) + ' ', mode: 'a')\n"
    files = {"lib/slow.rb" => "#{log}sleep 0.1\n", "lib/quick.rb" => log,
             "test/test_helper.rb" => "require_relative '../lib/slow'\nrequire_relative '../lib/quick'\n",
             "test/a_test.rb" => "require 'test_helper'\nputs 'done'\n"}
    Warm.of(files, *TESTS) do |warm|
      warm.learn("test/a_test.rb")
      assert_equal %w[framework application helpers], warm.state["stages"].map { |stage| stage["name"] }
      loads = warm.write("loads", "")
      assert_equal "helpers", warm.changed("lib/quick.rb")
      assert_equal "done\n", warm.run("test/a_test.rb").out
      assert_equal "quick.rb ", File.read(loads)
      assert_equal "application", warm.changed("lib/slow.rb")
      warm.loaded
      # The process that waits directly before the changed file is used, however quickly everything loads.
      warm.changed("test/test_helper.rb")
      assert_equal "done\n", warm.run("test/a_test.rb").out
      assert_equal "quick.rb #{"slow.rb quick.rb " * 2}", File.read(loads)
    end
  end

  OUTSIDE = [RbConfig.ruby, "-Itest", "-I../outside", "test/a_test.rb"].freeze

  def test_a_save_costs_only_the_file_itself
    log = "File.write('loads', File.basename(__FILE__) + ' ', mode: 'a')\n"
    files = {"../outside/large.rb" => log, "../outside/other.rb" => log, "lib/words.rb" => "require 'large'\n#{log}WORD = 1\n",
             "lib/more.rb" => "module More; VERSION = '1'; end\nrequire 'other'\n", "test/test_helper.rb" => "at_exit {}\n",
             "test/a_test.rb" => "require 'test_helper'\nrequire_relative '../lib/more'\nrequire_relative '../lib/words'\np WORD\n"}
    Warm.of(files, *OUTSIDE) do |warm|
      warm.learn("test/a_test.rb")
      # From the second time on, a process waits before it.
      warm.changed("lib/words.rb")
      warm.loaded
      [2, 3].each do |word|
        loads = warm.write("loads", "")
        warm.write("lib/words.rb", "require 'large'\n#{log}WORD = #{word}\n")
        refute_nil warm.changed("lib/words.rb")
        assert_equal "#{word}\n", warm.run("test/a_test.rb").out
        assert_equal "words.rb ", File.read(loads)
      end
    end
  end

  # Each prints what exists when it is loaded.
  LIBRARIES = {
    "variable" => ["ENV['MODE'] = 'mine'", "ENV['MODE'].inspect"],
    "asks" => ["module Mine; end", "defined?(Mine).inspect"],
    "opened" => ["class String; def mine = 1; end", "''.respond_to?(:mine)"],
    "global" => ["$mine = 1", "$mine.inspect"],
    "called" => ["Kernel.srand(1); def Kernel.mine = 1", "Kernel.respond_to?(:mine)"],
    "rescued" => ["begin; require 'missing'; rescue LoadError; ENV['RESCUED'] = 'mine'; end", "ENV['RESCUED'].inspect"],
    "raises" => ["module Other; end", "Object.constants.include?(:Other) || raise"],
    "warns" => ["module Another; end", "Object.constants.include?(:Another) || warn('early').inspect"]
  }.freeze

  def test_a_library_that_the_project_prepares_is_loaded_when_it_asks_for_it
    files = LIBRARIES.flat_map do |name, (before, found)|
      [["../outside/#{name}.rb", "FOUND_#{name.upcase} = #{found}\n"], ["lib/of_#{name}.rb", "#{before}\nrequire '#{name}'\n"]]
    end
    LIBRARIES.each_key.each_slice(4) do |names|
      test = names.map { |name| "require_relative '../lib/of_#{name}'\nputs FOUND_#{name.upcase}\n" }.join
      Warm.of(files.to_h.merge("test/a_test.rb" => test), *OUTSIDE) do |warm|
        cold = warm.run("test/a_test.rb").out
        warm.loaded
        2.times { assert_equal cold, warm.run("test/a_test.rb").out }
      end
    end
  end

  def test_a_library_that_the_project_prepares_by_now
    files = {"../outside/variable.rb" => "FOUND = ENV['MODE'].inspect\n", "lib/of.rb" => "require 'variable'\n",
             "test/a_test.rb" => "require_relative '../lib/of'\nputs FOUND\n"}
    Warm.of(files, *OUTSIDE) do |warm|
      warm.learn("test/a_test.rb")
      assert_match(/^a_test\.rb\tearly\t.*variable\.rb$/, warm.seen)
      warm.write("lib/of.rb", "ENV['MODE'] = 'mine'\nrequire 'variable'\n")
      warm.changed("lib/of.rb")
      2.times { assert_equal "\"mine\"\n", warm.run("test/a_test.rb").out }
    end
  end

  def test_only_who_asks_for_a_library_first_can_be_heard_by_it
    files = {"../outside/all.rb" => "ALL = 1\n", "lib/first.rb" => "require 'all'\n", "lib/last.rb" => "ENV['B'] = '1'\nrequire 'all'\n",
             "test/a_test.rb" => "require_relative '../lib/first'\nrequire_relative '../lib/last'\np ALL\n"}
    Warm.of(files, *OUTSIDE) do |warm|
      warm.learn("test/a_test.rb")
      2.times { assert_equal "1\n", warm.run("test/a_test.rb").out }
      assert_match(/\tearly\t.*all\.rb$/, warm.seen)
      refute_match(/\tlate\t/, warm.seen)
    end
  end

  def test_where_many_libraries_can_not_come_early_none_does
    names = %w[a b c d e f g]
    files = names.to_h { |name| ["../outside/#{name}.rb", "raise unless Object.constants.include?(:Of#{name.upcase})\n"] }
    names.each { |name| files["lib/of_#{name}.rb"] = "module Of#{name.upcase}; end\nrequire '#{name}'\n" }
    test = names.map { |name| "require_relative '../lib/of_#{name}'\n" }.join + "puts 'done'\n"
    Warm.of(files.merge("test/a_test.rb" => test), *OUTSIDE) do |warm|
      warm.learn("test/a_test.rb")
      2.times { assert_equal "done\n", warm.run("test/a_test.rb").out }
      assert_equal names, warm.seen.scan(/\tlate\t.*outside\/(\w+)\.rb$/).flatten.sort
    end
  end

  # Files that are loaded because a constant is named can be loaded in any order: the saved file is
  # the last one.
  def test_what_is_loaded_by_its_name_and_saved_comes_last
    log = "File.write('loads', File.basename(__FILE__) + ' ', mode: 'a')\n"
    names = %w[Base User Other Third]
    helper = names.map { |name| "autoload :#{name}, File.expand_path('../app/#{name.downcase}.rb', __dir__)\n" }.join
    files = names.to_h { |name| ["app/#{name.downcase}.rb", "#{log}class #{name}#{" < Base" if name == "User"}; end\n"] }
    files.merge!("test/test_helper.rb" => helper, "test/a_test.rb" => "require 'test_helper'\np User\np Other\np Third\n")
    Warm.of(files, *TESTS) do |warm|
      warm.learn("test/a_test.rb")
      loads = warm.write("loads", "")
      again = lambda do |name|
        warm.changed(name)
        warm.run("test/a_test.rb")
        File.read(loads).tap { File.write(loads, "") }
      end
      assert_equal "base.rb other.rb third.rb user.rb ", again["app/user.rb"]
      assert_equal "user.rb ", again["app/user.rb"]
      assert_equal "base.rb third.rb user.rb other.rb ", again["app/other.rb"]
      assert_equal "other.rb ", again["app/other.rb"]
    end
  end

  def test_a_save_in_a_folder_that_was_listed_is_none_of_the_list
    files = {"app/one.rb" => "", "app/deep/two.rb" => "", "test/a_test.rb" => "require 'test_helper'\nputs 'done'\n",
             "test/test_helper.rb" => "Dir.children('app')\nDir.glob('app/**/*.rb')\n"}
    Warm.of(files, *TESTS) do |warm|
      warm.learn("test/a_test.rb")
      assert_nil warm.changed("app/one.rb", "app/deep/two.rb")
      warm.write("app/deep/three.rb", "")
      assert_equal "helpers", warm.changed("app/deep/three.rb")
      warm.loaded
      assert_nil warm.changed("app/deep/three.rb")
      File.unlink(File.join(warm.project, "app/one.rb"))
      assert_equal "helpers", warm.changed("app/one.rb")
      assert_equal "done\n", warm.run("test/a_test.rb").out
    end
  end

  def test_gems_are_those_that_a_new_process_has
    script = "require 'minitest'\nrequire 'set'\nputs Gem.loaded_specs.values.map { |spec| spec.full_name }.sort, $LOAD_PATH\n"
    Warm.of({"script.rb" => script}, RbConfig.ruby, "script.rb") do |warm|
      cold, = Open3.capture2e(RbConfig.ruby, "script.rb", chdir: warm.project)
      3.times do
        assert_equal cold, warm.run("script.rb").out
        warm.till("ready") { warm.state["ready"] }
      end
      assert_match(/^script\.rb\tgem\tminitest /, warm.seen)
      # Gems that Bundler may need in another version are not activated in advance.
      warm.write("Gemfile.lock", "GEM\n  specs:\n    minitest (0.0.1)\n")
      warm.write("script.rb", "puts Gem.loaded_specs.key?('minitest')\n")
      assert_equal "framework", warm.changed("Gemfile.lock")
      assert_equal "false\n", warm.run("script.rb").out
    end
  end

  def test_a_file_that_is_new_is_loaded_where_its_folder_was_listed
    helper = "Dir[File.join(__dir__, 'support/**/*.rb')].sort.each { |file| require file }\n"
    files = {"test/test_helper.rb" => helper, "test/support/one.rb" => "ONE = 1\n",
             "test/a_test.rb" => "require 'test_helper'\np Object.const_defined?(:TWO)\n"}
    Warm.of(files, *TESTS) do |warm|
      warm.learn("test/a_test.rb")
      assert_equal "false\n", warm.run("test/a_test.rb").out
      warm.write("test/support/deep/two.rb", "TWO = 2\n")
      assert_equal "helpers", warm.changed("test/support/deep/two.rb")
      assert_equal "true\n", warm.run("test/a_test.rb").out
      assert_nil warm.changed("test/b_test.rb")
    end
  end

  def test_a_question_that_is_none_is_refused
    Warm.of(FILES, *TESTS) do |warm|
      ["[]", "{", "{\"run\":1}", "3", "{\"what\":1}"].each do |question|
        UNIXSocket.open(warm.socket) { |socket| socket.puts(question); assert_match(/refused/, socket.gets) }
      end
      assert_equal 0, warm.run("test/a_test.rb").exit
    end
  end

  SCRIPT = <<~'RUBY'
    at_exit { puts "at exit" }
    trap("USR1") { puts "signal"; exit(5) }
    puts [ARGV, Dir.pwd, ENV["NAME"], $stdin.read, DATA.read, __FILE__, $0, Process.getsid == $$].inspect
    $stdout.flush
    warn "to the other"
    case ARGV[0]
    when "raise" then raise "raised"
    when "kill" then Process.kill(:TERM, $$); sleep
    when "abort" then abort
    when "exit!" then exit!(9)
    when "wait" then sleep
    end
    __END__
    data
  RUBY

  def test_a_script_has_all_that_is_its_own
    Warm.of({"script.rb" => SCRIPT}, RbConfig.ruby, "script.rb") do |warm|
      name = "ü\u0001\"\\ \u{1f600}"
      whole = warm.run("script.rb", "x", env: {"NAME" => name}, input: "in", merge: false)
      shown = [["x"], warm.project, name, "in", "data\n", "script.rb", "script.rb", true].inspect
      assert_equal "#{shown}\nat exit\n", whole.out
      {"x" => {"exit" => 0}, "raise" => {"exit" => 1}, "kill" => {"signal" => 15}, "abort" => {"exit" => 1}, "exit!" => {"exit" => 9}}.each do |argument, ended|
        assert_equal ended, warm.run("script.rb", argument).ended, argument
      end
      assert_match(/to the other\n.*script\.rb:7:in .*raised/m, warm.run("script.rb", "raise").out)
      assert_match(/"\/",/, warm.run("#{warm.project}/script.rb", cwd: "/").out)
      assert_match(/not what was loaded/, warm.run("other").refused)
      cold, = Open3.capture2e(RbConfig.ruby, "script.rb", "raise", chdir: warm.project)
      assert_equal cold.sub("false]", "true]"), warm.run("script.rb", "raise").out
      warm.write("bad.rb", "x = )\n")
      %w[bad.rb gone.rb].each do |name|
        cold, status = Open3.capture2e(RbConfig.ruby, name, chdir: warm.project)
        ran = warm.run(name)
        assert_equal [cold.sub(/^.*?ruby\S*: /, "ruby: "), status.exitstatus], [ran.out, ran.exit]
      end
    end
  end

  # The state of its process as seen by a program.
  PROCESS = <<~'RUBY'
    signals = %w[INT TERM HUP CHLD PIPE USR1].map { |name| trap(name, "DEFAULT") }
    streams = [$stdin, $stdout, $stderr].map { |io| [io.external_encoding, io.sync, io.fileno, io.binmode?, io.tty?, io.close_on_exec?] }
    p signals, streams, Thread.list.size, File.umask, $VERBOSE, self.to_s, binding.local_variables, $*, $0, __dir__, ENV.keys.grep(/\AASSAY_(WARM|TESTS)/)
    open = Dir.children("/proc/self/fd").map(&:to_i).map { |number| File.readlink("/proc/self/fd/#{number}") rescue nil }
    p open.grep(/socket/).size
  RUBY

  def test_a_process_is_as_it_is_anew
    Warm.of({"script.rb" => PROCESS}, RbConfig.ruby, "script.rb") do |warm|
      cold, = Open3.capture2e(RbConfig.ruby, "script.rb", "x", stdin_data: "", chdir: warm.project)
      assert_equal cold, warm.run("script.rb", "x").out
    end
  end

  EXITS = <<~'RUBY'
    $stdout.sync = true
    at_exit { puts "first #{$!.inspect}"; raise "late" if ARGV[0] == "late" }
    at_exit { puts "second #{$!.inspect}"; exit(4) if ARGV[1] }
    at_exit { at_exit { puts "within #{$!.inspect}" } }
    case ARGV[0]
    when "raise" then raise "raised"
    when "exit" then exit(3)
    when "abort" then abort("aborted")
    end
  RUBY

  def test_handlers_of_exit_are_called_as_ever
    Warm.of({"script.rb" => EXITS}, RbConfig.ruby, "script.rb") do |warm|
      [[], %w[raise], %w[exit], %w[abort], %w[late], %w[none x], %w[raise x], %w[exit x], %w[late x]].each do |arguments|
        cold, status = Open3.capture2e(RbConfig.ruby, "script.rb", *arguments, chdir: warm.project)
        ran = warm.run("script.rb", *arguments)
        assert_equal [cold.lines.sort, status.exitstatus], [ran.out.lines.sort, ran.exit], arguments.inspect
      end
    end
  end

  def test_runs_overlap_and_are_ended_as_groups
    Warm.of({"script.rb" => SCRIPT}, RbConfig.ruby, "script.rb") do |warm|
      one, two, three = Array.new(3) { warm.begin("script.rb", "wait") }
      [one, two, three].each { |_, _, out| assert_match(/wait/, out.gets) }
      assert_equal 1, warm.state["version"]
      assert_equal 0, warm.run("script.rb").exit
      Process.kill(:USR1, one[1]["pid"])
      assert_equal({"exit" => 5}, JSON.parse(one[0].gets))
      Process.kill(:KILL, -two[1]["pid"])
      assert_equal({"signal" => 9}, JSON.parse(two[0].gets))
      # The client has gone.
      three[0].close
      warm.till("ended") { !Warm.alive?(three[1]["pid"]) }
    end
  end

  def test_a_stage_that_dies_is_made_again
    Warm.of(FILES, *TESTS) do |warm|
      warm.learn("test/a_test.rb")
      Process.kill(:KILL, warm.state["stages"].last["pid"])
      assert_equal 0, warm.run("test/a_test.rb").exit
      Process.kill(:KILL, warm.state["stages"].first["pid"])
      warm.till("made again") { warm.run("test/a_test.rb").exit == 0 }
    end
  end

  def test_nothing_stays_behind
    Warm.of(FILES.merge("test/c_test.rb" => "require 'test_helper'\nputs 'here'; $stdout.flush; sleep\n"), *TESTS) do |warm|
      warm.learn("test/a_test.rb")
      _, said, out = warm.begin("test/c_test.rb")
      assert_equal "here\n", out.gets
      all = [*warm.processes, said["pid"]]
      assert_equal 4, all.size
      warm.leave
      warm.till("gone") { all.none? { |pid| Warm.alive?(pid) } }
      refute_match(/socket/, Dir.children(File.dirname(warm.project)).join(" "))
    end
    Warm.of(FILES, *TESTS) do |warm|
      all = warm.processes
      assert_nil warm.ask({stop: true})
      warm.till("gone") { all.none? { |pid| Warm.alive?(pid) } }
    end
  end

  def test_what_a_fork_does_not_carry_over_is_named
    files = FILES.merge("test/test_helper.rb" => <<~'RUBY', "config.yml" => "a: 1\n")
      require "yaml"
      ENV["MODE"] ||= "test"
      $config = YAML.load_file("config.yml")
      Thread.new { sleep }.name = "the poller"
      at_exit { puts "after #{$config} in #{ENV["MODE"]}" }
      require "minitest/autorun"
      require_relative "../lib/foo"
    RUBY
    Warm.of(files, *TESTS) do |warm|
      warm.learn("test/a_test.rb")
      assert_match(/the poller/, warm.state["notes"].join)
      assert_match(/after \{"a"=>1\} in test/, warm.run("test/a_test.rb").out)
      refute_match(/after/, File.read(warm.log))
      assert_match(/`LC_ALL` has another value/, warm.run("test/a_test.rb", env: {"LC_ALL" => "de_DE"}).refused)
      warm.write("config.yml", "a: 2\n")
      refute_nil warm.changed("config.yml")
      assert_match(/after \{"a"=>2\}/, warm.run("test/a_test.rb").out)
    end
  end

  def test_rails_connections
    skip("needs ActiveRecord and SQLite (Debian: ruby-activerecord, ruby-sqlite3)") unless there?("active_record") && there?("sqlite3")
    helper = <<~'RUBY'
      require "active_record"
      ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ENV.fetch("FILE"))
      ActiveRecord::Schema.verbose = false
      ActiveRecord::Schema.define { create_table(:users, force: true) { |table| table.string(:name) } }
      class User < ActiveRecord::Base; end
      require "minitest/autorun"
    RUBY
    test = "require 'test_helper'\nclass UserTest < Minitest::Test\n  def test_user = (User.create!(name: 'a'); assert_equal('a', User.last.name))\nend\n"
    %w[users.db :memory:].each do |file|
      Warm.of({"test/test_helper.rb" => helper, "test/user_test.rb" => test}, {"FILE" => file}, RbConfig.ruby, "-Itest", "test/user_test.rb") do |warm|
        warm.learn("test/user_test.rb", env: {"FILE" => file})
        2.times { assert_match(/^1 runs, 1 assertions, 0 failures, 0 errors/, warm.run("test/user_test.rb", env: {"FILE" => file}).out) }
      end
    end
  end

  RAILS = {
    "bin/rails" => "APP_PATH = File.expand_path('../config/application', __dir__)\nrequire_relative '../config/boot'\nrequire 'rails/commands'\n",
    "config/boot.rb" => "require 'pathname'\n",
    "config/application.rb" => <<~'RUBY',
      require "rails"
      require "active_record/railtie"
      require "rails/test_unit/railtie"
      class Application < Rails::Application
        config.eager_load = false
        config.logger = Logger.new(nil)
        config.secret_key_base = "none"
      end
    RUBY
    # A setting that Rails passes to ActiveRecord when ActiveRecord is loaded, not earlier.
    "config/initializers/own.rb" => "Rails.application.config.active_record.primary_key_prefix_type = :table_name\n",
    "config/environment.rb" => "require_relative 'application'\nRails.application.initialize!\n",
    "config/database.yml" => "test:\n  adapter: sqlite3\n  database: ':memory:'\n",
    "test/test_helper.rb" => "require_relative '../config/environment'\nrequire 'rails/test_help'\n",
    "app/models/words.rb" => "module Words\n  WORD = 'begin'\nend\n",
    "test/words_test.rb" => <<~'RUBY'
      require "test_helper"
      class WordsTest < ActiveSupport::TestCase
        test("words") { puts "it is #{Words::WORD} #{ActiveRecord::Base.primary_key_prefix_type}" }
      end
    RUBY
  }.freeze

  def test_rails
    skip("needs Rails and SQLite (Debian: ruby-rails, ruby-sqlite3)") unless there?("rails/version") && there?("active_record") && there?("sqlite3")
    env = {"RAILS_ENV" => "test"}
    Warm.of(RAILS, env, RbConfig.ruby, "bin/rails", "test") do |warm|
      warm.learn("bin/rails", "test", env: env)
      assert_nil warm.changed("app/models/words.rb")
      warm.write("app/models/words.rb", "module Words\n  WORD = 'saved'\nend\n")
      2.times { assert_match(/^it is saved table_name$/, warm.run("bin/rails", "test", env: env).out) }
      warm.loaded
      refute_match(/active_record\/base\.rb/, warm.seen)
      assert_empty(warm.state["notes"].grep(/could not/))
    end
  end

  # Runs cannot affect the process that they were forked from.
  def test_what_runs_do_to_their_process
    files = FILES.merge("test/c_test.rb" => <<~'RUBY')
      require "test_helper"
      class CTest < Minitest::Test
        parallelize_me!
        4.times { |number| define_method("test_thread_#{number}") { sleep 0.001; assert_equal 1, Foo.new.a } }
        def test_fork = (Process.wait(fork { Foo.new.a; exit!(0) }); assert_equal 0, $?.exitstatus)
        def test_child = assert_equal("1\n", `#{RbConfig.ruby} -e 'puts 1'`)
        def test_variables = assert_empty(ENV.keys.grep(/ASSAY_WARM/))
        def test_closes = (3..99).each { |number| IO.for_fd(number, autoclose: false).close rescue nil } if ARGV.include?("closes")
      end
    RUBY
    Warm.of(files, *TESTS) do |warm|
      warm.learn("test/a_test.rb")
      ran = warm.run("test/c_test.rb")
      assert_match(/^7 runs, .* 0 failures, 0 errors/, ran.out)
      assert_equal 0, ran.exit
      warm.run("test/c_test.rb", "--", "closes")
      assert_equal 0, warm.run("test/a_test.rb").exit
    end
  end

  def test_files_that_print_are_left_to_the_run
    files = {"lib/loud.rb" => "puts 'loud'\n", "lib/quiet.rb" => "$quiet = true\n",
             "test/a_test.rb" => "require_relative '../lib/loud'\nrequire_relative '../lib/quiet'\nputs 'done'\n"}
    Warm.of(files, *TESTS) do |warm|
      3.times { assert_equal "loud\ndone\n", warm.run("test/a_test.rb").out }
      warm.loaded
      assert_equal [File.join(warm.project, "lib/quiet.rb")], warm.state["loaded"]
      assert_equal "loud\ndone\n", warm.run("test/a_test.rb").out
    end
  end

  SPECS = {
    ".rspec" => "--require spec_helper\n",
    "lib/foo.rb" => FILES["lib/foo.rb"],
    "spec/spec_helper.rb" => "require 'foo'\nRSpec.configure { |config| config.order = :random; Kernel.srand(config.seed) }\n",
    "spec/a_spec.rb" => "RSpec.describe(Foo) do\n  it('works') { expect(Foo.new.a).to eq 1 }\n  it('fails') { expect(rand(1 << 40)).to eq 1 }\nend\n",
    "spec/b_spec.rb" => "RSpec.describe('b') { it('is there') {} }\n"
  }.freeze

  def test_rspec
    skip("needs RSpec (Debian: ruby-rspec)") unless there?("rspec/core/version")
    Warm.of(SPECS, RbConfig.ruby, "-S", "rspec") do |warm|
      warm.learn("rspec", "--seed", "3")
      assert_match(/^1 example, 0 failures/, warm.run("rspec", "spec/b_spec.rb").out)
      assert_match(/^1 example, 0 failures/, warm.run("rspec", "spec/a_spec.rb[1:1]").out)
      assert_match(/^1 example, 0 failures/, warm.run("rspec", only: ["spec/a_spec.rb:2"]).out)
      options = ["spec/a_spec.rb:3", "--seed", "5", "--no-color"]
      cold, = Open3.capture2e(RbConfig.ruby, "-S", "rspec", *options, chdir: warm.project)
      ran = warm.run("rspec", *options)
      assert_equal plain(cold), plain(ran.out)
      assert_equal 1, ran.exit
      seeds = Array.new(3) { warm.run("rspec").out[/seed (\d+)/, 1] }
      assert_operator seeds.uniq.size, :>, 1
    end
  end

  def test_test_unit
    skip("needs test-unit (Debian: ruby-test-unit)") unless there?("test/unit/version")
    helper = "require_relative '../lib/foo'\nrequire 'test/unit'\n"
    test = "require 'test_helper'\nclass UnitTest < Test::Unit::TestCase\n  def test_a = (require('set'); require('csv'); assert_equal(1, Foo.new.a))\nend\n"
    Warm.of(FILES.merge("test/test_helper.rb" => helper, "test/a_test.rb" => test), *TESTS) do |warm|
      first = warm.learn("test/a_test.rb")
      again = warm.run("test/a_test.rb")
      [first, again].each { |ran| assert_match(/^1 tests, 1 assertions, 0 failures/, ran.out) }
      refute_match(/csv/, warm.seen)
      cold, = Open3.capture2e(*TESTS, "--name", "nothing", chdir: warm.project)
      assert_equal plain(cold), plain(warm.run("test/a_test.rb", "--name", "nothing").out)
    end
  end

  def test_under_bundler_and_in_rake
    skip("needs Bundler and RSpec (Debian: ruby-bundler, ruby-rspec)") unless there?("bundler") && there?("rspec/core/version")
    bundle = "require 'bundler'\nrequire 'bundler/friendly_errors'\n" \
             "Bundler.with_friendly_errors { require 'bundler/cli'; Bundler::CLI.start(ARGV) }\n"
    files = SPECS.merge("bin/bundle" => bundle, "Gemfile" => "source 'https://rubygems.org'\ngem 'rspec'\n")
    Warm.of(files, RbConfig.ruby, "bin/bundle", "exec", "rspec") do |warm|
      # The first run writes the lock file, which is a change as well.
      warm.run("bin/bundle", "exec", "rspec")
      warm.loaded
      assert_match(/^1 example, 0 failures/, warm.run("bin/bundle", "exec", "rspec", "spec/b_spec.rb").out)
      assert_match(/^1 example, 0 failures/, warm.run("rspec", "spec/b_spec.rb").out)
      assert_match(/not what was loaded/, warm.run("bin/bundle", "exec", "rake").refused)
      assert_equal "framework", warm.changed("Gemfile")
      assert_match(/^1 example, 0 failures/, warm.run("rspec", "spec/b_spec.rb").out)
    end
    rakefile = "require_relative 'lib/foo'\ntask(:show) { puts [Foo.new.a, ENV['A'], ARGV].inspect; exit 3 }\n"
    Warm.of(FILES.merge("Rakefile" => rakefile), RbConfig.ruby, "-S", "rake", "show") do |warm|
      first = warm.learn("rake", "show", env: {"A" => "b"})
      again = warm.run("rake", "show", env: {"A" => "b"})
      assert_equal ["[1, \"b\", [\"show\"]]\n", 3] * 2, [first.out, first.exit, again.out, again.exit]
      assert_equal ["lib/foo.rb"], warm.state["loaded"].map { |path| path.delete_prefix("#{warm.project}/") }
    end
  end

  # Rake starts another Ruby for tests; here, that is a fork as well.
  def test_tests_that_rake_starts
    skip("needs Rake (Debian: rake)") unless there?("rake")
    rakefile = "require 'rake/testtask'\nRake::TestTask.new { |task| task.libs << 'test'; task.pattern = 'test/*_test.rb' }\n" \
               "task(:other) { sh('echo other') }\n"
    rake = [RbConfig.ruby, "-S", "rake", "test"]
    Warm.of(FILES.merge("Rakefile" => rakefile, "test/b_test.rb" => FILES["test/a_test.rb"].sub("ATest", "BTest")), *rake) do |warm|
      events = File.join(File.dirname(warm.project), "events")
      Dir.mkdir(events)
      env = {"ASSAY_TESTS" => "path:#{events}", "RUBYOPT" => "-r#{HOOKS}/assay_tests.rb", "TESTOPTS" => "--seed=1"}
      cold, = Open3.capture2e({"TESTOPTS" => "--seed=1"}, *rake, chdir: warm.project)
      3.times do
        ran = warm.run("rake", "test", env: env)
        assert_equal [plain(cold), 0], [plain(ran.out), ran.exit]
        warm.loaded
      end
      assert_equal 3, Dir.children(events).size
      assert_equal %w[lib/foo.rb test/test_helper.rb], warm.state["loaded"].map { |path| path.delete_prefix("#{warm.project}/") }.sort
      warm.write("test/b_test.rb", FILES["test/b_test.rb"])
      ran = warm.run("rake", "test")
      assert_match(/^2 runs, 2 assertions, 1 failures/, ran.out)
      assert_match(/Command failed with status \(1\)|rake aborted/, ran.out)
      assert_equal 1, ran.exit
      assert_equal 0, warm.run("rake", "test", env: {"TEST" => "test/a_test.rb"}).exit
    end
  end

  def test_events_of_a_run_are_those_of_the_command
    Warm.of(FILES, *TESTS, hooks: Suites.hooks_with_library) do |warm|
      3.times do |number|
        events = File.join(File.dirname(warm.project), "events#{number}")
        Dir.mkdir(events)
        env = {"ASSAY_TESTS" => "path:#{events}", "ASSAY_TESTS_COVERAGE" => "path:#{warm.project}",
               "RUBYOPT" => "-r#{Suites.hooks_with_library}/assay_tests.rb"}
        ran = warm.run("test/a_test.rb", env: env)
        assert_equal 0, ran.exit, ran.out
        assert_equal ["#{ran.pid}.jsonl"], Dir.children(events)
        seen = Seen.new(events: read(File.join(events, "#{ran.pid}.jsonl")))
        assert_equal({"lib/foo.rb" => [2], "test/a_test.rb" => [3]}, seen.covers("test_a")["blocks"])
        assert_equal ["lib/foo.rb", "test/a_test.rb", "test/test_helper.rb"], seen.loaded.flat_map { |line| line["loaded"] }.sort
        assert_empty seen.of("problem")
        assert seen.events.last.key?("end")
        warm.loaded
      end
      # No trace of it is left in runs that do not request it.
      assert_match(/^1 runs, .* 0 failures/, warm.run("test/a_test.rb").out)
    end
  end

  private

  # Without times.
  def plain(out) = out.gsub(/\d+\.\d+/, "N").gsub(/ +$/, "")
end
