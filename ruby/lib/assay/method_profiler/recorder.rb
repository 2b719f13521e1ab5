# frozen_string_literal: true

# Chooses who counts: the extension in C, or the same in Ruby where there is none. Both have the same interface:
#
#   body(id, forward)   the source of a patched method's body; `id` a small number, `forward` the source of the call
#   ractors?, allow_ractors   whether bodies may run in any Ractor
#   clock               what measures: :os, or :counter for the processor's own counter
#   current             the owner of the innermost session on this line of execution, or nil
#   Session.new(owner, exclusive, allocations), #attach(fiber_only), #attached?, #detach(fiber_only), #finish, #abandoned?
#
# The words (session, line, layer, slot) are explained at the top of ext/assay/native.c.

module Assay
  module MethodProfiler
    # The number of the first name. The one below it is calibration.rb's, and 0 is nobody's: that element of a line's slots is none.
    FIRST_ID = 2

    # The recorder in C; see ext/assay/native.c.
    module Native
      # :native
      KIND = :native

      @doors = {}
      @ractors = false

      class << self
        # There must be no place between entering and `begin`, nor before leaving, where Ruby looks whether another thread has raised
        # something here (Timeout does): it looks at jumps, and none is taken there. The list of a rescue is evaluated only when there
        # is an exception; `failed` notes it and gives a module that matches none.
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

        # From now on the doors that other Ractors may use, too.
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

    # Whichever counts in this process.
    Recorder =
      begin
        raise LoadError, "ASSAY_PURE is set" if ENV["ASSAY_PURE"] == "1"

        begin
          # In a gem for one kind of machine it is there for several versions of Ruby.
          require "assay/#{RUBY_VERSION[/\A\d+\.\d+/]}/native"
        rescue LoadError # It is not, or its C library is newer than this machine's.
          require "assay/native"
        end
        Native
      rescue LoadError # It was not built, or for another Ruby. MethodProfiler.recorder tells.
        require_relative "pure"
        Pure
      end
  end
end
