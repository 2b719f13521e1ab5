/*
 * The recorder of Assay::MethodProfiler in C: it is told of every entry into and every way out of a patched method, and
 * adds up calls, time, errors and allocations.
 *
 * Words: a *session* is one running profile. A *line* is one line of execution, that is one fiber (every thread has at
 * least its root fiber). A *layer* is what one session counts on one line; nested profiles are several layers. A *slot*
 * of a layer is what belongs to one name. Everything of a layer is touched by its own line only, so that recursion and
 * fibers that take turns can't be confused; it is added to the session's totals when the line or the session ends.
 *
 * `enter` and `leave` are the hot path: they allocate no object, take no lock (Ruby's own lock is held) and raise nothing.
 * It must not know classes, methods or names: those are the Ruby side's, which hands in small numbers.
 * recorder.rb beside it does the same in Ruby, and the same tests are run on both.
 */
#include <ruby.h>
#include <ruby/ractor.h>
#include <ruby/st.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct slot {
    uint64_t calls, outermost, errors, outermost_errors, open;
    int64_t time;               /* outermost calls only: recursion is counted once */
    uint64_t nested;            /* calls of any patched method within these, for the own cost */
    int64_t exclusive;
    uint64_t children;          /* those of `nested` that were called directly */
    uint64_t allocations;
    uint64_t depth;             /* of what is open now; the rest belongs to the outermost open call */
    int64_t entered_at;
    uint64_t entered_calls, entered_allocations;
};

struct frame {                  /* one open call, kept only where exclusive time was asked for */
    uint32_t id;
    int64_t entered_at, in_children;
    uint64_t children;
};

struct session {
    VALUE self, owner;
    int exclusive, allocations, running;
    int64_t started_ns;
    struct slot *totals;
    uint32_t size;
};

struct layer {
    struct layer *outer;        /* the profile around this one */
    struct session *session;
    uint64_t calls;
    struct slot *slots;
    uint32_t size;
    struct frame *frames;
    uint32_t open_frames, frame_space;
};

struct line {
    VALUE fiber, thread;
    struct layer *innermost;
};

struct attachment {             /* a session that counts in all fibers of a thread; a list, the oldest first */
    struct attachment *next;
    struct session *session;
};

static st_table *lines;         /* fiber -> struct line */
static st_table *attachments;   /* thread -> struct attachment, the first of its list */
static uint64_t running;        /* sessions that run, anywhere in the process */
static uint64_t epoch = 1;      /* changes whenever `lines` or layers do: what threads remember is void then */
static size_t sweep_at = 64;
static VALUE nothing, allocated, session_class;
static rb_ractor_local_key_t main_ractor;

/* What a native thread saw last. Fibers that are in `lines` are kept alive by it, so a fiber that equals this one is the
 * same one unless the epoch changed. Ruby may run another of its threads on this native thread: its fibers are others. */
#if defined(__GLIBC__)
#define THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))
#else
#define THREAD_LOCAL static __thread
#endif
THREAD_LOCAL struct { VALUE fiber; struct line *line; uint64_t epoch; } here;

static inline int64_t
clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * All times below are ticks. Where Linux itself keeps time by the processor's time stamp counter, that is the counter, read
 * without the arithmetic that makes nanoseconds of it (which is most of what clock_gettime costs); elsewhere ticks are
 * nanoseconds of CLOCK_MONOTONIC. How long a tick is, is found at the end from what both clocks advanced since the start.
 */
#if defined(__x86_64__) && defined(__linux__)
#include <x86intrin.h>
static int by_counter;
static int64_t first_tick, first_ns;

static inline int64_t
now(void)
{
    return by_counter ? (int64_t)__rdtsc() : clock_ns();
}

/* The kernel uses the counter only if it runs evenly, through sleep states, and alike on all processors. */
static void
choose_clock(void)
{
    char name[8] = "";
    const char *asked = getenv("ASSAY_CLOCK");
    FILE *source = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");
    if (source) {
        by_counter = fgets(name, sizeof name, source) && !strcmp(name, "tsc\n") && !(asked && !strcmp(asked, "os"));
        fclose(source);
    }
    first_ns = clock_ns();
    first_tick = now();
}

static double
tick_length(void)
{
    int64_t ticks;
    if (!by_counter) return 1.0;
    while ((ticks = now() - first_tick) < 1000000); /* Less than a millisecond after the start: wait for so much. */
    return (double)(clock_ns() - first_ns) / (double)(now() - first_tick);
}
#else
static const int by_counter = 0;
static inline int64_t now(void) { return clock_ns(); }
static void choose_clock(void) { }
static double tick_length(void) { return 1.0; }
#endif

