# frozen_string_literal: true

# For Rails: `gem "assay-bench", require: "assay/railtie"` in the Gemfile. Inserts Assay::Rack
# before all other middleware, so that these count too, and applies the ready-made patches once the
# application is loaded. Without Rails this file does nothing; nothing here needs it.
#
#   # config/application.rb, or one of the environments
#   config.assay.enabled = false                          # true if left out
#   config.assay.patches = %i[pg redis]                   # all that are loaded if left out
#   config.assay.rack = {log: $stdout, format: :json}     # options of Assay::Rack; {} if left out

require_relative "rack"
require_relative "patches"

if defined?(::Rails::Railtie)
  module Assay
    # The hook.
    class Railtie < ::Rails::Railtie
      # The value of config.assay.
      Settings = Struct.new(:enabled, :patches, :rack)

      config.assay = Settings.new(true, [], {})

      initializer "assay.middleware" do |app|
        settings = app.config.assay
        app.config.middleware.insert_before(0, Assay::Rack, **settings.rack) if settings.enabled
      end

      config.after_initialize do |app|
        settings = app.config.assay
        Assay::Patches.apply(*settings.patches) if settings.enabled
      end
    end
  end
end
