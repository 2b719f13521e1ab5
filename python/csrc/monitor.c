/* Counts and times functions by the events of `sys.monitoring` (PEP 669, Python 3.12 and later), without
 * wrappers. assay/profiler/monitoring.py chooses the code to watch and switches events on and off;
 * this file handles the events.
 *
 * An event identifies the code, not the call. A call is identified by the address of its
 * interpreter frame: it is unique while the call is running, and a generator keeps it from its
 * first step to its last. This distinguishes ends whose beginning was recorded from those that
 * began before the profile or in another context. Addresses are only compared: frames are never
 * read.
 *
 * The running calls of a thread are a stack of entries. Unlike in probe.c they cannot be local
 * variables, since beginning and end are two events. Suspended generators and coroutines are kept
 * in a table by frame. A generator that Python discards without running it (3.13 does so if it is
 * suspended at a yield outside any `try`) causes no event and counts as unfinished. */
#include "speedups.h"

Costs assay_monitor_costs;

#if PY_VERSION_HEX < 0x030C0000

void
assay_forget(Recording *Py_UNUSED(recording))
{
}

int
assay_monitor_ready(PyObject *Py_UNUSED(module))
{
    return 0;
}

#else

#if PY_VERSION_HEX >= 0x030D0000
#define FRAME_OF(thread) ((const void *)(thread)->current_frame)
#else
#define FRAME_OF(thread) ((const void *)(thread)->cframe->current_frame)
#endif

/* Stored with a code object. */
typedef struct {
    int label, kind, on;
} Watched;

/* A coroutine or generator that began within a recording. It is in the table by frame, and in the
 * list of its recording, with which it is freed. */
typedef struct Suspended {
    Span span;
    const void *frame;
    const Watched *watched;
    struct Suspended *next; /* next in the same bucket of the table */
    struct Suspended *following, **link;
} Suspended;

/* A running call or step. */
typedef struct {
    const void *frame;
    const Watched *watched;
    Recording *recording;
    Suspended *suspended; /* only used while the recording is active */
    int timed;
    Frame state;
} Entry;

/* The entries of one thread. An empty stack is free for any thread. */
typedef struct {
    PyThreadState *thread;
    int count, room;
    Entry *entries;
} Stack;

static Py_ssize_t place; /* index of the Watched of a code object */
static Stack **stacks, *last_stack;
static int stack_count;
static Suspended **table;
static size_t table_size, table_used;

static inline Watched *
watched_code(PyObject *const *args, Py_ssize_t count)
{
    void *found = NULL;
    if (count < 1 || !PyCode_Check(args[0]) || PyUnstable_Code_GetExtra(args[0], place, &found) < 0)
        return NULL;
    Watched *watched = found;
    return watched && watched->on ? watched : NULL;
}

/* The table of suspended coroutines and generators. */

static inline size_t
bucket_of(const void *frame)
{
    return (size_t)((uint64_t)(uintptr_t)frame * 0x9E3779B97F4A7C15u >> 32) & (table_size - 1);
}

static Suspended *
find_suspended(const void *frame)
{
    Suspended *found = table_size ? table[bucket_of(frame)] : NULL;
    while (found && found->frame != frame)
        found = found->next;
    return found;
}

static void
forget_suspended(Suspended *gone)
{
    Suspended **at = &table[bucket_of(gone->frame)];
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    *gone->link = gone->following;
    if (gone->following)
        gone->following->link = gone->link;
    table_used--;
    PyMem_Free(gone);
}

static int
grow_table(void)
{
    size_t before = table_size, size = before ? before * 2 : 64;
    Suspended **larger = PyMem_Calloc(size, sizeof *larger), **smaller = table;
    if (!larger) {
        PyErr_NoMemory();
        return -1;
    }
    table = larger;
    table_size = size;
    for (size_t i = 0; i < before; i++) {
        while (smaller[i]) {
            Suspended *moved = smaller[i];
            smaller[i] = moved->next;
            Suspended **bucket = &table[bucket_of(moved->frame)];
            moved->next = *bucket;
            *bucket = moved;
        }
    }
    PyMem_Free(smaller);
    return 0;
}

static Suspended *
new_suspended(const void *frame, const Watched *watched, Recording *recording)
{
    if (table_used >= table_size && grow_table() < 0)
        return NULL;
    Suspended *made = PyMem_Calloc(1, sizeof *made);
    if (!made) {
        PyErr_NoMemory();
        return NULL;
    }
    made->span.recording = recording;
    made->span.label = watched->label;
    made->span.kind = watched->kind;
    made->frame = frame;
    made->watched = watched;
    Suspended **bucket = &table[bucket_of(frame)];
    made->next = *bucket;
    *bucket = made;
    made->following = recording->suspended;
    made->link = &recording->suspended;
    if (made->following)
        made->following->link = &made->following;
    recording->suspended = made;
    table_used++;
    return made;
}