/* `memory` grown so that it holds `wanted` elements, the new ones zero. Not by Ruby's allocator, which may collect
 * garbage: the collector walks what is being changed here. */
static void *
grown(void *memory, uint32_t *size, uint32_t wanted, size_t element)
{
    uint32_t next = *size ? *size : 8;
    while (next < wanted) next *= 2;
    if (!(memory = realloc(memory, next * element))) rb_memerror();
    memset((char *)memory + *size * element, 0, (next - *size) * element);
    *size = next;
    return memory;
}

static inline struct slot *
slot_of(struct layer *layer, uint32_t id)
{
    if (id >= layer->size) layer->slots = grown(layer->slots, &layer->size, id + 1, sizeof *layer->slots);
    return &layer->slots[id];
}

/* ---- lines and layers ---- */

static void
push_layer(struct line *line, struct session *session)
{
    struct layer *layer = calloc(1, sizeof *layer);
    if (!layer) rb_memerror();
    layer->session = session;
    layer->outer = line->innermost;
    line->innermost = layer;
}

static void frame_left(struct layer *, int64_t);

/* Adds what a layer counted to its session, and frees it. Calls that are still open count with their time until now. */
static void
fold_layer(struct layer *layer, int64_t at)
{
    struct session *session = layer->session;
    while (layer->open_frames) frame_left(layer, at);
    if (layer->size > session->size)
        session->totals = grown(session->totals, &session->size, layer->size, sizeof *session->totals);
    for (uint32_t id = 0; id < layer->size; id++) {
        struct slot *from = &layer->slots[id], *to = &session->totals[id];
        if (from->depth) {
            from->time += at - from->entered_at;
            from->nested += layer->calls - from->entered_calls;
            if (session->allocations) from->allocations += rb_gc_stat(allocated) - from->entered_allocations;
        }
        to->calls += from->calls;
        to->outermost += from->outermost;
        to->errors += from->errors;
        to->outermost_errors += from->outermost_errors;
        to->open += from->depth;
        to->time += from->time;
        to->nested += from->nested;
        to->exclusive += from->exclusive;
        to->children += from->children;
        to->allocations += from->allocations;
    }
    free(layer->slots);
    free(layer->frames);
    free(layer);
}

static void
drop_layer(struct line *line, struct session *session, int64_t at)
{
    for (struct layer **link = &line->innermost; *link; link = &(*link)->outer) {
        if ((*link)->session == session) {
            struct layer *layer = *link;
            *link = layer->outer;
            fold_layer(layer, at);
            return;
        }
    }
}

static int
sweep_line(st_data_t key, st_data_t value, st_data_t at)
{
    struct line *line = (struct line *)value;
    if (RTEST(rb_fiber_alive_p(line->fiber))) return ST_CONTINUE;
    for (struct layer *layer = line->innermost, *outer; layer; layer = outer) {
        outer = layer->outer;
        fold_layer(layer, (int64_t)at);
    }
    free(line);
    return ST_DELETE;
}

static struct line *
add_line(VALUE fiber)
{
    struct line *line;
    st_data_t first;
    if (lines->num_entries >= sweep_at) { /* Programs that make many fibers (each Enumerator#next is one). */
        st_foreach(lines, sweep_line, (st_data_t)now());
        sweep_at = lines->num_entries * 2 > 64 ? lines->num_entries * 2 : 64;
    }
    if (!(line = calloc(1, sizeof *line))) rb_memerror();
    line->fiber = fiber;
    line->thread = rb_thread_current();
    if (st_lookup(attachments, line->thread, &first))
        for (struct attachment *a = (struct attachment *)first; a; a = a->next) push_layer(line, a->session);
    st_insert(lines, fiber, (st_data_t)line);
    epoch++;
    return line;
}

/* The line of this fiber, NULL where nothing is profiled. Other Ractors are never profiled: nothing here is theirs. */
static struct line *
look_up(VALUE fiber)
{
    st_data_t value;
    struct line *line = NULL;
    if (rb_ractor_local_storage_ptr(main_ractor)) {
        if (st_lookup(lines, fiber, &value)) line = (struct line *)value;
        else if (st_lookup(attachments, rb_thread_current(), &value)) line = add_line(fiber);
    }
    here.fiber = fiber;
    here.line = line;
    here.epoch = epoch;
    return line;
}

static inline struct line *
this_line(void)
{
    VALUE fiber;
    if (!running) return NULL;
    fiber = rb_fiber_current();
    if (here.fiber == fiber && here.epoch == epoch) return here.line;
    return look_up(fiber);
}

