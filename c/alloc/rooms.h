/*
 * Declarations shared by the parts of the allocation counter: the state of the process and of the
 * thread, and the functions of each part, which is described at the top of its file.
 */
#ifndef ASSAY_ALLOC_ROOMS_H
#define ASSAY_ALLOC_ROOMS_H

#include <stddef.h>
#include <stdint.h>

#include "table.h"

/* Hidden from other libraries, which saves a symbol lookup for each use. */
#pragma GCC visibility push(hidden)

#define EXPORTED __attribute__((visibility("default")))
#define RARE __attribute__((noinline, cold))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* A thread-local variable at a fixed offset known at load time, so that accessing it needs no
 * call. */
#define OF_THREAD __thread __attribute__((tls_model("initial-exec")))

/* ---- The process (slots.c). ---- */

enum { FRESH, BUSY, COUNTS, COUNTS_NOTHING };

/* State that a forked child must not inherit: on pages of its own, zeroed in the child. */
#if defined(__x86_64__)
enum { LARGEST_PAGE = 4096 };
#else
enum { LARGEST_PAGE = 65536 };
#endif
extern union home {
    struct {
        /* True if the table belongs to this process and threads with a slot may use it. */
        int counts;
        int state;
        uint32_t next_shared;
        unsigned char taken[OWN_SLOTS];
    };
    char pages[LARGEST_PAGE];
} home;

/* Called at the process's first call of an allocator; decides whether it is counted. */
RARE void set_up(void);

/* ---- The thread (slots.c). ---- */

/* The thread's slot; NULL if it has none yet, or a shared one. */
extern OF_THREAD struct slot *own;
/* The same slot if no other check is needed: calls are counted, and sizes are stored before
 * blocks. */
extern OF_THREAD struct slot *quick;
/* The number of a shared slot, from 1; or the reason for not counting a call: it is made by
 * another call, or it is the probe. */
enum { QUIET = -1, PROBING = -2 };
extern OF_THREAD int mode;

/* Does not count the calls in a statement. The next allocator may implement one function by
 * another, which arrives here again: only the outer call is the program's. */
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

/* Assigns the thread its own slot, or the number of a shared one. */
void find_slot(void);
/* Adds the unreported changes of a thread to those of the process. */
RARE void tell(struct slot *slot);
void raise_to(int64_t *peak, int64_t value);

/* ---- The file (file.c). ---- */

/* Address of the table. In a forked child, the parent's table stays there until the child's own
 * replaces it: a thread's slot keeps its address. */
extern struct table *table;
/* Reads the directory of the files from the environment, once; returns true if it is known. */
int find_directory(void);
/* Appends the name of a file in that directory, starting with "/"; returns 0 if there is no
 * directory or no room. */
int append_in_directory(char *to, size_t room, const char *name);
/* Appends a text and a zero byte, and returns the address of that byte. */
char *append(char *to, const char *end, const char *text);
/* Returns the value of a variable, given its name with "="; NULL if it is not set. */
const char *variable_of(char *const environment[], const char *name);
/* Creates and maps the file; returns NULL if counting is impossible. */
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
    /* NULL if sizes are unknown. */
    size_t (*malloc_usable_size)(void *);
} next;
/* Returns the function that the program would use by this name without this library; NULL if
 * there is none. */
void *find_next(const char *name);
/* Looks up the next allocator. Returns false during the lookup (this call is made by it), and if
 * there is none. */
RARE int resolve(void);
/* Like resolve, but does nothing if the lookup has been done. */
int is_resolved(void);

/* glibc stores the size of a block in the word before it, with three flags in the lowest bits.
 * Reading it takes a small fraction of the time of malloc_usable_size. For blocks with a mapping
 * of their own (the second flag) the size is queried nevertheless. */
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

/* Blocks allocated by the lookup itself are never freed. */
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
