# frozen_string_literal: true

# The hook for Rails, with only the parts of Rails that it uses. Each test runs in a separate
# process, since the hook is installed once per process.

require "minitest/autorun"
require "rbconfig"

class RailtieTest < Minitest::Test
  # The necessary part of Rails::Railtie: settings shared by subclasses, initializers, and hooks that run after loading.
  RAILS = <<~RUBY
    module Rails
      class Railtie
        def self.config = ($config ||= Settings.new)
        def self.initializer(name, &block) = ($initializers ||= {}).store(name, block)
      end
      class Settings < Struct.new(:assay, :middleware)
        def after_initialize(&block) = ($after ||= []) << block
      end
      class Stack < Array
        def insert_before(at, *middleware, **options) = insert(at, [*middleware, options])
      end
      def self.start
        app = Struct.new(:config).new($config)
        app.config.middleware = Stack.new([:others])
        $initializers.each_value { |block| block.call(app) }
        yield app
        $after.each { |block| block.call(app) }
      end
    end
  RUBY

  def test_without_rails_it_does_nothing
    assert_equal "nil\n", ruby('require "assay/railtie"; p defined?(Assay::Railtie)')
  end

  def test_the_middleware_comes_first_and_what_is_loaded_is_patched_in_the_end
    said = ruby(<<~RUBY)
      #{RAILS}
      require "assay/railtie"
      Rails.start { require "net/http"; p Assay::Patches.rows }
      p $config.middleware, Assay::Patches.rows
    RUBY
    assert_equal "[]\n[[Assay::Rack, {}], :others]\n[:net, :net_connect]\n", said
  end

  def test_the_settings_are_the_applications
    said = ruby(<<~RUBY)
      #{RAILS}
      require "net/http"
      require "assay/railtie"
      $config.assay.patches = [:pg]
      $config.assay.rack = {header: false}
      Rails.start { |app| app }
      p $config.middleware.first == [Assay::Rack, {header: false}], Assay::Patches.rows
    RUBY
    assert_equal "true\n[]\n", said
  end

  def test_it_can_be_turned_off
    said = ruby(<<~RUBY)
      #{RAILS}
      require "net/http"
      require "assay/railtie"
      $config.assay.enabled = false
      Rails.start { |app| app }
      p $config.middleware, Assay::Patches.rows
    RUBY
    assert_equal "[:others]\n[]\n", said
  end

  private

  def ruby(program)
    paths = $LOAD_PATH.first(3).flat_map { |path| ["-I", path] }
    IO.popen([RbConfig.ruby, *paths, "-", err: %i[child out]], "r+") do |child|
      child.write(program)
      child.close_write
      child.read.gsub("{header: false}", "{:header=>false}") # In the format of Ruby 3.4.
    end
  end
end
