# frozen_string_literal: true

# Rack middleware: for each request, which methods were called how often and how long they took. This file is what users write into
# config.ru; the life of one request is in rack/request.rb, the three places to which its totals go are in rack/header.rb, log.rb and
# samples.rb. It needs no gem, not even rack. It must not decide what is patched: see patches.rb and MethodProfiler.patch.

require_relative "method_profiler"

module Assay
  # Here first, since the files below are parts of it, and `require "assay"` would load this one for them.
  class Rack; end
end

require_relative "rack/totals"
require_relative "rack/header"
require_relative "rack/log"
require_relative "rack/samples"
require_relative "rack/body"
require_relative "rack/request"

module Assay
  # Each request's totals, as a header, a line of a log, and values for `assay`.
  #
  #   # config.ru
  #   require "assay"
  #   Assay::Patches.apply(:pg, :redis)
  #   use Assay::Rack, log: $stdout
  #   run App
  #
  # The answer then has
  #
  #   server-timing: sql;dur=3.214;desc="12 calls", redis;dur=0.871;desc="7 calls", total;dur=6.102
  #
  # which browsers show among the timings of the request, and the log
  #
  #   time=2026-11-21T20:05:03.123Z method=GET path=/users status=200 total_ms=6.140 sql_calls=12 sql_ms=3.214 redis_calls=7 redis_ms=0.871
  #
  # It counts in the thread that handles the request (in the fiber, where a fiber scheduler runs), and again while the body is read, in
  # whichever thread that happens. Code that hands work to threads of its own attaches them: `env["assay.profile"].attach { ... }`.
  # What the wrappers cost is said with MethodProfiler.keep!, which this calls: under a server they stay in.
  class Rack
    # Where a request's running profile is, for whoever wants to attach a thread to it. It is another one while the body is read.
    PROFILE = "assay.profile"

    # app::     the application
    # header::  whether the answer gets the header Server-Timing, with what was counted until the application returned: true, false, or
    #           something to `call` with env. Whoever gets the answer can read it: say false, or for whom, if that is not for all
    # log::     an IO, a Logger, or anything with `<<`: gets a line when the answer was read. A line that can't be written is lost,
    #           never waited for; the next one says how many were lost before it
    # format::  of these lines, :logfmt or :json
    # samples:: whether each request is given to the `assay` that measures this process, if one does: true or false
    # only::    something to `call` with env, which says whether this request is counted; all are without it
    # scope::   :thread or :fiber (see MethodProfiler.start); by itself :fiber where the thread has a fiber scheduler
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

    # Handles a request, as Rack wants it.
    def call(env)
      return @app.call(env) if env[PROFILE]&.running? || (@only && !@only.call(env)) # The first: this middleware is there twice.

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
