# frozen_string_literal: true

# Rack middleware: counts, for each request, how often methods were called and how long they took.
# This file is what users reference in config.ru; the life of one request is in rack/request.rb, and
# its totals are written by rack/header.rb, log.rb and samples.rb. It needs no gem, not even rack.
# It must not decide what is patched: see patches.rb and MethodProfiler.patch.

require_relative "method_profiler"

module Assay
  # Defined first, since the files below are parts of it, and `require "assay"` would autoload this
  # file for them.
  class Rack; end
end

require_relative "rack/totals"
require_relative "rack/header"
require_relative "rack/log"
require_relative "rack/samples"
require_relative "rack/body"
require_relative "rack/request"

module Assay
  # Reports each request's totals as a header, a log line, and values for `assay`.
  #
  #   # config.ru
  #   require "assay"
  #   Assay::Patches.apply(:pg, :redis)
  #   use Assay::Rack, log: $stdout
  #   run App
  #
  # The response then has
  #
  #   server-timing: sql;dur=3.214;desc="12 calls", redis;dur=0.871;desc="7 calls", total;dur=6.102
  #
  # which browsers show among the timings of the request, and the log
  #
  #   time=2026-11-21T20:05:03.123Z method=GET path=/users status=200 total_ms=6.140 sql_calls=12 sql_ms=3.214 redis_calls=7 redis_ms=0.871
  #
  # Counts in the thread that handles the request (in the fiber, under a fiber scheduler), and again
  # while the body is read, in whichever thread that happens. Code that hands work to its own
  # threads attaches them: `env["assay.profile"].attach { ... }`. The middleware calls
  # MethodProfiler.keep!, which documents the cost of the wrappers: under a server they stay in.
  class Rack
    # Key in env of a request's running profile, to which threads can be attached. While the body is
    # read, it is a different one.
    PROFILE = "assay.profile"

    # app::     the application
    # header::  adds the header Server-Timing, with the counts up to the application's return: true,
    #           false, or something to `call` with env. Clients can read it: pass false, or a
    #           condition, if they should not
    # log::     an IO, a Logger, or anything with `<<`: receives a line once the response has been
    #           read. A line that cannot be written without waiting is dropped; the next one reports
    #           how many were dropped before it
    # format::  of these lines, :logfmt or :json
    # samples:: true to pass each request's totals to the `assay` that measures this process, if any
    # only::    something to `call` with env that returns true for requests to count; all by default
    # scope::   :thread or :fiber (see MethodProfiler.start) [default: :fiber if the thread has a
    #           fiber scheduler]
    def initialize(app, header: true, log: nil, format: :logfmt, samples: true, only: nil, scope: nil)
      check_callable("only", only) unless only.nil?
      check_callable("header", header) unless [true, false, nil].include?(header)
      unless [nil, :thread, :fiber].include?(scope)
        raise ArgumentError, "scope: is :thread or :fiber, or left out, not #{scope.inspect}"
      end

      @app = app
      @only = only
      @header = header
      @scope = scope
      @outputs = [(Log.new(log, format) if log), (Samples if samples && Assay::Samples.wanted?)].compact
      MethodProfiler.keep!
    end

    # Handles a request, per the Rack interface.
    def call(env)
      return @app.call(env) if env[PROFILE]&.running? || (@only && !@only.call(env)) # If installed twice, the outer one counts.

      request = Request.new(env, @scope, @outputs)
      add_header(env, request, request.answer { @app.call(env) })
    end

    private

    def add_header(env, request, answer)
      status, headers, body = *answer
      return answer if headers.nil? || request.hijacked? || !(@header == true || (@header && @header.call(env)))

      [status, Header.added(headers, request.totals), body]
    end

    def check_callable(what, given)
      return if given.respond_to?(:call)

      raise ArgumentError, "#{what}: takes something to call with the request's env, such as ->(env) { ... }, not #{given.inspect}"
    end
  end
end