/* Frees the suspended calls of a recording that has ended. */
void
assay_forget(Recording *recording)
{
    while (recording->suspended)
        forget_suspended(recording->suspended);
}

/* The stacks of running calls. */

static Stack *
find_stack(PyThreadState *thread)
{
    if (last_stack && last_stack->thread == thread)
        return last_stack;
    for (int i = 0; i < stack_count; i++)
        if (stacks[i]->count && stacks[i]->thread == thread)
            return last_stack = stacks[i];
    return NULL;
}

static Stack *
new_stack(PyThreadState *thread)
{
    for (int i = 0; i < stack_count; i++) {
        if (!stacks[i]->count) {
            stacks[i]->thread = thread;
            return last_stack = stacks[i];
        }
    }
    Stack **more = PyMem_Realloc(stacks, (size_t)(stack_count + 1) * sizeof *more);
    if (!more)
        return NULL;
    stacks = more;
    Stack *made = PyMem_Calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->thread = thread;
    return last_stack = stacks[stack_count++] = made;
}

/* Pushes an entry on this thread's stack; returns NULL with an exception set on failure. Steals the
 * reference to the recording. */
static inline Entry *
push_entry(PyThreadState *thread, const void *frame, const Watched *watched, Recording *recording)
{
    Stack *stack = find_stack(thread);
    if (!stack && !(stack = new_stack(thread)))
        goto no_memory;
    if (stack->count == stack->room) {
        int room = stack->room ? stack->room * 2 : 16;
        Entry *more = PyMem_Realloc(stack->entries, (size_t)room * sizeof *more);
        if (!more)
            goto no_memory;
        stack->entries = more;
        stack->room = room;
    }
    Entry *entry = &stack->entries[stack->count++];
    entry->frame = frame;
    entry->watched = watched;
    entry->recording = recording;
    entry->suspended = NULL;
    return entry;
no_memory:
    Py_DECREF(recording);
    PyErr_NoMemory();
    return NULL;
}

static void
drop_entry(Stack *stack, int index)
{
    Recording *recording = stack->entries[index].recording;
    stack->count--;
    if (index < stack->count)
        memmove(&stack->entries[index], &stack->entries[index + 1], (size_t)(stack->count - index) * sizeof(Entry));
    Py_DECREF(recording); /* last, since this may run arbitrary code */
}

/* Drops the open calls of this code, whose end will cause no event. */
static void
forget_watched(const Watched *watched)
{
    for (int i = 0; i < stack_count; i++) {
        for (int k = stacks[i]->count - 1; k >= 0; k--) {
            if (stacks[i]->entries[k].watched == watched) {
                drop_entry(stacks[i], k);
                k = stacks[i]->count;
            }
        }
    }
    for (size_t i = 0; table_used && i < table_size; i++) {
        for (Suspended *one = table[i], *next; one; one = next) {
            next = one->next;
            if (one->watched == watched)
                forget_suspended(one);
        }
    }
}

/* Event handlers. */

static int
begin_step(PyThreadState *thread, Suspended *suspended)
{
    Recording *recording = suspended->span.recording;
    Py_INCREF(recording);
    Entry *entry = push_entry(thread, suspended->frame, suspended->watched, recording);
    if (!entry)
        return -1;
    entry->suspended = suspended;
    return assay_step_enter(&suspended->span, &entry->state);
}

static PyObject *
on_start(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    Watched *watched = assay_active ? watched_code(args, count) : NULL;
    if (!watched)
        Py_RETURN_NONE;
    PyThreadState *thread = PyThreadState_Get();
    const void *frame = FRAME_OF(thread);
    if (watched->kind != AT_ONCE) {
        Suspended *stale = find_suspended(frame);
        if (stale)
            forget_suspended(stale);
    }
    Recording *recording = assay_recording();
    if (!recording)
        Py_RETURN_NONE;
    if (watched->kind != AT_ONCE) {
        Suspended *suspended = new_suspended(frame, watched, recording);
        int begun = suspended ? begin_step(thread, suspended) : -1;
        Py_DECREF(recording);
        if (begun < 0)
            return NULL;
        Py_RETURN_NONE;
    }
    Flow *flow = assay_flow(recording, watched->label);
    if (!flow) {
        Py_DECREF(recording);
        return NULL;
    }
    Entry *entry = push_entry(thread, frame, watched, recording);
    if (!entry)
        return NULL;
    entry->timed = assay_call_begins(&entry->state, flow, watched->label);
    if (entry->timed)
        entry->state.began = assay_ticks();
    Py_RETURN_NONE;
}

/* Resumption by a value or by a thrown exception. */
static PyObject *
on_resume(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    Watched *watched = table_used ? watched_code(args, count) : NULL;
    if (watched) {
        PyThreadState *thread = PyThreadState_Get();
        Suspended *suspended = find_suspended(FRAME_OF(thread));
        if (suspended && suspended->watched == watched && begin_step(thread, suspended) < 0)
            return NULL;
    }
    Py_RETURN_NONE;
}

