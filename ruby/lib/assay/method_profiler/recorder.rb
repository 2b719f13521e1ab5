# frozen_string_literal: true

# Chooses the recorder: the C extension, or its equivalent in Ruby if that is not available. Both
# have the same interface:
#
#   body(id, forward)   the source of a patched method's body; `id` a small number, `forward` the source of the call
#   ractors?, allow_ractors   whether bodies may run in any Ractor
#   clock               what measures: :os, or :counter for the processor's own counter
#   current             the owner of the innermost session on this line of execution, or nil
#   Session.new(owner, exclusive, allocations), #attach(fiber_only), #attached?, #detach(fiber_only), #finish, #abandoned?
#
# The terms (session, line, layer, slot) are explained at the top of ext/assay/recorder.h.

module Assay
  module MethodProfiler
    # The id of the first name. The one below it is used by calibration.rb; 0 is never an id, since
    # element 0 of a line's slots is not a slot.
    FIRST_ID = 2

    # The recorder in C; see ext/assay/native.c.
    module Native
      # :native
      KIND = :native

      @doors = {}
      @ractors = false

      class << self
        # There must be no point between entering and `begin`, nor before leaving, at which Ruby
        # checks whether another thread has raised an exception here (as Timeout does): it checks at
        # jumps, and none is taken there. The list of a rescue is evaluated only if there is an
        # exception; `failed` records it and returns a module that matches none.
        def body(id, forward)
          enter, leave = doors(id)
          <<~RUBY
            if #{enter}
              begin
                #{forward}
              rescue ::Assay::MethodProfiler::Native.failed(#{id})
              ensure
                #{leave}
              end
            else
              #{forward}
            end
          RUBY
        end

        # From now on, also use the doors that other Ractors may use.
        def allow_ractors = @ractors = true
        def ractors? = @ractors

        private

        def doors(id)
          return %w[enter leave].map { |door| "::Assay::MethodProfiler::Native.#{door}(#{id})" } if @ractors

          @doors[id] ||= open_doors(id) || true
          ["$assay_enter_#{id}", "$assay_leave_#{id} = nil"]
        end
      end
    end

    # The recorder used in this process.
    Recorder =
      begin
        raise LoadError, "ASSAY_PURE is set" if ENV["ASSAY_PURE"] == "1"

        begin
          # A platform-specific gem has it for several versions of Ruby.
          require "assay/#{RUBY_VERSION[/\A\d+\.\d+/]}/native"
        rescue LoadError # It does not exist, or needs a newer C library than this machine's.
          require "assay/native"
        end
        Native
      rescue LoadError # It was not built, or was built for another Ruby; see MethodProfiler.recorder.
        require_relative "pure"
        Pure
      end
  end
end
