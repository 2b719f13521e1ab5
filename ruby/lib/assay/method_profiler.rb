# frozen_string_literal: true

# How often are these methods called, and how much time is spent in them? For every request, in production.
#
# This file is what users call. What is patched is in method_profiler/patches.rb, how a patched method looks in wrapper.rb, who counts
# in recorder.rb, what comes out in profile.rb. It must not measure or patch by itself.

module Assay
  # Counts and times the calls of chosen methods, in the thread that asks for it, and costs nothing while nobody asks.
  #
  #   Assay::MethodProfiler.patch(PG::Connection, [:exec, :exec_params], :sql)   # once
  #
  #   Assay::MethodProfiler.start
  #   handle_the_request
  #   Assay::MethodProfiler.stop.to_h   # => {total_duration: 0.21, sql: {duration: 0.111, calls: 12}}
  #
  # A profile counts in the thread that started it, in all fibers of it, and nowhere else; with `scope: :fiber` only in the fiber that
  # started it, which is right where a scheduler runs a request per fiber. Running#attach lets it count in another thread too.
  # Profiles may be nested: a block within a profile is another, both count, and `stop` ends the innermost. A second `start` in a fiber
  # replaces the first one, which somebody forgot to stop.
  #
  # The patched methods look as before: arguments, blocks, results, exceptions, visibility and arity. Calls within calls of the same
  # name are counted, but their time is not counted twice.
  module MethodProfiler
    # `stop` where nothing was started.
    class NotRunning < RuntimeError; end
  end
end

require_relative "method_profiler/recorder"
require_relative "method_profiler/wrapper"
require_relative "method_profiler/unpatchable"
require_relative "method_profiler/patches"
require_relative "method_profiler/calibration"
require_relative "method_profiler/profile"
require_relative "method_profiler/running"

module Assay
  module MethodProfiler
    class << self
      # Makes methods of a class or module known under a name; all methods of one name are added up in one row. They are wrapped when a
      # profile starts anywhere in the process, and unwrapped when the last one stops, so that nobody pays for them in between.
      #
      #   patch(Redis::Client, :call, :redis)
      #   patch(Net::HTTP, :get, :http, singleton: true)    # Net::HTTP.get
      #   patch(PG::Connection, %i[exec async_exec], :sql, nested: false)
      #
      # owner::     a class or module, a singleton class, or any object together with `singleton: true`
      # methods::   names of methods that the owner has, its own, inherited, private or defined in C
      # name::      of the row; "Owner#method" for each method if left out
      # singleton:: the owner's own methods (class methods) instead of those of its instances
      # nested::    false where methods of this name call each other, and such a call is one for whoever counts: then a call within
      #             a call of the same name does not count
      # keep::      leaves the wrappers in all the time (see keep!)
      #
      # What is patched already under this name is left as it is. Raises NameError if there is no such method, FrozenError if the owner
      # is frozen, ArgumentError if the method has another name already or is one that can't be wrapped. Then nothing was patched.
      def patch(owner, methods, name = nil, singleton: false, nested: true, keep: false)
        Patches.add(owner_of(owner, singleton), symbols(methods), name && symbols(name).first, nested: nested, keep: keep)
        nil
      rescue Ractor::IsolationError
        raise_in_ractor
      end

      # Undoes `patch` for these methods, or for all of the owner. Gives the names of the methods that had been patched.
      def unpatch(owner, methods = nil, singleton: false)
        Patches.remove(owner_of(owner, singleton), methods && symbols(methods))
      rescue Ractor::IsolationError
        raise_in_ractor
      end

      # The name under which a method was patched; nil if it was not.
      def patched(owner, method, singleton: false) = Patches.name_of(owner_of(owner, singleton), method.to_sym)

      # [[class, method], …] of what is patched under this name.
      def methods_named(name) = Patches.methods_named(name.to_sym)

      # Starts a profile in this thread, and gives it as a Running.
      #
      # exclusive::   also count the time that is spent in a method itself, less that in other patched methods that it calls
      # allocations:: also count the objects that are made meanwhile; by the whole process, since Ruby counts no others
      # scope::       :thread (all fibers of this thread), or :fiber (this fiber only)
      # nested::      true for a profile within another one; otherwise it replaces a profile that was started in this fiber and never stopped
      #
      # Exclusive time and allocations cost extra: see Profile#overhead.
      def start(exclusive: false, allocations: false, scope: :thread, nested: false)
        Running.new(exclusive, allocations, scope, nested)
      rescue Ractor::IsolationError
        raise_in_ractor
      end

      # Stops the profile of this thread or fiber that was started last, and gives its Profile. Calls that have not ended yet count with
      # their time so far. Raises NotRunning where there is none.
      def stop
        (current or raise NotRunning, "no profile runs in this thread: call Assay::MethodProfiler.start first, in the same thread " \
                                      "(or fiber), or stop the profile that `start` gave").stop
      end

      # Profiles a block; takes the options of `start`, and may be within another profile. Returns the Profile, with the block's result in
      # Profile#value. An exception passes.
      def profile(**options)
        raise ArgumentError, "profile takes a block; without one call start and stop" unless block_given?

        running = start(**options, nested: true)
        begin
          value = yield
        ensure
          profile = running.stop if running.running?
        end
        profile ||= running.profile # The block stopped it by itself.
        profile.value = value
        profile
      end

      # The innermost profile that runs in this thread or fiber, as a Running; nil if there is none.
      def current
        Recorder.current
      rescue Ractor::IsolationError
        nil
      end

      # For servers: leaves the wrappers in from now on, so that a start need not put them in and a stop not take them out, method by
      # method. Wrappers that stay cost every call some 35 ns in the interpreter, 9 under YJIT, while no profile runs. `keep!(false)`
      # goes back.
      def keep!(keep = true)
        Patches.keep_all(keep)
        Calibration.of(false, false) if keep
        nil
      rescue Ractor::IsolationError
        raise_in_ractor
      end

      # :native where the extension in C counts, :ruby where it could not be built or ASSAY_PURE=1 is set.
      def recorder = Recorder::KIND

      private

      # Ruby's own words name a variable of ours.
      def raise_in_ractor
        raise Ractor::IsolationError, "methods are patched and profiles run in the main Ractor; in another one patched methods work, " \
                                      "and are not counted"
      end

      def symbols(names)
        Array(names).map do |name|
          next name.to_sym if name.respond_to?(:to_sym)

          raise ArgumentError, "methods and rows are named by a Symbol or a String, not by #{name.inspect[0, 80]}"
        end
      end

      def owner_of(owner, singleton)
        return owner.singleton_class if singleton
        return owner if owner.is_a?(Module)

        raise ArgumentError, "#{owner.class} is patched as a class, not by one of its instances; for the methods of this one object " \
                             "say `singleton: true`"
      rescue TypeError
        raise ArgumentError, "#{owner.inspect} has no singleton class: patch its class, #{owner.class}"
      end
    end
  end
end
