/*
 * Declarations shared by the parts of the recorder: native.c (the hot path and its doors), lines.c
 * (fibers and threads) and sessions.c (the running profiles, as seen by Ruby). Nothing here is
 * visible outside the extension.
 *
 * Terms: a *session* is one running profile. A *line* is one line of execution, that is, one fiber
 * (every thread has at least its root fiber). A *layer* holds the counts of one session on one
 * line; nested profiles are several layers. A *slot* of a layer holds the counts of one name. A
 * layer is accessed only by its own line, so recursion and interleaved fibers cannot mix up counts;
 * it is added to the session's totals when the line or the session ends.
 */
#ifndef ASSAY_RECORDER_H
#define ASSAY_RECORDER_H

#include <ruby.h>
#include <ruby/ractor.h>
#include <ruby/st.h>
#include <ruby/version.h>
#include "clock.h"

#pragma GCC visibility push(hidden)

struct slot {
    uint64_t calls, outermost, errors, outermost_errors, open;
    int64_t time;               /* outermost calls only: recursion is counted once */
    uint64_t nested;            /* calls of any patched method within these, for the profiler's cost */
    int64_t exclusive;
    uint64_t children;          /* those of `nested` that were called directly */
    uint64_t allocations;
    uint64_t depth;             /* number of open calls; the rest belongs to the outermost one */
    int64_t entered_at;
    uint64_t entered_calls, entered_allocations;
};

struct frame {                  /* one open call, kept only if exclusive time is recorded */
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

struct attachment {             /* a session that counts in all fibers of a thread; a list, oldest first */
    struct attachment *next;
    struct session *session;
};

/* lines.c */
extern st_table *lines;         /* fiber -> struct line */
extern st_table *attachments;   /* thread -> struct attachment, the first of its list */
extern uint64_t running;        /* running sessions in the process */
extern uint64_t epoch;          /* changes whenever `lines` or layers do, which invalidates the caches of threads */
extern VALUE allocated;         /* :total_allocated_objects */

/* The state last seen by a native thread. It keeps the fibers in `lines` alive, so a fiber that
 * equals this one is the same one unless the epoch changed. Ruby may run another of its threads
 * on this native thread, with other fibers. */
#if defined(__GLIBC__)
#define THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))
#else
#define THREAD_LOCAL __thread
#endif
struct seen { VALUE fiber; struct line *line; uint64_t epoch; };
extern THREAD_LOCAL struct seen here;

/* The epoch in which no fiber of this native thread's Ruby thread was profiled, so that its
 * patched calls need not even look up their fiber. Only used if a native thread runs a single
 * Ruby thread from start to end: since 3.3 native threads may be reassigned. */
#if RUBY_API_VERSION_CODE < 30300
#define ONE_THREAD_EACH 1
#else
#define ONE_THREAD_EACH 0
#endif
extern THREAD_LOCAL uint64_t nobody_here;

void open_tables(void);
int in_main_ractor(void);
struct line *look_up(VALUE fiber);
struct line *add_line(VALUE fiber);
void push_layer(struct line *, struct session *);
void drop_layer(struct line *, struct session *, int64_t at);
void *grown(void *memory, uint32_t *size, uint32_t wanted, size_t element);
void frame_left(struct layer *, int64_t at);

/* Returns the line of this fiber, or NULL if nothing is profiled. */
static inline struct line *
this_line(void)
{
    VALUE fiber;
    if (!running || (ONE_THREAD_EACH && nobody_here == epoch)) return NULL;
    fiber = rb_fiber_current();
    if (here.fiber == fiber && here.epoch == epoch) return here.line;
    return look_up(fiber);
}

/* sessions.c */
void define_sessions(VALUE native);

/* status.c */
void define_status(VALUE native);

#pragma GCC visibility pop
#endif
