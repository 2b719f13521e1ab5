/*
 * What the rooms of the allocation counter know of each other: the state of the process and of the thread, and what each room can be
 * asked for. Each says at its own top what it is for.
 */
#ifndef ASSAY_ALLOC_ROOMS_H
#define ASSAY_ALLOC_ROOMS_H

#include <stddef.h>
#include <stdint.h>

#include "table.h"

/* None of it is seen outside the library, which spares a lookup for each use. */
#pragma GCC visibility push(hidden)

#define EXPORTED __attribute__((visibility("default")))
#define RARE __attribute__((noinline, cold))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* A thread's own variable, at a place that is known when the library is loaded: nothing has to be called to find it. */
#define OF_THREAD __thread __attribute__((tls_model("initial-exec")))

/* ---- The process (slots.c). ---- */

enum { FRESH, BUSY, COUNTS, COUNTS_NOTHING };

/* What a forked child must not believe of itself: pages of their own, all zero in the child. */
#if defined(__x86_64__)
enum { LARGEST_PAGE = 4096 };
#else
enum { LARGEST_PAGE = 65536 };
#endif
extern union home {
    struct {
        /* The table is this process's own, and threads that have a slot may use it. */
        int counts;
        int state;
        uint32_t next_shared;
        unsigned char taken[OWN_SLOTS];
    };
    char pages[LARGEST_PAGE];
} home;

/* Makes the process one that counts, or one that does not, at its first call. */
RARE void set_up(void);

/* ---- The thread (slots.c). ---- */

/* The thread's slot; NULL: none yet, or a shared one. */
extern OF_THREAD struct slot *own;
/* The same where nothing more has to be looked at: calls count, and sizes stand before blocks. */
extern OF_THREAD struct slot *quick;
/* The number of a shared slot, from 1; or why a call is not counted: it comes out of another, or it is the probe. */
enum { QUIET = -1, PROBING = -2 };
extern OF_THREAD int mode;

/* Nothing in a statement counts. The next allocator may do one of its functions by another, which comes back here: only the outer call
 * is the program's. */
#define QUIETLY(statement) \
    do { \
        struct slot *slot = quick; \
        int before = mode; \
        quick = NULL; \
        mode = QUIET; \
        statement; \
        quick = slot; \
        mode = before; \
    } while (0)

/* Gives the thread a slot of its own, or the number of a shared one. */
void find_slot(void);
/* Tells the process of the changes that a thread has kept to itself so far. */
RARE void tell(struct slot *slot);
void raise_to(int64_t *peak, int64_t value);

/* ---- The file (file.c). ---- */

/* Where the table is. In a forked child that of the parent is there until its own takes the place: a thread's slot stays where it
 * was. */
extern struct table *table;
/* The directory of the files is known: from the environment, once. */
int find_directory(void);
/* Writes the name of a file in that directory, "/" first; 0: there is none, or no room. */
int append_in_directory(char *to, size_t room, const char *name);
/* Appends a text and a zero byte, and returns where that is. */
char *append(char *to, const char *end, const char *text);
/* What a variable has, by its name and "="; NULL: it is not there. */
const char *variable_of(char *const environment[], const char *name);
/* Makes the file and maps it; NULL: nothing can be counted. */
struct table *make_table(void);

/* ---- The next allocator (next.c). ---- */

extern struct next {
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    /* NULL: sizes are not known. */
    size_t (*malloc_usable_size)(void *);
} next;
/* What the program would have by this name without us; NULL: nothing. */
void *find_next(const char *name);
/* Looks it up. False while the lookup is under way (this call comes out of it), and where there is none. */
RARE int resolve(void);
/* The same, where it may have been done. */
int is_resolved(void);

/* The C library of GNU keeps the size of a block in the word before it, with three flags in the lowest bits. To read it there takes
 * a small part of the time that malloc_usable_size takes. Of blocks with a mapping of their own (the second flag) the size is asked
 * all the same. */
enum { FLAGS = 7, HAS_MAPPING = 2 };
extern int size_before_block;

typedef uint64_t __attribute__((may_alias)) any_word;

static ALWAYS_INLINE uint64_t word_before(const void *p)
{
    return ((const any_word *)p)[-1];
}

static ALWAYS_INLINE size_t size_in(uint64_t word)
{
    return (word & ~(uint64_t)FLAGS) - sizeof word;
}

RARE size_t asked_size(void *p);

/* Blocks that the lookup itself was given are never given back. */
enum { BOOT_BYTES = 16 * 1024 };
extern union boot {
    max_align_t aligned;
    char bytes[BOOT_BYTES];
} boot;

static inline int is_boot(const void *p)
{
    return (uintptr_t)p - (uintptr_t)boot.bytes < sizeof boot.bytes;
}

size_t boot_size(const void *p);

#pragma GCC visibility pop

#endif