/* ---- the hot path ---- */

static void
frame_entered(struct layer *layer, uint32_t id, int64_t at)
{
    struct frame *frame;
    if (layer->open_frames == layer->frame_space)
        layer->frames = grown(layer->frames, &layer->frame_space, layer->open_frames + 1, sizeof *layer->frames);
    frame = &layer->frames[layer->open_frames++];
    frame->id = id;
    frame->entered_at = at;
    frame->in_children = 0;
    frame->children = 0;
}

static void
frame_left(struct layer *layer, int64_t at)
{
    struct frame *frame = &layer->frames[--layer->open_frames];
    struct slot *slot = &layer->slots[frame->id];
    slot->exclusive += at - frame->entered_at - frame->in_children;
    slot->children += frame->children;
    if (layer->open_frames) {
        frame[-1].in_children += at - frame->entered_at;
        frame[-1].children++;
    }
}

/* True if somebody profiles this fiber, and then a way out must follow; else false. */
static inline VALUE
enter(uint32_t id)
{
    struct line *line = this_line();
    int64_t at;
    if (!line || !line->innermost) return Qfalse;
    at = now();
    for (struct layer *layer = line->innermost; layer; layer = layer->outer) {
        struct slot *slot = slot_of(layer, id);
        slot->calls++;
        layer->calls++;
        if (slot->depth++ == 0) {
            slot->outermost++;
            slot->entered_calls = layer->calls;
            if (layer->session->allocations) slot->entered_allocations = rb_gc_stat(allocated);
            slot->entered_at = at;
        }
        if (layer->session->exclusive) frame_entered(layer, id, at);
    }
    return Qtrue;
}

/* A call that was open already when the session started, or when this fiber was attached, has a depth of 0
 * here by the time it ends (calls end in the reverse order of their beginnings), and is none of its business. */
static inline void
leave(uint32_t id)
{
    int64_t at = now();
    struct line *line = this_line();
    if (!line) return;
    for (struct layer *layer = line->innermost; layer; layer = layer->outer) {
        struct slot *slot;
        if (id >= layer->size || (slot = &layer->slots[id])->depth == 0) continue;
        if (layer->session->exclusive) frame_left(layer, at);
        if (--slot->depth == 0) {
            slot->time += at - slot->entered_at;
            slot->nested += layer->calls - slot->entered_calls;
            if (layer->session->allocations) slot->allocations += rb_gc_stat(allocated) - slot->entered_allocations;
        }
    }
}

/* There are two doors to both. As methods they can be called from everywhere. As global variables `$assay_enter_ID` (read)
 * and `$assay_leave_ID` (written) they cost half as much, since Ruby makes no frame for them; but Ruby allows no Ractor
 * other than the main one to touch a global variable. */
static VALUE
native_enter(VALUE self, VALUE id)
{
    return enter((uint32_t)FIX2LONG(id));
}

static VALUE
native_leave(VALUE self, VALUE id)
{
    leave((uint32_t)FIX2LONG(id));
    return Qnil;
}

static VALUE
read_enter(ID name, VALUE *id)
{
    return enter((uint32_t)FIX2LONG(*id));
}

static VALUE
read_leave(ID name, VALUE *id)
{
    return Qnil;
}

static void
write_leave(VALUE value, ID name, VALUE *id)
{
    leave((uint32_t)FIX2LONG(*id));
}

/* open_doors(id): makes the two variables. They stay for good, as names and their numbers do. */
static VALUE
native_open_doors(VALUE self, VALUE id)
{
    char name[64];
    VALUE *kept = malloc(sizeof *kept);
    if (!kept) rb_memerror();
    *kept = id;
    snprintf(name, sizeof name, "$assay_enter_%ld", FIX2LONG(id));
    rb_define_hooked_variable(name, kept, read_enter, rb_gvar_readonly_setter);
    snprintf(name, sizeof name, "$assay_leave_%ld", FIX2LONG(id));
    rb_define_hooked_variable(name, kept, read_leave, write_leave);
    return Qnil;
}

static VALUE
native_clock(VALUE self)
{
    return ID2SYM(rb_intern(by_counter ? "counter" : "os"));
}

/* failed(id): the call that is about to end does so by an exception. Gives a module that is no exception's, so that
 * `rescue Recorder.failed(1)` notes and rescues nothing: the exception is not touched, raised again or seen. */
