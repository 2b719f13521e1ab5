/* What the parts of the accelerator share: the book-keeping of a profile, and the few steps that every call goes through.
 *
 * The accelerator says in C what assay/profiler/pure.py says in Python, number for number; the same tests hold both. All of it
 * runs under the interpreter's lock. Nothing here keeps a pointer into the stack of C: a library that swaps stacks (greenlet)
 * may make the numbers wrong, never the memory.
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

/* What one label came to in one thread. Times are in nanoseconds, the profiler's own cost taken off. */
typedef struct {
    long long calls;  /* calls that began */
    long long done;   /* calls that ended, in whatever way */
    long long errors; /* calls that ended with an exception */
    double inclusive; /* of plain calls and generators: with what they called, outermost calls only */
    double exclusive; /* without what other labels took */
    double elapsed;   /* of coroutines: from the first step to the end, outermost calls only */
    double running;   /* of coroutines: what their steps took, outermost calls only */
    int depth;        /* how many frames of this label are being executed */
} Cell;

/* The state of one thread within one recording. What is being executed nests, steps of coroutines included, so a few scalars do
 * for a stack: every frame saves them in its own locals, and puts them back. */
typedef struct {
    PyThreadState *thread;
    Cell *cells;
    int length;
    int top;          /* label of the innermost frame, or -1 */
    int in_coroutine; /* whether that frame is a coroutine's */
    double child;     /* what finished frames directly beneath it took */
    double priced;    /* what calls have cost on top of themselves, since the thread began */
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
    Flow *last;                  /* the flow that was used last: nearly always the one that is wanted */
    struct Suspended *suspended; /* the coroutines and generators that sys.monitoring sees for it (monitor.c) */
} Recording;

/* What a frame puts back when it ends. */
typedef struct {
    Flow *flow;
    int top, in_coroutine;
    double child, priced;
    long long began;
} Frame;

/* How a function is executed: at once, or step by step. */
enum kind {
    GENERATOR,
    COROUTINE,
    FIRST_ITEM, /* of an asynchronous generator: the step to its first item, */
    NEXT_ITEM,  /* to a further one, */
    CLOSING,    /* and its closing */
    AT_ONCE
};

/* What is executed step by step, from its first step to its end. */
typedef struct {
    Recording *recording;
    int label, kind;
    char began, ended, outermost;
    long long first;
    double child, added;
} Span;

/* What a call costs on top of itself, in nanoseconds. */
typedef struct {
    double inner;    /* between its two clock readings */
    double outer;    /* in all */
    double repeated; /* where it is made directly within a call of its own label, and reads no clock */
} Costs;

extern PyTypeObject Recording_Type, Probe_Type, Steps_Type;
extern PyObject *assay_current; /* the ContextVar that holds the recording */
extern long assay_active;       /* how many recordings go on in the whole process */
extern int assay_by_counter;    /* whether ticks are the processor's */
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

/* What plain calls are timed with, since reading the clock is most of what they cost: the processor's counter where the kernel
 * itself keeps its time by it (ticks.c), else the clock. A tick is `assay_tick` nanoseconds. */
static inline long long
assay_ticks(void)
{
#if ASSAY_HAS_TICKS
    if (assay_by_counter)
        return (long long)__rdtsc();
#endif
    return assay_clock();
}

/* The flow of this thread with room for the label, or NULL with an exception. */
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

/* The recording of this context as a new reference, or NULL where nobody records here. Never fails: a context that can't be
 * read belongs to nobody. */
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

/* A call at once begins: returns 0 where it is made directly within one of its own label, whose time is the outer call's, both with
 * and without others. The clock is for the caller to read, last. */
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

/* It has ended. `timed` is what `assay_call_begins` gave, `ticks` a clock that was read first; that of the beginning is in the frame. */
static inline void
assay_call_ends(Frame *frame, int label, int timed, long long ticks, const Costs *costs, int error)
{
    Flow *flow = frame->flow;
    Cell *cell = &flow->cells[label]; /* not from before: the cells may have moved meanwhile */
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
