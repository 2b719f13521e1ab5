/*
 * Which functions of a Python program were entered: a library for the interpreters that have no `sys.monitoring` (3.9 to 3.11), loaded by
 * ctypes from `assay_tests_coverage.py`.
 *
 * It is the profile function of every thread. Of each code object it notes once per epoch that it was entered: a table by pointer holds the
 * epoch in which it was seen last. `calls_taken` gives what was entered since the last time, and begins the next epoch.
 *
 * One library serves all versions and all C libraries: it has no header of Python and no symbol that a linker must find. What it needs of the
 * interpreter is handed to it as addresses, and objects are pointers that it never looks into. All of it runs with the interpreter's lock held.
 *
 * What it must not do: decide which code matters (Python says so with `calls_ignore`), or raise.
 */
#include <stddef.h>
#include <stdint.h>

#define PUBLIC __attribute__((visibility("default")))

typedef struct object object;
typedef int profile_function(object *self, object *frame, int what, object *argument);

/* What is asked of the interpreter; the order is that of `_FUNCTIONS` in assay_tests_coverage.py. */
static struct {
    void (*set_profile)(profile_function *function, object *self);
    object *(*code_of)(object *frame);
    void (*keep)(object *);
    void (*leave)(object *);
    object *(*new_list)(ptrdiff_t size);
    int (*append)(object *list, object *item);
    void (*forget_error)(void);
    void *(*allocate)(size_t number, size_t size);
    void (*release)(void *);
} python;

/* Of code that is in the table; it is kept, so that nothing else comes to stand at its address. */
struct slot {
    object *code;
    uint64_t epoch;
};

enum { CALL = 0, FIRST_SIZE = 4096 };
#define IGNORED UINT64_MAX

static struct slot *table;
static size_t size, used;
static uint64_t epoch = 1;
static object *entered; /* The list of what was entered in this epoch. */
static int lost;        /* Whether there was no memory for something. */

static struct slot *find(struct slot *slots, size_t number, object *code)
{
    /* Objects are aligned to 16 bytes. */
    size_t at = ((uintptr_t)code >> 4) * (size_t)0x9E3779B97F4A7C15;
    at ^= at >> 32;
    for (;; at++) {
        struct slot *slot = &slots[at & (number - 1)];
        if (slot->code == code || !slot->code)
            return slot;
    }
}

static int grow(void)
{
    size_t larger = size ? size * 2 : FIRST_SIZE;
    struct slot *slots = python.allocate(larger, sizeof *slots);
    if (!slots)
        return 0;
    for (size_t i = 0; i < size; i++)
        if (table[i].code)
            *find(slots, larger, table[i].code) = table[i];
    if (table)
        python.release(table);
    table = slots;
    size = larger;
    return 1;
}

static void note(object *code)
{
    struct slot *slot = find(table, size, code);
    if (slot->epoch == epoch || slot->epoch == IGNORED)
        return;
    if (!slot->code) {
        if (used * 2 >= size) {
            if (!grow()) {
                lost = 1;
                return;
            }
            slot = find(table, size, code);
        }
        python.keep(code);
        slot->code = code;
        used++;
    }
    slot->epoch = epoch;
    if (!entered || python.append(entered, code)) {
        python.forget_error();
        lost = 1;
    }
}

static int profile(object *self, object *frame, int what, object *argument)
{
    (void)self;
    (void)argument;
    if (what != CALL)
        return 0;
    object *code = python.code_of(frame);
    note(code);
    python.leave(code);
    return 0;
}

/* The addresses of the interpreter's functions. Gives 0 where there is no memory. */
PUBLIC int calls_begin(void *const *functions)
{
    void **mine = (void **)&python;
    for (size_t i = 0; i < sizeof python / sizeof *mine; i++)
        mine[i] = functions[i];
    entered = python.new_list(0);
    return entered && grow();
}

/* Watches the thread that calls it. `mark` is what `sys.getprofile` gives meanwhile. */
PUBLIC void calls_watch(object *mark)
{
    python.set_profile(profile, mark);
}

/* Notes one more. */
PUBLIC void calls_note(object *code)
{
    note(code);
}

/* This code never matters. */
PUBLIC void calls_ignore(object *code)
{
    struct slot *slot = find(table, size, code);
    if (slot->code)
        slot->epoch = IGNORED;
}

/* The list of what was entered since the last call. */
PUBLIC object *calls_taken(void)
{
    object *taken = entered;
    entered = python.new_list(0);
    epoch++;
    return taken;
}

/* Whether something could not be noted since the last call. */
PUBLIC int calls_lost(void)
{
    int was = lost;
    lost = 0;
    return was;
}
