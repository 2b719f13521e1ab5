/*
 * The running profiles, as seen by Ruby: Assay::MethodProfiler::Native::Session. It must not be
 * called during patched calls.
 */
#include "recorder.h"
#include <math.h>
#include <stdlib.h>

static void
session_free(void *memory)
{
    free(((struct session *)memory)->totals);
    xfree(memory);
}

static void
session_mark(void *memory)
{
    rb_gc_mark(((struct session *)memory)->owner);
}

static const rb_data_type_t session_type = {
    "Assay::MethodProfiler::Native::Session", {session_mark, session_free, 0, 0, {0}}, 0, 0, 0
};

static struct session *
session_of(VALUE self)
{
    struct session *session;
    TypedData_Get_Struct(self, struct session, &session_type, session);
    if (!in_main_ractor())
        rb_raise(rb_eRuntimeError, "profiles can be started, attached and stopped in the main Ractor only");
    return session;
}

static VALUE
session_allocate(VALUE class)
{
    struct session *session;
    VALUE self = TypedData_Make_Struct(class, struct session, &session_type, session);
    session->self = self;
    session->owner = Qnil;
    return self;
}

/* Session.new(owner, exclusive, allocations): starts the clock; counts nothing until it is attached. */
static VALUE
session_initialize(VALUE self, VALUE owner, VALUE exclusive, VALUE allocations)
{
    struct session *session = session_of(self);
    session->owner = owner;
    session->exclusive = RTEST(exclusive);
    session->allocations = RTEST(allocations);
    session->running = 1;
    session->started_ns = clock_ns();
    running++;
    return self;
}

struct whose { struct session *session; VALUE thread; int64_t at; int found; };

static int
push_on_line(st_data_t key, st_data_t value, st_data_t argument)
{
    struct whose *whose = (struct whose *)argument;
    struct line *line = (struct line *)value;
    if (line->thread == whose->thread) push_layer(line, whose->session);
    return ST_CONTINUE;
}

static int
drop_on_line(st_data_t key, st_data_t value, st_data_t argument)
{
    struct whose *whose = (struct whose *)argument;
    struct line *line = (struct line *)value;
    if (whose->thread == Qnil || line->thread == whose->thread) drop_layer(line, whose->session, whose->at);
    if (line->innermost) return ST_CONTINUE;
    free(line);
    return ST_DELETE;
}

static int
drop_attachment(st_data_t *thread, st_data_t *value, st_data_t argument, int existing)
{
    struct whose *whose = (struct whose *)argument;
    struct attachment *first = (struct attachment *)*value;
    for (struct attachment **link = &first; *link; link = &(*link)->next) {
        if ((*link)->session == whose->session) {
            struct attachment *gone = *link;
            *link = gone->next;
            free(gone);
            break;
        }
    }
    *value = (st_data_t)first;
    return first ? ST_CONTINUE : ST_DELETE;
}

static int
drop_attachment_of_each(st_data_t thread, st_data_t value, st_data_t argument)
{
    st_data_t list = value;
    int what = drop_attachment(&thread, &list, argument, 1);
    if (what == ST_CONTINUE && list != value) st_insert(attachments, thread, list);
    return what;
}

/* attach(fiber_only): from now on the session counts in this thread, or in this fiber only. The
 * caller has checked that it does not yet do so. */
static VALUE
session_attach(VALUE self, VALUE fiber_only)
{
    struct session *session = session_of(self);
    VALUE fiber = rb_fiber_current();
    struct whose whose = {session, rb_thread_current(), 0, 0};
    struct attachment *added, *last;
    st_data_t value;
    if (!session->running) rb_raise(rb_eRuntimeError, "this profile was stopped");
    if (RTEST(fiber_only)) {
        push_layer(st_lookup(lines, fiber, &value) ? (struct line *)value : add_line(fiber), session);
    } else {
        if (!(added = calloc(1, sizeof *added))) rb_memerror();
        added->session = session;
        st_foreach(lines, push_on_line, (st_data_t)&whose);
        if (st_lookup(attachments, whose.thread, &value)) {
            for (last = (struct attachment *)value; last->next; last = last->next);
            last->next = added;
        } else {
            st_insert(attachments, whose.thread, (st_data_t)added);
        }
    }
    epoch++;
    return self;
}

