/* Declarations shared by the parts of the accelerator: the counts of a profile, and the steps of every
 * counted call.
 *
 * The accelerator does in C what assay/profiler/pure.py does in Python, with equal numbers; both
 * pass the same tests. All code runs with the interpreter's lock held. No pointer into the C stack
 * is stored: libraries that swap stacks (greenlet) can cause wrong numbers, but no invalid memory
 * access.
 */
#ifndef ASSAY_SPEEDUPS_H
#define ASSAY_SPEEDUPS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <time.h>
#if defined(__x86_64__) && defined(__linux__)
#include <x86intrin.h>
#define ASSAY_HAS_TICKS 1
#else
#define ASSAY_HAS_TICKS 0
#endif

#ifdef _WIN32
#error "the accelerator reads the clock of POSIX; without it the package works in pure Python"
#endif

/* The totals of one label in one thread. Times are in nanoseconds, without the profiler's own cost. */
typedef struct {
    long long calls;  /* calls that began */
    long long done;   /* calls that ended, normally or not */
    long long errors; /* calls that ended with an exception */
    double inclusive; /* plain calls and generators: including their callees, outermost calls only */
    double exclusive; /* without the time of other labels */
    double elapsed;   /* coroutines: from the first step to the end, outermost calls only */
    double running;   /* coroutines: time within their steps, outermost calls only */
    int depth;        /* number of running frames of this label */
} Cell;

/* The state of one thread within one recording. Running frames nest, including steps of coroutines,
 * so a few scalars replace a stack: every frame saves them in local variables and restores them. */
typedef struct {
    PyThreadState *thread;
    Cell *cells;
    int length;
    int top;          /* label of the innermost frame, or -1 */
    int in_coroutine; /* true if that frame is a coroutine's */
    double child;     /* time of finished frames directly beneath it */
    double priced;    /* total overhead of calls since the thread began */
} Flow;

struct Suspended;

typedef struct {
    PyObject_HEAD
    PyObject *parent;
    PyObject *owner;
    PyObject *weak;
    char active;
    int count;
    Flow **flows;
    Flow *last;                  /* the most recently used flow, nearly always the next one too */
    struct Suspended *suspended; /* coroutines and generators of sys.monitoring (monitor.c) */
} Recording;

/* The values that a frame restores when it ends. */
typedef struct {
    Flow *flow;
    int top, in_coroutine;
    double child, priced;
    long long began;
} Frame;

/* How a function is executed: in one go, or in steps. */
enum kind {
    GENERATOR,
    COROUTINE,
    FIRST_ITEM, /* asynchronous generator: the step to the first item, */
    NEXT_ITEM,  /* to the next one, */
    CLOSING,    /* and closing it */
    AT_ONCE
};

/* A coroutine or generator, from its first step to its end. */
typedef struct {
    Recording *recording;
    int label, kind;
    char began, ended, outermost;
    long long first;
    double child, added;
} Span;

/* The overhead of a call, in nanoseconds. */
typedef struct {
    double inner;    /* between its two clock readings */
    double outer;    /* total */
    double repeated; /* of a call directly within one of its own label, which reads no clock */
} Costs;

extern PyTypeObject Recording_Type, Probe_Type, Steps_Type;
extern PyObject *assay_current; /* the ContextVar that holds the recording */
extern long assay_active;       /* number of running recordings in the process */
extern int assay_by_counter;    /* true if ticks are those of the processor's counter */
extern double assay_tick;       /* nanoseconds of a tick */
extern Costs assay_probe_costs, assay_monitor_costs;

Flow *assay_find_flow(Recording *recording);
int assay_grow(Flow *flow, int label);
int assay_allocations_ready(PyObject *module);
int assay_monitor_ready(PyObject *module);
int assay_steps_ready(void);
int assay_step_enter(Span *span, Frame *frame);
void assay_step_leave(Span *span, Frame *frame, int over, int whole, int error);
void assay_forget(Recording *recording);
void assay_ticks_ready(void);
PyObject *assay_retire(PyObject *module, PyObject *probe);
PyObject *assay_tune(PyObject *module, PyObject *none);

static inline long long
assay_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* The time source for plain calls, whose overhead is mostly the reading of the clock: the processor's
 * counter if the kernel uses it as its own clock source (ticks.c), otherwise the clock. A tick is
 * `assay_tick` nanoseconds. */
static inline long long
assay_ticks(void)
{
#if ASSAY_HAS_TICKS
    if (assay_by_counter)
        return (long long)__rdtsc();
#endif
    return assay_clock();
}

/* Returns the flow of this thread with space for the label, or NULL with an exception set. */
static inline Flow *
assay_flow(Recording *recording, int label)
{
    Flow *flow = recording->last;
    if (!flow || flow->thread != PyThreadState_Get())
        flow = assay_find_flow(recording);
    if (flow && label >= flow->length && assay_grow(flow, label) < 0)
        return NULL;
    return flow;
}

/* Returns a new reference to the recording of this context, or NULL if there is none or the context
 * cannot be read. Never sets an exception. */
static inline Recording *
assay_recording(void)
{
    PyObject *held = NULL;
    if (PyContextVar_Get(assay_current, NULL, &held) < 0) {
        PyErr_Clear();
        return NULL;
    }
    if (!held)
        return NULL;
    if (Py_TYPE(held) == &Recording_Type && ((Recording *)held)->active)
        return (Recording *)held;
    Py_DECREF(held);
    return NULL;
}

static inline void
assay_push(Frame *frame, Flow *flow, int label, int in_coroutine, double child)
{
    frame->flow = flow;
    frame->top = flow->top;
    frame->in_coroutine = flow->in_coroutine;
    frame->child = flow->child;
    frame->priced = flow->priced;
    flow->top = label;
    flow->in_coroutine = in_coroutine;
    flow->child = child;
    flow->cells[label].depth++;
}

static inline void
assay_pop(Frame *frame, int label)
{
    Flow *flow = frame->flow;
    flow->cells[label].depth--;
    flow->top = frame->top;
    flow->in_coroutine = frame->in_coroutine;
    flow->child = frame->child;
}

/* Begins a plain call. Returns 0 if it is directly within a call of its own label, which includes its
 * time. The caller reads the clock afterwards. */
static inline int
assay_call_begins(Frame *frame, Flow *flow, int label)
{
    flow->cells[label].calls++;
    frame->flow = flow;
    if (flow->top == label)
        return 0;
    assay_push(frame, flow, label, 0, 0.0);
    return 1;
}

/* Ends a plain call. `timed` is the result of `assay_call_begins`; `ticks` is the clock, read first. The
 * start is in the frame. */
static inline void
assay_call_ends(Frame *frame, int label, int timed, long long ticks, const Costs *costs, int error)
{
    Flow *flow = frame->flow;
    Cell *cell = &flow->cells[label]; /* looked up again, since the cells may have been reallocated */
    if (timed) {
        double taken = (double)(ticks - frame->began) * assay_tick - costs->inner - (flow->priced - frame->priced);
        cell->exclusive += taken - flow->child;
        assay_pop(frame, label);
        flow->child += taken;
        flow->priced += costs->outer;
        if (!cell->depth)
            cell->inclusive += taken;
    }
    else
        flow->priced += costs->repeated;
    cell->done++;
    if (error)
        cell->errors++;
}

#endif
