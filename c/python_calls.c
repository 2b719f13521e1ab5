/*
 * Records which functions of a Python program were entered: a library for interpreters without
 * `sys.monitoring` (3.9 to 3.11), loaded by ctypes from `assay_tests_coverage.py`.
 *
 * It is the profile function of every thread. It records each code object once per epoch, using a
 * hash table by address with the epoch in which the code was last seen. `calls_taken` returns the
 * code entered since the last call, and begins the next epoch.
 *
 * One library serves all versions and all C libraries: it uses no header of Python and no symbol
 * that a linker must resolve. The interpreter's functions are passed to it as addresses, and it
 * never dereferences objects. All of it runs with the interpreter's lock held.
 *
 * It must not decide which code matters (Python does, with `calls_ignore`), or raise.
 */
#include <stddef.h>
#include <stdint.h>

#define PUBLIC __attribute__((visibility("default")))

typedef struct object object;
typedef int profile_function(object *self, object *frame, int what, object *argument);

/* The functions of the interpreter, in the order of `_FUNCTIONS` in assay_tests_coverage.py. */
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

/* A code object in the table; the reference is kept, so that no other object gets its address. */
struct slot {
    object *code;
    uint64_t epoch;
};

enum { CALL = 0, FIRST_SIZE = 4096 };
#define IGNORED UINT64_MAX

static struct slot *table;
static size_t size, used;
static uint64_t epoch = 1;
static object *entered; /* List of the code objects entered in this epoch. */
static int lost;        /* True if something could not be recorded for lack of memory. */

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

/* Sets the addresses of the interpreter's functions. Returns 0 if there is not enough memory. */
PUBLIC int calls_begin(void *const *functions)
{
    void **mine = (void **)&python;
    for (size_t i = 0; i < sizeof python / sizeof *mine; i++)
        mine[i] = functions[i];
    entered = python.new_list(0);
    return entered && grow();
}

/* Watches the calling thread. `mark` is the value returned by `sys.getprofile` while it does. */
PUBLIC void calls_watch(object *mark)
{
    python.set_profile(profile, mark);
}

/* Records another code object. */
PUBLIC void calls_note(object *code)
{
    note(code);
}

/* Ignores this code from now on. */
PUBLIC void calls_ignore(object *code)
{
    struct slot *slot = find(table, size, code);
    if (slot->code)
        slot->epoch = IGNORED;
}

/* Returns the list of code objects entered since the last call. */
PUBLIC object *calls_taken(void)
{
    object *taken = entered;
    entered = python.new_list(0);
    epoch++;
    return taken;
}

/* Returns true if something could not be recorded since the last call. */
PUBLIC int calls_lost(void)
{
    int was = lost;
    lost = 0;
    return was;
}
