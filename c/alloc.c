/*
 * The allocation counter: a library to preload into any dynamically linked program, which counts its calls of malloc and its kin.
 *
 * It never replaces the allocator: every call goes on to the next definition (another preloaded one, or the C library's), for a
 * program on another allocator is another program. The counts stand in a file that is mapped shared, so that they can be read from
 * outside at any time, and are there whatever the process ends by. Where ASSAY_ALLOC names no directory, or the file cannot be made,
 * nothing is counted, nothing said, and the program runs as it is.
 *
 * Peak of live bytes: a thread tells the whole process of its changes only when they pass GRAIN, and with them the highest point
 * that it was at in between. With one thread at a time the peak is exact; otherwise it is wrong by at most GRAIN for each of the
 * other threads. What realloc holds while it copies is not in it. Sizes are those of malloc_usable_size, asked of the allocator that
 * gave the block; if that has no such function, sizes are not known.
 *
 * What it must not do: print, allocate, change errno, or call anything that a program or another preloaded library may have put its
 * own in the place of. So it walks the environment itself (shells have a getenv of their own), and asks the kernel directly.
 *
 * In this room: what the program calls, and how a call is counted. A counter has one writer, and is touched by plain additions that no
 * other processor has to agree to; only threads that share a slot add atomically. The other rooms are in `alloc/`.
 */
#include <errno.h>
#include <string.h>

#include "alloc/rooms.h"

/* A thread tells of its changes from so many bytes on. */
enum { GRAIN = 32 * 1024 };

/* Set while a call is awaited that does not come here. */
static int bypassed;

/* ---- Counting. ---- */

/* What a call was. */
enum call { NEW, RESIZED, FREED };

/* One call in the thread's own slot: bytes asked for, usable bytes given back, and by how many there are more now. */
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
    /* What passes GRAIN upwards is a new high first: it was told whenever it passed before. */
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

/* The slow way, for whatever is not plain: no slot, or a size that has to be asked. */
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

/* ---- What the program calls. ---- */

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
    /* It gave memory, so the product fits. */
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

/* The C library does it by realloc, and another allocator may not have it: so it is done by realloc here. */
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

/* A second declaration of malloc, so that the call goes where everybody else's goes, whatever the compiler knows of the one here. */
extern void *looked_up_malloc(size_t) __asm__("malloc");
extern void looked_up_free(void *) __asm__("free");

/* A program that allocates nothing has a record, too; and one that has a malloc of its own, which goes before every preloaded one,
 * is found out: the call does not come here. */
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
