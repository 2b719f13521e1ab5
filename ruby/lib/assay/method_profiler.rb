# frozen_string_literal: true

# Counts how often chosen methods are called and how much time is spent in them, for every request,
# in production.
#
# This file is the public interface. The registry of patched methods is in
# method_profiler/patches.rb, the source of a patched method in wrapper.rb, the choice of a recorder
# in recorder.rb, the result in profile.rb. It must not measure or patch by itself.

module Assay
  # Counts and times the calls of chosen methods in the thread that requests it, at no cost while no
  # profile is running.
  #
  #   Assay::MethodProfiler.patch(PG::Connection, [:exec, :exec_params], :sql)   # once
  #
  #   Assay::MethodProfiler.start
  #   handle_the_request
  #   Assay::MethodProfiler.stop.to_h   # => {total_duration: 0.21, sql: {duration: 0.111, calls: 12}}
  #
  # A profile counts in the thread that started it, in all its fibers, and nowhere else; with
  # `scope: :fiber` only in the fiber that started it, which is right if a scheduler runs each
  # request in a fiber. Running#attach makes it count in another thread as well. Profiles may be
  # nested: a block within a profile is another one, both count, and `stop` ends the innermost. A
  # second `start` in a fiber replaces the first one, which must have been left running by mistake.
  #
  # Patched methods look unchanged: arguments, blocks, results, exceptions, visibility and arity.
  # Calls within calls of the same name are counted, but their time is not counted twice.
  module MethodProfiler
    # Raised by `stop` if no profile is running.
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
      # Registers methods of a class or module under a name; all methods of one name are added up in
      # one row. They are wrapped when a profile starts anywhere in the process and unwrapped when
      # the last one stops, so they cost nothing in between.
      #
      #   patch(Redis::Client, :call, :redis)
      #   patch(Net::HTTP, :get, :http, singleton: true)    # Net::HTTP.get
      #   patch(PG::Connection, %i[exec async_exec], :sql, nested: false)
      #
      # owner::     a class or module, a singleton class, or any object together with `singleton:
      #             true`
      # methods::   names of the owner's methods: its own, inherited, private, or defined in C
      # name::      of the row; "Owner#method" for each method by default
      # singleton:: the owner's own methods (class methods) instead of those of its instances
      # nested::    false to count a call within a call of the same name as part of that call, for
      #             methods of this name that call each other
      # keep::      leaves the wrappers in permanently (see keep!)
      #
      # Methods already patched under this name are left unchanged. Raises NameError if there is no
      # such method, FrozenError if the owner is frozen, ArgumentError if the method is already
      # patched under another name or cannot be wrapped; then nothing is patched.
      def patch(owner, methods, name = nil, singleton: false, nested: true, keep: false)
        Patches.add(owner_of(owner, singleton), symbols(methods), name && symbols(name).first, nested: nested, keep: keep)
        nil
      rescue Ractor::IsolationError
        raise_in_ractor
      end

      # Undoes `patch` for these methods, or for all of the owner. Returns the names of the methods
      # that had been patched.
      def unpatch(owner, methods = nil, singleton: false)
        Patches.remove(owner_of(owner, singleton), methods && symbols(methods))
      rescue Ractor::IsolationError
        raise_in_ractor
      end

      # Returns the name under which a method is patched; nil if it is not.
      def patched(owner, method, singleton: false) = Patches.name_of(owner_of(owner, singleton), method.to_sym)

      # Returns [[class, method], …] patched under this name.
      def methods_named(name) = Patches.methods_named(name.to_sym)

      # Starts a profile in this thread and returns it as a Running.
      #
      # exclusive::   also measure the time spent in a method itself, without that of other patched
      #               methods it calls
      # allocations:: also count the objects allocated during the calls, by the whole process, since
      #               Ruby has no other count
      # scope::       :thread (all fibers of this thread), or :fiber (this fiber only)
      # nested::      true for a profile within another one; otherwise it replaces a profile that
      #               was started in this fiber and never stopped
      #
      # Exclusive time and allocations cost extra: see Profile#overhead.
      def start(exclusive: false, allocations: false, scope: :thread, nested: false)
        @before_start&.call
        Running.new(exclusive, allocations, scope, nested)
      rescue Ractor::IsolationError
        raise_in_ractor
      end

      # Stops the most recently started profile of this thread or fiber and returns its Profile.
      # Calls still open count with their time up to now. Raises NotRunning if there is none.
      def stop
        (current or raise NotRunning, "no profile runs in this thread: call Assay::MethodProfiler.start first, in the same thread " \
                                      "(or fiber), or stop the profile that `start` gave").stop
      end

      # Profiles a block; takes the options of `start`, and may be nested in another profile.
      # Returns the Profile, with the block's result in Profile#value. Exceptions propagate.
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

      # Returns the innermost running profile of this thread or fiber, as a Running; nil if there is
      # none.
      def current
        Recorder.current
      rescue Ractor::IsolationError
        nil
      end

      # For servers: leaves the wrappers in permanently, so that they need not be inserted at each
      # start and removed at each stop, method by method. While no profile is running, an installed
      # wrapper costs each call some 35 ns in the interpreter, 9 under YJIT. `keep!(false)` reverts
      # to the default.
      def keep!(keep = true)
        Patches.keep_all(keep)
        Calibration.of(false, false) if keep
        nil
      rescue Ractor::IsolationError
        raise_in_ractor
      end

      # :nodoc: Called before every start of a profile.
      attr_writer :before_start

      # :native if the C extension counts; :ruby if it could not be built or ASSAY_PURE=1 is set.
      def recorder = Recorder::KIND

      private

      # Ruby's own message would name an internal variable.
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
