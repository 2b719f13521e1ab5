/*
 * Fibers, threads, and the layers of profiles on them. It must not be called during patched calls,
 * except when a fiber is first seen.
 */
#include "recorder.h"
#include <stdlib.h>
#include <string.h>

st_table *lines;
st_table *attachments;
uint64_t running;
uint64_t epoch = 1;
VALUE allocated;
THREAD_LOCAL struct seen here;
THREAD_LOCAL uint64_t nobody_here;
static size_t sweep_at = 64;
static rb_ractor_local_key_t main_ractor;

int
in_main_ractor(void)
{
    return rb_ractor_local_storage_ptr(main_ractor) != NULL;
}

/* Grows `memory` to at least `wanted` elements, the new ones zero. Does not use Ruby's
 * allocator, which may collect garbage: the collector would walk the structure that is being
 * changed. */
void *
grown(void *memory, uint32_t *size, uint32_t wanted, size_t element)
{
    uint32_t next = *size ? *size : 8;
    while (next < wanted) next *= 2;
    if (!(memory = realloc(memory, next * element))) rb_memerror();
    memset((char *)memory + *size * element, 0, (next - *size) * element);
    *size = next;
    return memory;
}

/* Ends the innermost open call of a layer. */
void
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

void
push_layer(struct line *line, struct session *session)
{
    struct layer *layer = calloc(1, sizeof *layer);
    if (!layer) rb_memerror();
    layer->session = session;
    layer->outer = line->innermost;
    line->innermost = layer;
}

/* Adds the counts of a layer to its session and frees it. Calls that are still open count with
 * their time up to now. */
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

void
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

struct line *
add_line(VALUE fiber)
{
    struct line *line;
    st_data_t first;
    if (lines->num_entries >= sweep_at) { /* For programs that create many fibers (each Enumerator#next is one). */
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

static int
line_of_thread(st_data_t key, st_data_t value, st_data_t thread)
{
    struct line *line = (struct line *)value;
    if (line->thread != (VALUE)thread || !line->innermost) return ST_CONTINUE;
    nobody_here = 0;
    return ST_STOP;
}

/* Returns the line of this fiber, or NULL if nothing is profiled. Other Ractors are never
 * profiled: none of this state is theirs. */
struct line *
look_up(VALUE fiber)
{
    st_data_t value;
    struct line *line = NULL;
    if (in_main_ractor()) {
        if (st_lookup(lines, fiber, &value)) line = (struct line *)value;
        else if (st_lookup(attachments, rb_thread_current(), &value)) line = add_line(fiber);
    }
    here.fiber = fiber;
    here.line = line;
    here.epoch = epoch;
    if (!line && in_main_ractor()) { /* Other Ractors run in parallel and must not use the tables. */
        nobody_here = epoch;
        st_foreach(lines, line_of_thread, rb_thread_current());
    }
    return line;
}

/* ---- Keeping threads, fibers and sessions alive while they are in the tables ---- */

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
open_tables(void)
{
    lines = st_init_numtable();
    attachments = st_init_numtable();
    main_ractor = rb_ractor_local_storage_ptr_newkey(NULL);
    rb_ractor_local_storage_ptr_set(main_ractor, &main_ractor);
    rb_gc_register_mark_object(TypedData_Wrap_Struct(rb_cObject, &tables_type, &lines));
    allocated = ID2SYM(rb_intern("total_allocated_objects"));
}
