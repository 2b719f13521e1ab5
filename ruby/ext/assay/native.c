/*
 * The recorder of Assay::MethodProfiler in C: it is called at every entry to and exit from a
 * patched method, and adds up calls, time, errors and allocations. The terms are explained in
 * recorder.h.
 *
 * `enter` and `leave` are the hot path: they allocate no object, take no lock (Ruby's own lock is
 * held) and raise nothing. It must not know classes, methods or names: the Ruby side maps them to
 * small numbers. lib/assay/method_profiler/pure.rb does the same in Ruby, and the same tests run on
 * both.
 */
#include "recorder.h"
#include <stdio.h>
#include <stdlib.h>

static VALUE nothing;

static inline struct slot *
slot_of(struct layer *layer, uint32_t id)
{
    if (id >= layer->size) layer->slots = grown(layer->slots, &layer->size, id + 1, sizeof *layer->slots);
    return &layer->slots[id];
}

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

/* Returns true if a profile is running for this fiber, in which case `leave` must follow. */
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

/* A call that was already open when the session started, or when this fiber was attached, has a
 * depth of 0 here by the time it ends (calls end in the reverse order of their beginnings), and
 * is ignored. */
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

/* Both have two doors. As methods they can be called from anywhere. As global variables
 * `$assay_enter_ID` (read) and `$assay_leave_ID` (written) they cost half as much, since Ruby
 * creates no frame for them; but only the main Ractor may access global variables. */
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

/* open_doors(id): creates the two variables. They are permanent, like names and their ids. */
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

/* failed(id): records that the call about to end does so by an exception. Returns a module that
 * is no exception's class, so `rescue Recorder.failed(1)` records it and rescues nothing: the
 * exception is neither modified nor raised again. */
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

/* current -> the owner of the innermost session on this line of execution, or nil. */
static VALUE
native_current(VALUE self)
{
    struct line *line = this_line();
    return line && line->innermost ? line->innermost->session->owner : Qnil;
}

void
Init_native(void)
{
    VALUE profiler = rb_define_module_under(rb_define_module("Assay"), "MethodProfiler");
    VALUE native = rb_define_module_under(profiler, "Native");
    rb_ext_ractor_safe(true);
    choose_clock();
    open_tables();
    nothing = rb_define_module_under(native, "Nothing");
    rb_define_singleton_method(native, "enter", native_enter, 1);
    rb_define_singleton_method(native, "leave", native_leave, 1);
    rb_define_singleton_method(native, "failed", native_failed, 1);
    rb_define_singleton_method(native, "open_doors", native_open_doors, 1);
    rb_define_singleton_method(native, "clock", native_clock, 0);
    rb_define_singleton_method(native, "current", native_current, 0);
    define_sessions(native);
    define_status(native);
}
