/*
 * The allocation counter: a library to preload into any dynamically linked program that counts its
 * calls of malloc and related functions.
 *
 * It never replaces the allocator: every call is forwarded to the next definition (that of another
 * preloaded library, or the C library's), since a different allocator would change the program's
 * behavior. The counts are in a file mapped shared, so that they can be read from outside at any
 * time and survive however the process ends. If ASSAY_ALLOC does not name a directory, or the file
 * cannot be created, nothing is counted or reported, and the program runs unchanged.
 *
 * Peak of live bytes: a thread reports its changes to the process only when they exceed GRAIN,
 * along with their highest value in between. With a single thread the peak is exact; otherwise its
 * error is at most GRAIN for each of the other threads. Memory held by realloc while it copies is
 * not included. Sizes are those of malloc_usable_size of the allocator that returned the block; if
 * it has no such function, sizes are unknown.
 *
 * It must not print, allocate, change errno, or call any function that a program or another
 * preloaded library may have replaced. So it walks the environment itself (shells have their own
 * getenv), and calls the kernel directly.
 *
 * This file contains the functions called by the program, and the counting of a call. A counter has
 * a single writer and is updated by plain additions without synchronization; only threads that
 * share a slot add atomically. The other parts are in `alloc/`.
 */
#include <errno.h>
#include <string.h>

#include "alloc/rooms.h"

/* Changes in bytes beyond which a thread reports them to the process. */
enum { GRAIN = 32 * 1024 };

/* Set while waiting for the probing call; cleared if it arrives here. */
static int bypassed;

/* ---- Counting. ---- */

/* The kind of a call. */
enum call { NEW, RESIZED, FREED };

/* Counts one call in the thread's own slot: bytes requested, usable bytes freed, and the net
 * change of live bytes. */
static ALWAYS_INLINE void count_own(struct slot *slot, enum call call, uint64_t asked, uint64_t freed, int64_t more)
{
    if (call == NEW)
        ADD(slot->allocations, 1);
    if (call == RESIZED)
        ADD(slot->reallocs, 1);
    if (call == FREED)
        ADD(slot->frees, 1);
    if (call != FREED)
        ADD(slot->allocated, asked);
    if (call != NEW)
        ADD(slot->freed, freed);
    int64_t untold = GET(slot->untold) + more;
    PUT(slot->untold, untold);
    /* A value above GRAIN is always a new high, since earlier ones were reported when they
     * exceeded it. */
    if (call != FREED && untold > GET(slot->high)) {
        PUT(slot->high, untold);
        if (UNLIKELY(untold > GRAIN))
            tell(slot);
    }
    if (call != NEW && UNLIKELY(untold < -GRAIN))
        tell(slot);
}

static RARE void count_slowly(enum call call, uint64_t asked, uint64_t freed, int64_t more)
{
    if (mode == PROBING)
        bypassed = 0;
    if (mode < 0)
        return;
    if (home.state == FRESH)
        set_up();
    if (!home.counts)
        return;
    if (!own && !mode)
        find_slot();
    if (own) {
        count_own(own, call, asked, freed, more);
        return;
    }
    struct slot *slot = &table->slots[OWN_SLOTS + mode - 1];
    ADD_SHARED(slot->allocations, call == NEW);
    ADD_SHARED(slot->reallocs, call == RESIZED);
    ADD_SHARED(slot->frees, call == FREED);
    ADD_SHARED(slot->allocated, asked);
    ADD_SHARED(slot->freed, freed);
    raise_to(&table->header.peak, ADD_SHARED(table->header.live, more) + more);
}

/* The slow path for all other cases: no slot, or a size that must be queried. */
static RARE void *count_new_slowly(void *p, size_t asked)
{
    if (!is_boot(p))
        count_slowly(NEW, asked, 0, (int64_t)asked_size(p));
    return p;
}

