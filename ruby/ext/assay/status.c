/*
 * Sets the status of the last process (`$?`) for faked programs; Ruby itself has no way to do so
 * without a process. It must not be called during patched calls.
 */
#include "recorder.h"

#ifdef HAVE_RB_LAST_STATUS_SET
/* set_last_status(status, pid) -> Process::Status: `status` as waitpid(2) gives it. */
static VALUE
set_last_status(VALUE self, VALUE status, VALUE pid)
{
    rb_last_status_set(NUM2INT(status), NUM2PIDT(pid));
    return rb_last_status_get();
}
#endif

void
define_status(VALUE native)
{
#ifdef HAVE_RB_LAST_STATUS_SET
    rb_define_singleton_method(native, "set_last_status", set_last_status, 2);
#endif
}
