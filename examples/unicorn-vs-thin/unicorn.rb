# frozen_string_literal: true

# As in the experiment: three processes, forked from one that has loaded the application.
worker_processes Integer(ENV.fetch("WORKERS", "3"))
preload_app true
timeout 30