static VALUE
native_failed(VALUE self, VALUE id_value)
{
    struct line *line = this_line();
    uint32_t id = (uint32_t)FIX2LONG(id_value);
    if (!line) return nothing;
    for (struct layer *layer = line->innermost; layer; layer = layer->outer) {
        if (id >= layer->size || layer->slots[id].depth == 0) continue;
        layer->slots[id].errors++;
        if (layer->slots[id].depth == 1) layer->slots[id].outermost_errors++;
    }
    return nothing;
}

/* ---- sessions ---- */

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
    if (!rb_ractor_local_storage_ptr(main_ractor))
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

/* attach(fiber_only): from here on the session counts in this thread, or in this fiber only. The caller made sure that
 * it does not yet. */
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

/* attached?: whether the session counts on this line of execution. */
static VALUE
session_attached_p(VALUE self)
{
    struct session *session = session_of(self);
    struct line *line = look_up(rb_fiber_current());
    for (struct layer *layer = line ? line->innermost : NULL; layer; layer = layer->outer)
        if (layer->session == session) return Qtrue;
    return Qfalse;
}

/* detach(fiber_only): the session counts no longer in this thread or fiber; what it has counted there is kept. */
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

/* finish -> [duration in ns, [[id, calls, outermost, open, errors, outermost_errors, ns, nested, exclusive_ns, children,
 * allocations], ...]]: stops the clock and lets go of all threads and fibers. */
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

/* abandoned?: every thread and fiber in which it counted has ended (or was left behind by a fork). */
static VALUE
session_abandoned_p(VALUE self)
{
    struct whose whose = {session_of(self), Qnil, 0, 0};
    st_foreach(attachments, living_attachment, (st_data_t)&whose);
    if (!whose.found) st_foreach(lines, living_line, (st_data_t)&whose);
    return whose.found ? Qfalse : Qtrue;
}

/* current -> the owner of the innermost session on this line of execution, or nil. */
static VALUE
native_current(VALUE self)
{
    struct line *line = this_line();
    return line && line->innermost ? line->innermost->session->owner : Qnil;
}

/* ---- what keeps threads, fibers and sessions alive while they are in the tables ---- */

static int
mark_line(st_data_t key, st_data_t value, st_data_t argument)
{
    struct line *line = (struct line *)value;
    rb_gc_mark(line->fiber);
    rb_gc_mark(line->thread);
    for (struct layer *layer = line->innermost; layer; layer = layer->outer) rb_gc_mark(layer->session->self);
    return ST_CONTINUE;
}

static int
mark_attachment(st_data_t thread, st_data_t value, st_data_t argument)
{
    rb_gc_mark(thread);
    for (struct attachment *a = (struct attachment *)value; a; a = a->next) rb_gc_mark(a->session->self);
    return ST_CONTINUE;
}

static void
mark_tables(void *unused)
{
    st_foreach(lines, mark_line, 0);
    st_foreach(attachments, mark_attachment, 0);
}

static const rb_data_type_t tables_type = {"assay/tables", {mark_tables, 0, 0, 0, {0}}, 0, 0, 0};

void
Init_native(void)
{
    VALUE profiler = rb_define_module_under(rb_define_module("Assay"), "MethodProfiler");
    VALUE native = rb_define_module_under(profiler, "Native");
    rb_ext_ractor_safe(true);
    choose_clock();
    lines = st_init_numtable();
    attachments = st_init_numtable();
    main_ractor = rb_ractor_local_storage_ptr_newkey(NULL);
    rb_ractor_local_storage_ptr_set(main_ractor, &main_ractor);
    rb_gc_register_mark_object(TypedData_Wrap_Struct(rb_cObject, &tables_type, &lines));
    allocated = ID2SYM(rb_intern("total_allocated_objects"));
    nothing = rb_define_module_under(native, "Nothing");
    rb_define_singleton_method(native, "enter", native_enter, 1);
    rb_define_singleton_method(native, "leave", native_leave, 1);
    rb_define_singleton_method(native, "failed", native_failed, 1);
    rb_define_singleton_method(native, "open_doors", native_open_doors, 1);
    rb_define_singleton_method(native, "clock", native_clock, 0);
    rb_define_singleton_method(native, "current", native_current, 0);
    session_class = rb_define_class_under(native, "Session", rb_cObject);
    rb_define_alloc_func(session_class, session_allocate);
    rb_define_method(session_class, "initialize", session_initialize, 3);
    rb_define_method(session_class, "attach", session_attach, 1);
    rb_define_method(session_class, "detach", session_detach, 1);
    rb_define_method(session_class, "attached?", session_attached_p, 0);
    rb_define_method(session_class, "finish", session_finish, 0);
    rb_define_method(session_class, "abandoned?", session_abandoned_p, 0);
}
