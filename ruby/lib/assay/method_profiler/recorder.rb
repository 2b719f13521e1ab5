# frozen_string_literal: true

# Chooses who counts: the extension in C, or the same in Ruby where there is none. Both have the same interface:
#
#   body(id, forward)   the source of a patched method's body; `id` a small number from FIRST_ID on, `forward` the source of the call
#   current             the owner of the innermost session on this line of execution, or nil
#   Session.new(owner, exclusive, allocations), #attach(fiber_only), #attached?, #detach(fiber_only), #finish, #abandoned?
#
# The words (session, line, layer, slot) are explained at the top of ext/assay/native.c.

module Assay
  module MethodProfiler
    # Where the first name's number is; the recorder in Ruby keeps other things below it.
    FIRST_ID = 2

    # The recorder in C; see ext/assay/native.c.
    module Native
      # :native
      KIND = :native

      # There must be no place between `enter` and `begin`, nor before `leave`, where Ruby looks whether another thread has raised
      # something here (Timeout does): it looks at jumps, and none is taken there. The list of a rescue is evaluated only when there
      # is an exception; `failed` notes it and gives a module that matches none.
      def self.body(id, forward)
        <<~RUBY
          if ::Assay::MethodProfiler::Native.enter(#{id})
            begin
              #{forward}
            rescue ::Assay::MethodProfiler::Native.failed(#{id})
            ensure
              ::Assay::MethodProfiler::Native.leave(#{id})
            end
          else
            #{forward}
          end
        RUBY
      end
    end

    # Whichever counts in this process.
    Recorder =
      begin
        raise LoadError, "ASSAY_PURE is set" if ENV["ASSAY_PURE"] == "1"

        require "assay/native"
        Native
      rescue LoadError # It was not built, or for another Ruby. MethodProfiler.recorder tells.
        require_relative "pure"
        Pure
      end
  end
end
