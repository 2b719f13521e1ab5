/*
 * The next allocator: the one that the program would use without this library. It is looked up at
 * the first call, and every call is forwarded to it. This file also determines the sizes of its
 * blocks. Nothing is counted here.
 *
 * The library is not linked to a particular C library: its symbols are resolved in the one used by
 * the program. In glibc before 2.34 the lookup functions are in a separate library, libdl, which
 * not every program loads. In that case the C library's private equivalents are used; intermediate
 * libraries, such as another preloaded allocator, need libdl themselves, and load it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "rooms.h"

#pragma weak dlsym
#pragma weak dladdr
__attribute__((weak)) extern void *__libc_dlopen_mode(const char *, int);
__attribute__((weak)) extern void *__libc_dlsym(void *, const char *);

void *find_next(const char *name)
{
    static void *library;
    if (dlsym)
        return dlsym(RTLD_NEXT, name);
    if (!library && __libc_dlopen_mode && __libc_dlsym)
        library = __libc_dlopen_mode("libc.so.6", RTLD_LAZY);
    return library ? __libc_dlsym(library, name) : NULL;
}

static void *first_malloc(size_t);
static void *first_calloc(size_t, size_t);
static void *first_realloc(void *, size_t);
static void first_free(void *);
static int first_posix_memalign(void **, size_t, size_t);
static void *first_aligned_alloc(size_t, size_t);
static void *first_memalign(size_t, size_t);
static void *first_valloc(size_t);
static void *first_pvalloc(size_t);

struct next next = {
    first_malloc, first_free, first_calloc, first_realloc, first_posix_memalign,
    first_aligned_alloc, first_memalign, first_valloc, first_pvalloc, NULL,
};

int size_before_block;

RARE size_t asked_size(void *p)
{
    return next.malloc_usable_size ? next.malloc_usable_size(p) : 0;
}

/* The dynamic linker may allocate during the lookup of the allocator: such blocks come from
 * here, and are never freed. Each block is preceded by its size and a word that sends calls of
 * free to the slow path, where they are recognized. */
union boot boot;
static size_t boot_used;
static int resolving;

static RARE void *boot_block(size_t size)
{
    struct {
        uint64_t size, flags;
    } head = {size, HAS_MAPPING};
    if (size <= sizeof boot.bytes) {
        size_t room = sizeof head + (size + sizeof head - 1) / sizeof head * sizeof head;
        size_t at = ADD_SHARED(boot_used, room);
        if (at <= sizeof boot.bytes && room <= sizeof boot.bytes - at) {
            memcpy(boot.bytes + at, &head, sizeof head);
            return boot.bytes + at + sizeof head;
        }
    }
    errno = ENOMEM;
    return NULL;
}

size_t boot_size(const void *p)
{
    return ((const any_word *)p)[-2];
}

/* Returns true if this allocator stores the size before the block, that is, if the word before a
 * few test blocks agrees with malloc_usable_size. */
static int is_size_before_block(void)
{
    static const size_t tried[] = {1, 24, 25, 1000, 5000, 70000};
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        void *p = next.malloc(tried[i]);
        if (!p)
            return 0;
        uint64_t word = word_before(p);
        int is_so = !(word & HAS_MAPPING) && size_in(word) == next.malloc_usable_size(p);
        next.free(p);
        if (!is_so)
            return 0;
    }
    return 1;
}

static int from_same_library(void *one, void *other)
{
    Dl_info of_one, of_other;
    /* Without dladdr, both were found in the C library itself. */
    if (!dladdr)
        return one && other;
    return one && other && dladdr(one, &of_one) && dladdr(other, &of_other) &&
           of_one.dli_fbase == of_other.dli_fbase;
}

RARE int resolve(void)
{
    if (resolving)
        return 0;
    int error = errno;
    resolving = 1;
#define FIND(name) \
    do { \
        void *found = find_next(#name); \
        if (found) \
            memcpy(&next.name, &found, sizeof found); \
    } while (0)
    FIND(calloc);
    FIND(realloc);
    FIND(posix_memalign);
    FIND(aligned_alloc);
    FIND(memalign);
    FIND(valloc);
    FIND(pvalloc);
    FIND(free);
    FIND(malloc);
    /* Sizes are queried from the library that returns the blocks: if an allocator wraps another
     * one and adds a header of its own to each block, the other one would look at the wrong
     * address. */
    void *giver = find_next("malloc");
    if (from_same_library(giver, find_next("malloc_usable_size"))) {
        FIND(malloc_usable_size);
        size_before_block =
            from_same_library(giver, find_next("gnu_get_libc_version")) && is_size_before_block();
    }
    resolving = 0;
    errno = error;
    return next.malloc != first_malloc && next.free != first_free;
}

int is_resolved(void)
{
    return next.malloc != first_malloc || resolve();
}

static void *first_malloc(size_t size)
{
    return resolve() ? next.malloc(size) : boot_block(size);
}

static void *first_calloc(size_t count, size_t size)
{
    size_t all;
    if (resolve() && next.calloc != first_calloc)
        return next.calloc(count, size);
    /* Boot blocks are never reused, so this one still contains only zeros. */
    return boot_block(__builtin_mul_overflow(count, size, &all) ? SIZE_MAX : all);
}

static void *first_realloc(void *p, size_t size)
{
    if (resolve() && next.realloc != first_realloc)
        return next.realloc(p, size);
    return p ? NULL : boot_block(size);
}

static void first_free(void *p)
{
    if (resolve())
        next.free(p);
}

/* A function that the next allocator also lacks returns no memory. */
static int first_posix_memalign(void **p, size_t alignment, size_t size)
{
    int found = resolve() && next.posix_memalign != first_posix_memalign;
    return found ? next.posix_memalign(p, alignment, size) : ENOMEM;
}

#define FIRST(name, parameters, arguments) \
    static void *first_##name parameters \
    { \
        if (resolve() && next.name != first_##name) \
            return next.name arguments; \
        errno = ENOMEM; \
        return NULL; \
    }
FIRST(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
FIRST(memalign, (size_t alignment, size_t size), (alignment, size))
FIRST(valloc, (size_t size), (size))
FIRST(pvalloc, (size_t size), (size))