/* The wrapper of items that an asynchronous generator yields to its consumer; all other yielded
 * objects are for the event loop. */
static int
is_item(PyObject *value)
{
    return strcmp(Py_TYPE(value)->tp_name, "async_generator_wrapped_value") == 0;
}

static void
end(const Watched *watched, long long ticks, int over, int error, PyObject *yielded)
{
    PyThreadState *thread = PyThreadState_Get();
    const void *frame = FRAME_OF(thread);
    Stack *stack = find_stack(thread);
    if (!stack)
        return;
    int index = stack->count - 1;
    while (index >= 0 && (stack->entries[index].frame != frame || stack->entries[index].watched != watched))
        index--;
    if (index < 0)
        return;
    Entry *entry = &stack->entries[index];
    if (watched->kind == AT_ONCE)
        assay_call_ends(&entry->state, watched->label, entry->timed, ticks, &assay_monitor_costs, error);
    else if (entry->recording->active) {
        Suspended *suspended = entry->suspended;
        int item = yielded && (watched->kind == FIRST_ITEM && is_item(yielded));
        assay_step_leave(&suspended->span, &entry->state, over || item, over, error);
        if (over)
            forget_suspended(suspended);
        else if (item) {
            Recording *recording = suspended->span.recording;
            suspended->span = (Span){.recording = recording, .label = watched->label, .kind = NEXT_ITEM};
        }
    }
    drop_entry(stack, index);
}

static PyObject *
on_return(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    long long ticks = assay_ticks();
    Watched *watched = watched_code(args, count);
    if (watched)
        end(watched, ticks, 1, 0, NULL);
    Py_RETURN_NONE;
}

static PyObject *
on_yield(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    Watched *watched = count == 3 ? watched_code(args, count) : NULL;
    if (watched)
        end(watched, 0, 0, 0, args[2]);
    Py_RETURN_NONE;
}

static PyObject *
on_unwind(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    /* Called for every frame of the program that an exception unwinds, so this check comes first. */
    Watched *watched = count == 3 ? watched_code(args, count) : NULL;
    if (watched) {
        int closed = watched->kind != AT_ONCE && PyErr_GivenExceptionMatches(args[2], PyExc_GeneratorExit);
        end(watched, assay_ticks(), 1, !closed, NULL);
    }
    Py_RETURN_NONE;
}

/* Watching. */

static void
free_watched(void *gone)
{
    if (gone) {
        forget_watched(gone);
        PyMem_Free(gone);
    }
}

/* watch(code, label): counts events of this code for the label. */
static PyObject *
watch(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *code;
    int label;
    void *found;
    if (!PyArg_ParseTuple(args, "O!i", &PyCode_Type, &code, &label) || PyUnstable_Code_GetExtra(code, place, &found) < 0)
        return NULL;
    Watched *watched = found;
    if (!watched) {
        watched = PyMem_Calloc(1, sizeof *watched);
        if (!watched)
            return PyErr_NoMemory();
        if (PyUnstable_Code_SetExtra(code, place, watched) < 0) {
            PyMem_Free(watched);
            return NULL;
        }
    }
    int flags = ((PyCodeObject *)code)->co_flags;
    watched->label = label;
    watched->kind = flags & CO_ASYNC_GENERATOR ? FIRST_ITEM
                    : flags & CO_COROUTINE     ? COROUTINE
                    : flags & CO_GENERATOR     ? GENERATOR
                                               : AT_ONCE;
    watched->on = 1;
    Py_RETURN_NONE;
}

/* unwatch(code): stops counting, and drops its open calls. */
static PyObject *
unwatch(PyObject *Py_UNUSED(module), PyObject *code)
{
    void *found = NULL;
    if (!PyCode_Check(code) || PyUnstable_Code_GetExtra(code, place, &found) < 0)
        return PyErr_Format(PyExc_TypeError, "unwatch takes a code object, not %R", code);
    Watched *watched = found;
    if (watched && watched->on) {
        watched->on = 0;
        forget_watched(watched);
    }
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"watch", watch, METH_VARARGS, NULL},
    {"unwatch", unwatch, METH_O, NULL},
    {"on_start", (PyCFunction)(void (*)(void))on_start, METH_FASTCALL, NULL},
    {"on_resume", (PyCFunction)(void (*)(void))on_resume, METH_FASTCALL, NULL},
    {"on_yield", (PyCFunction)(void (*)(void))on_yield, METH_FASTCALL, NULL},
    {"on_return", (PyCFunction)(void (*)(void))on_return, METH_FASTCALL, NULL},
    {"on_unwind", (PyCFunction)(void (*)(void))on_unwind, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

int
assay_monitor_ready(PyObject *module)
{
    place = PyUnstable_Eval_RequestCodeExtraIndex(free_watched);
    if (place < 0) {
        /* Other libraries use all indexes, so monitoring is unavailable. */
        PyErr_Clear();
        return 0;
    }
    return PyModule_AddFunctions(module, functions);
}

#endif