static RARE void free_slowly(void *p)
{
    if (is_boot(p))
        return;
    size_t size = asked_size(p);
    count_slowly(FREED, 0, size, -(int64_t)size);
    next.free(p);
}

static ALWAYS_INLINE void *count_new(void *p, size_t asked)
{
    struct slot *slot = quick;
    uint64_t word;
    if (UNLIKELY(!home.counts || !slot || ((word = word_before(p)) & HAS_MAPPING)))
        return count_new_slowly(p, asked);
    count_own(slot, NEW, asked, 0, (int64_t)size_in(word));
    return p;
}

/* ---- Functions called by the program. ---- */

EXPORTED void *malloc(size_t size)
{
    void *p = next.malloc(size);
    return LIKELY(p) ? count_new(p, size) : NULL;
}

EXPORTED void free(void *p)
{
    if (UNLIKELY(!p))
        return;
    struct slot *slot = quick;
    uint64_t word;
    if (UNLIKELY(!home.counts || !slot || ((word = word_before(p)) & HAS_MAPPING))) {
        free_slowly(p);
        return;
    }
    count_own(slot, FREED, 0, size_in(word), -(int64_t)size_in(word));
    next.free(p);
}

EXPORTED void *calloc(size_t count, size_t size)
{
    void *p;
    QUIETLY(p = next.calloc(count, size));
    /* The allocation succeeded, so the product does not overflow. */
    return p ? count_new(p, count * size) : NULL;
}

EXPORTED void *realloc(void *p, size_t size)
{
    void *moved;
    if (!p) {
        QUIETLY(moved = next.realloc(NULL, size));
        return moved ? count_new(moved, size) : NULL;
    }
    if (UNLIKELY(is_boot(p))) {
        size_t old = boot_size(p);
        moved = malloc(size);
        return moved ? memcpy(moved, p, old < size ? old : size) : NULL;
    }
    size_t old = asked_size(p);
    QUIETLY(moved = next.realloc(p, size));
    if (!moved && size)
        return NULL;
    if (moved)
        count_slowly(RESIZED, size, old, (int64_t)asked_size(moved) - (int64_t)old);
    else
        count_slowly(FREED, 0, old, -(int64_t)old);
    return moved;
}

/* The C library implements it with realloc, and another allocator may lack it, so it is
 * implemented with realloc here. */
EXPORTED void *reallocarray(void *p, size_t count, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(p, all);
}

EXPORTED int posix_memalign(void **p, size_t alignment, size_t size)
{
    int error;
    QUIETLY(error = next.posix_memalign(p, alignment, size));
    if (!error && *p)
        count_new(*p, size);
    return error;
}

#define ALIGNED(name, parameters, arguments) \
    EXPORTED void *name parameters \
    { \
        void *p; \
        QUIETLY(p = next.name arguments); \
        return p ? count_new(p, size) : NULL; \
    }
ALIGNED(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
ALIGNED(memalign, (size_t alignment, size_t size), (alignment, size))
ALIGNED(valloc, (size_t size), (size))
ALIGNED(pvalloc, (size_t size), (size))

/* A second declaration of malloc, so that the call is dispatched like any other, regardless of
 * the compiler's knowledge of the definition here. */
extern void *looked_up_malloc(size_t) __asm__("malloc");
extern void looked_up_free(void *) __asm__("free");

/* Ensures that a program without allocations has a record as well, and detects programs with
 * their own malloc, which takes precedence over preloaded ones: the probing call does not arrive
 * here. */
__attribute__((constructor)) static void begin(void)
{
    if (home.state == FRESH)
        set_up();
    if (!home.counts)
        return;
    struct slot *slot = quick;
    int before = mode;
    quick = NULL;
    mode = PROBING;
    bypassed = 1;
    void *volatile probe = looked_up_malloc(1);
    looked_up_free(probe);
    quick = slot;
    mode = before;
    if (bypassed)
        table->header.flags |= BYPASSED;
}