/* attached?: returns true if the session counts on this line of execution. */
static VALUE
session_attached_p(VALUE self)
{
    struct session *session = session_of(self);
    struct line *line = look_up(rb_fiber_current());
    for (struct layer *layer = line ? line->innermost : NULL; layer; layer = layer->outer)
        if (layer->session == session) return Qtrue;
    return Qfalse;
}

/* detach(fiber_only): the session stops counting in this thread or fiber; existing counts are
 * kept. */
static VALUE
session_detach(VALUE self, VALUE fiber_only)
{
    struct session *session = session_of(self);
    struct whose whose = {session, rb_thread_current(), now(), 0};
    st_data_t value;
    if (RTEST(fiber_only)) {
        if (st_lookup(lines, rb_fiber_current(), &value)) drop_layer((struct line *)value, session, whose.at);
    } else {
        st_foreach(lines, drop_on_line, (st_data_t)&whose);
        if (st_lookup(attachments, whose.thread, &value))
            st_update(attachments, whose.thread, drop_attachment, (st_data_t)&whose);
    }
    epoch++;
    return self;
}

/* finish -> [duration in ns, [[id, calls, outermost, open, errors, outermost_errors, ns, nested,
 * exclusive_ns, children, allocations], ...]]: stops the clock and detaches all threads and
 * fibers. */
static VALUE
session_finish(VALUE self)
{
    struct session *session = session_of(self);
    struct whose whose = {session, Qnil, now(), 0};
    int64_t duration = clock_ns() - session->started_ns;
    VALUE rows = rb_ary_new();
    double tick;
    if (!session->running) rb_raise(rb_eRuntimeError, "this profile was stopped already");
    st_foreach(lines, drop_on_line, (st_data_t)&whose);
    st_foreach(attachments, drop_attachment_of_each, (st_data_t)&whose);
    session->running = 0;
    running--;
    epoch++;
    tick = tick_length();
    for (uint32_t id = 0; id < session->size; id++) {
        struct slot *s = &session->totals[id];
        if (!s->calls) continue;
        rb_ary_push(rows, rb_ary_new_from_args(11, UINT2NUM(id), ULL2NUM(s->calls), ULL2NUM(s->outermost),
            ULL2NUM(s->open), ULL2NUM(s->errors), ULL2NUM(s->outermost_errors), LL2NUM(llround((double)s->time * tick)), ULL2NUM(s->nested),
            LL2NUM(llround((double)s->exclusive * tick)), ULL2NUM(s->children), ULL2NUM(s->allocations)));
    }
    return rb_assoc_new(LL2NUM(duration), rows);
}

static int
alive(VALUE thread)
{
    return RTEST(rb_funcall(thread, rb_intern("alive?"), 0));
}

static int
living_attachment(st_data_t thread, st_data_t value, st_data_t argument)
{
    struct whose *whose = (struct whose *)argument;
    for (struct attachment *a = (struct attachment *)value; a; a = a->next)
        if (a->session == whose->session && alive(thread)) whose->found = 1;
    return whose->found ? ST_STOP : ST_CONTINUE;
}

static int
living_line(st_data_t key, st_data_t value, st_data_t argument)
{
    struct whose *whose = (struct whose *)argument;
    struct line *line = (struct line *)value;
    for (struct layer *layer = line->innermost; layer; layer = layer->outer)
        if (layer->session == whose->session && alive(line->thread) && RTEST(rb_fiber_alive_p(line->fiber))) whose->found = 1;
    return whose->found ? ST_STOP : ST_CONTINUE;
}

/* abandoned?: returns true if every thread and fiber in which it counted has ended (or was left
 * behind by a fork). */
static VALUE
session_abandoned_p(VALUE self)
{
    struct whose whose = {session_of(self), Qnil, 0, 0};
    st_foreach(attachments, living_attachment, (st_data_t)&whose);
    if (!whose.found) st_foreach(lines, living_line, (st_data_t)&whose);
    return whose.found ? Qfalse : Qtrue;
}

void
define_sessions(VALUE native)
{
    VALUE session = rb_define_class_under(native, "Session", rb_cObject);
    rb_define_alloc_func(session, session_allocate);
    rb_define_method(session, "initialize", session_initialize, 3);
    rb_define_method(session, "attach", session_attach, 1);
    rb_define_method(session, "detach", session_detach, 1);
    rb_define_method(session, "attached?", session_attached_p, 0);
    rb_define_method(session, "finish", session_finish, 0);
    rb_define_method(session, "abandoned?", session_abandoned_p, 0);
}
