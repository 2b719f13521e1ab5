# Builds the C recorder if a C compiler and the headers of Ruby are available. Otherwise the gem is
# installed as pure Ruby, with a Makefile that does nothing. It must never make an installation
# fail.

def install_without_compiling(reason)
  warn "assay: the C recorder is not built (#{reason}); the slower recorder in Ruby is used"
  nothing = %w[all install install-so install-rb clean distclean].map { |target| "#{target}:\n\t@:\n" }
  File.write("Makefile", nothing.join("\n"))
end

begin
  raise "this is not CRuby" unless RUBY_ENGINE == "ruby"
  raise "ASSAY_PURE is set" if ENV["ASSAY_PURE"] == "1"
  require "mkmf"
  raise "there is no working C compiler" unless try_compile("int main(void) { return 0; }")
  raise "the functions of Ruby that it needs are missing" unless
    have_func("rb_fiber_current", "ruby.h") && have_func("rb_ractor_local_storage_ptr", ["ruby.h", "ruby/ractor.h"])
  have_func("rb_last_status_set", "ruby.h")
  $CFLAGS << " -std=gnu99 -Wall -Wextra -Wno-unused-parameter"
  create_makefile("assay/native")
rescue LoadError, StandardError, SystemExit => e
  install_without_compiling(e.is_a?(SystemExit) ? "Ruby's headers are missing: apt install ruby-dev" : e.message)
end
