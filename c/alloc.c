/*
 * The allocation counter: a library to preload into any dynamically linked program, which counts its calls of malloc and its kin.
 *
 * It never replaces the allocator: every call goes on to the next definition (another preloaded one, or the C library's), for a
 * program on another allocator is another program. The counts stand in a file that is mapped shared, so that they can be read from
 * outside at any time, and are there whatever the process ends by. Where ASSAY_ALLOC names no directory, or the file cannot be made,
 * nothing is counted, nothing said, and the program runs as it is.
 *
 * One process, one file. A forked child finds `home` wiped by the kernel (MADV_WIPEONFORK), however it was forked, and makes a file
 * of its own with its first call; a program put in the place of another by exec loads the library anew. A child of vfork borrows its
 * parent's memory, and its calls count there.
 *
 * One thread, one slot: a cache line that it alone writes to, by plain additions that no other processor has to agree to. A thread
 * that ends leaves its counts where they are and its slot to the next. Where there are more threads than slots, the late ones share
 * some, with atomic additions.
 *
 * Peak of live bytes: a thread tells the whole process of its changes only when they pass GRAIN, and with them the highest point
 * that it was at in between. With one thread at a time the peak is exact; otherwise it is wrong by at most GRAIN for each of the
 * other threads. What realloc holds while it copies is not in it. Sizes are those of malloc_usable_size, asked of the allocator that
 * gave the block; if that has no such function, sizes are not known.
 *
 * What it must not do: print, allocate, change errno, or call anything that a program or another preloaded library may have put its
 * own in the place of. So it walks the environment itself (shells have a getenv of their own), and asks the kernel directly.
 *
 * The reader is `crates/measure/src/allocations/record.rs`; whoever changes a struct here changes that, and VERSION.
 */
#define _GNU_SOURCE
#include <asm/unistd.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ASSAY_ALLOC_OWN
#include "assay_alloc.h"
#include "kernel.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

#define EXPORTED __attribute__((visibility("default")))
#define RARE __attribute__((noinline, cold))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#define GET(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define PUT(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)
#define ADD_SHARED(place, value) __atomic_fetch_add(&(place), (value), __ATOMIC_RELAXED)

/* A counter has one writer, so load and store need not be one step; but who reads meanwhile must find each in one piece. Compilers
 * make three instructions of what is one. */
#if defined(__x86_64__)
#define ADD(place, value) __asm__("addq %1, %0" : "+m"(place) : "er"((uint64_t)(value)) : "cc")
#else
#define ADD(place, value) PUT(place, GET(place) + (value))
#endif

enum {
    VERSION = 1,
    GRAIN = 32 * 1024,
    FILE_BYTES = 8192,
    HEADER_BYTES = 1024,
    SLOTS = (FILE_BYTES - HEADER_BYTES) / 64,
    SHARED_SLOTS = 8,
    OWN_SLOTS = SLOTS - SHARED_SLOTS,
    BOOT_BYTES = 16 * 1024,
#if defined(__x86_64__)
    LARGEST_PAGE = 4096,
#else
    LARGEST_PAGE = 65536,
#endif
};

/* ---- The file. ---- */

enum { KNOWS_SIZES = 1, BYPASSED = 2 };

struct header {
    char magic[8];
    uint32_t version;
    /* KNOWS_SIZES; BYPASSED: calls of malloc in this process do not come here. */
    uint32_t flags;
    uint32_t pid, ppid;
    uint32_t header_bytes, slot_bytes, slots;
    uint32_t path_bytes;
    uint64_t started_ns;
    /* What threads have told of the bytes that are live, and the most that these were. */
    int64_t live, peak;
    /* The program, as far as it fits. */
    char path[HEADER_BYTES - 64];
};

struct slot {
    uint64_t allocations, allocated, frees, freed, reallocs;
    /* The change of live bytes that has not been told yet, and the highest that it was. */
    int64_t untold, high;
    uint64_t unused;
};

struct table {
    struct header header;
    struct slot slots[SLOTS];
};

_Static_assert(sizeof(struct header) == HEADER_BYTES, "the reader knows this layout");
_Static_assert(sizeof(struct slot) == 64, "a slot is a cache line");
_Static_assert(sizeof(struct table) == FILE_BYTES, "the table fills the file");

/* ---- The process. ---- */

enum { FRESH, BUSY, COUNTS, COUNTS_NOTHING };

/* What a forked child must not believe of itself: pages of their own, all zero in the child. */
static union {
    struct {
        /* The table is this process's own, and threads that have a slot may use it. */
        int counts;
        int state;
        uint32_t next_shared;
        unsigned char taken[OWN_SLOTS];
    };
    char pages[LARGEST_PAGE];
} home __attribute__((aligned(LARGEST_PAGE)));

/* Where the table is. In a forked child that of the parent is there until its own takes the place: a thread's slot stays where it
 * was. */
static struct table *table;
static char directory[PATH_MAX];
static pthread_key_t key;
static int has_key;
static int is_wiped_on_fork;
static int bypassed;

/* The thread's slot; NULL: none yet, or a shared one. */
static __thread struct slot *own __attribute__((tls_model("initial-exec")));
/* The same where nothing more has to be looked at: calls count, and sizes stand before blocks. */
static __thread struct slot *quick __attribute__((tls_model("initial-exec")));
/* The number of a shared slot, from 1; or why a call is not counted: it comes out of another, or it is the probe. */
enum { QUIET = -1, PROBING = -2 };
static __thread int mode __attribute__((tls_model("initial-exec")));

/* ---- The next allocator. ---- */

static void *first_malloc(size_t);
static void *first_calloc(size_t, size_t);
static void *first_realloc(void *, size_t);
static void first_free(void *);
static int first_posix_memalign(void **, size_t, size_t);
static void *first_aligned_alloc(size_t, size_t);
static void *first_memalign(size_t, size_t);
static void *first_valloc(size_t);
static void *first_pvalloc(size_t);

static struct {
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
} next = {
    first_malloc, first_free, first_calloc, first_realloc, first_posix_memalign,
    first_aligned_alloc, first_memalign, first_valloc, first_pvalloc, NULL,
};

/* The C library of GNU keeps the size of a block in the word before it, with three flags in the lowest bits. To read it there takes
 * a small part of the time that malloc_usable_size takes. Of blocks with a mapping of their own (the second flag) the size is asked
 * all the same. */
enum { FLAGS = 7, HAS_MAPPING = 2 };
static int size_before_block;

typedef uint64_t __attribute__((may_alias)) any_word;

static ALWAYS_INLINE uint64_t word_before(const void *p)
{
    return ((const any_word *)p)[-1];
}

static ALWAYS_INLINE size_t size_in(uint64_t word)
{
    return (word & ~(uint64_t)FLAGS) - sizeof word;
}

static RARE size_t asked_size(void *p)
{
    return next.malloc_usable_size ? next.malloc_usable_size(p) : 0;
}

/* The dynamic linker may allocate while it looks up where to allocate: that comes from here, and is never given back. Before each
 * block stand its size and a word that sends calls of free the slow way, where they are told apart. */
static union {
    max_align_t aligned;
    char bytes[BOOT_BYTES];
} boot;
static size_t boot_used;
static int resolving;

static inline int is_boot(const void *p)
{
    return (uintptr_t)p - (uintptr_t)boot.bytes < sizeof boot.bytes;
}

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

static size_t boot_size(const void *p)
{
    return ((const any_word *)p)[-2];
}

/* Whether sizes stand before blocks here: of a few it must be what malloc_usable_size says. */
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
    return one && other && dladdr(one, &of_one) && dladdr(other, &of_other) &&
           of_one.dli_fbase == of_other.dli_fbase;
}

/* False while the lookup is under way: this call comes out of it. */
static RARE int resolve(void)
{
    if (resolving)
        return 0;
    int error = errno;
    resolving = 1;
#define FIND(name) \
    do { \
        void *found = dlsym(RTLD_NEXT, #name); \
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
    /* Sizes are asked of the same library that gives the blocks: one that puts itself before another, and keeps a head of its own
     * in each block, would have the other look in the wrong place. */
    void *giver = dlsym(RTLD_NEXT, "malloc");
    if (from_same_library(giver, dlsym(RTLD_NEXT, "malloc_usable_size"))) {
        FIND(malloc_usable_size);
        size_before_block =
            from_same_library(giver, dlsym(RTLD_NEXT, "gnu_get_libc_version")) && is_size_before_block();
    }
    resolving = 0;
    errno = error;
    return next.malloc != first_malloc && next.free != first_free;
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
    /* No boot block was ever another: it is still all zero. */
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

/* A function that the next allocator does not have either gives no memory. */
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

/* ---- Making the file. ---- */

#define CALL1(n, a) call6(n, (long)(a), 0, 0, 0, 0, 0)
#define CALL2(n, a, b) call6(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define CALL3(n, a, b, c) call6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define CALL4(n, a, b, c, d) call6(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define CALL5(n, a, b, c, d, e) call6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define CALL6(n, a, b, c, d, e, f) \
    call6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* At the place of the table before, if there is one. */
static struct table *map_table(int fd)
{
    int flags = table ? MAP_SHARED | MAP_FIXED : MAP_SHARED;
    long at = CALL6(__NR_mmap, table, FILE_BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);
    return at < 0 && at > -4096 ? NULL : (struct table *)at;
}

static char *append(char *to, const char *end, const char *text)
{
    while (to < end && *text)
        *to++ = *text++;
    *to = 0;
    return to;
}

static char *append_number(char *to, const char *end, uint64_t number)
{
    char digits[21];
    char *p = digits + sizeof digits - 1;
    *p = 0;
    do
        *--p = (char)('0' + number % 10);
    while (number /= 10);
    return append(to, end, p);
}

/* The directory, kept: a program may change its environment before it forks. */
static int find_directory(void)
{
    static const char name[] = "ASSAY_ALLOC=";
    if (directory[0])
        return 1;
    for (char **variable = environ; variable && *variable; variable++) {
        if (strncmp(*variable, name, sizeof name - 1) != 0)
            continue;
        const char *value = *variable + sizeof name - 1;
        /* Room for the name of a file, and one more. */
        if (value[0] != '/' || strlen(value) > sizeof directory - 80)
            return 0;
        append(directory, directory + sizeof directory - 1, value);
        return 1;
    }
    return 0;
}

/* A file with room on the disk for all of its bytes, so that no store into the mapping can fail. */
static int make_file(const char *path)
{
    static const char zeros[1024];
    long fd = CALL4(__NR_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    if (CALL4(__NR_fallocate, fd, 0, 0, FILE_BYTES) == 0)
        return (int)fd;
    /* A file system without that call: bytes that are written have their room, too. */
    long written = 0;
    for (int i = 0; i < FILE_BYTES; i += (int)sizeof zeros)
        written += CALL3(__NR_write, fd, zeros, sizeof zeros) == sizeof zeros;
    if (written * (long)sizeof zeros == FILE_BYTES)
        return (int)fd;
    CALL1(__NR_close, fd);
    CALL3(__NR_unlinkat, AT_FDCWD, path, 0);
    return -1;
}

static void fill_header(struct header *header, uint32_t pid, uint64_t started)
{
    long length = CALL4(__NR_readlinkat, AT_FDCWD, "/proc/self/exe", header->path, sizeof header->path);
    memcpy(header->magic, "ASSAYALC", sizeof header->magic);
    header->version = VERSION;
    header->flags = next.malloc_usable_size ? KNOWS_SIZES : 0;
    header->pid = pid;
    header->ppid = (uint32_t)call6(__NR_getppid, 0, 0, 0, 0, 0, 0);
    header->header_bytes = HEADER_BYTES;
    header->slot_bytes = sizeof(struct slot);
    header->slots = SLOTS;
    header->path_bytes = length > 0 ? (uint32_t)length : 0;
    header->started_ns = started;
}

/* The file gets its name when all of its head is written: nobody ever finds half of one. */
static struct table *make_table(void)
{
    struct timespec now = {0, 0};
    uint32_t pid = (uint32_t)call6(__NR_getpid, 0, 0, 0, 0, 0, 0);
    CALL2(__NR_clock_gettime, CLOCK_MONOTONIC, &now);
    uint64_t started = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    /* PID-START.alloc, and the same behind a dot while it is made. */
    char named[PATH_MAX], hidden[PATH_MAX], file[64];
    char *at = append_number(file, file + sizeof file - 1, pid);
    at = append(at, file + sizeof file - 1, "-");
    at = append_number(at, file + sizeof file - 1, started);
    append(at, file + sizeof file - 1, ".alloc");
    at = append(named, named + sizeof named - 1, directory);
    at = append(at, named + sizeof named - 1, "/");
    append(at, named + sizeof named - 1, file);
    at = append(hidden, hidden + sizeof hidden - 1, directory);
    at = append(at, hidden + sizeof hidden - 1, "/.");
    append(at, hidden + sizeof hidden - 1, file);

    int fd = make_file(hidden);
    if (fd < 0)
        return NULL;
    struct table *made = map_table(fd);
    CALL1(__NR_close, fd);
    if (made) {
        table = made;
        fill_header(&made->header, pid, started);
        if (CALL5(__NR_renameat2, AT_FDCWD, hidden, AT_FDCWD, named, 0) == 0)
            return made;
    }
    CALL3(__NR_unlinkat, AT_FDCWD, hidden, 0);
    return NULL;
}

static void leave_slot(void *unused);

/* Once in each process; it is at its first call of an allocator then, or at its beginning, and has but one thread. Where the kernel
 * does not wipe pages nothing is counted, for a child would go on in its parent's file. */
static RARE void set_up(void)
{
    int fresh = FRESH;
    /* So early that there is no environment yet: those are the linker's own calls, not the program's. */
    if (!find_directory() && !environ)
        return;
    if (!__atomic_compare_exchange_n(&home.state, &fresh, BUSY, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    int error = errno, before = mode, counts = 0;
    mode = QUIET;
    if (directory[0] && (next.malloc != first_malloc || resolve())) {
        is_wiped_on_fork =
            is_wiped_on_fork || CALL3(__NR_madvise, &home, sizeof home, MADV_WIPEONFORK) == 0;
        counts = is_wiped_on_fork && make_table();
        if (counts && !has_key)
            has_key = pthread_key_create(&key, leave_slot) == 0;
    }
    /* The one thread that a forked child has goes on in the slot that it had. */
    if (own)
        home.taken[own - table->slots] = 1;
    __atomic_store_n(&home.counts, counts, __ATOMIC_RELEASE);
    __atomic_store_n(&home.state, counts ? COUNTS : COUNTS_NOTHING, __ATOMIC_RELEASE);
    mode = before;
    errno = error;
}

/* ---- Counting. ---- */

static void raise_to(int64_t *peak, int64_t value)
{
    int64_t seen = GET(*peak);
    while (seen < value &&
           !__atomic_compare_exchange_n(peak, &seen, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static RARE void tell(struct slot *slot)
{
    int64_t change = GET(slot->untold), high = GET(slot->high);
    int64_t before = ADD_SHARED(table->header.live, change);
    raise_to(&table->header.peak, before + high);
    PUT(slot->untold, 0);
    PUT(slot->high, 0);
}

/* A thread ends. What it still does counts in a shared slot, so that it does not take another of its own. */
static void leave_slot(void *unused)
{
    (void)unused;
    struct slot *slot = own;
    own = quick = NULL;
    mode = 1;
    if (!slot || !home.counts)
        return;
    tell(slot);
    __atomic_store_n(&home.taken[slot - table->slots], 0, __ATOMIC_RELEASE);
}

static void find_slot(void)
{
    for (int i = 0; i < OWN_SLOTS; i++) {
        unsigned char is_free = 0;
        if (GET(home.taken[i]) || !__atomic_compare_exchange_n(&home.taken[i], &is_free, 1, 0, __ATOMIC_ACQUIRE,
                                                               __ATOMIC_RELAXED))
            continue;
        own = &table->slots[i];
        quick = size_before_block ? own : NULL;
        /* It may allocate, which counts: the thread has its slot. */
        if (has_key)
            pthread_setspecific(key, &home);
        return;
    }
    mode = 1 + (int)(ADD_SHARED(home.next_shared, 1) % SHARED_SLOTS);
}

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

/* The next allocator may do one of its functions by another, which comes back here: only the outer call is the program's. */
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

EXPORTED int assay_alloc_snapshot(struct assay_alloc_counts *counts)
{
    struct assay_alloc_counts sum = {0};
    /* A child that has not called an allocator yet counts from here. */
    if (home.state == FRESH)
        set_up();
    int counted = home.counts && !(table->header.flags & BYPASSED);
    if (counted) {
        int64_t high = 0, untold = 0;
        for (int i = 0; i < SLOTS; i++) {
            struct slot *slot = &table->slots[i];
            sum.allocations += GET(slot->allocations);
            sum.reallocs += GET(slot->reallocs);
            sum.frees += GET(slot->frees);
            sum.allocated_bytes += GET(slot->allocated);
            sum.freed_bytes += GET(slot->freed);
            untold += GET(slot->untold);
            if (GET(slot->high) > high)
                high = GET(slot->high);
        }
        int64_t told = GET(table->header.live);
        sum.live_bytes = told + untold;
        sum.peak_bytes = GET(table->header.peak);
        if (told + high > sum.peak_bytes)
            sum.peak_bytes = told + high;
        sum.knows_sizes = table->header.flags & KNOWS_SIZES;
    }
    *counts = sum;
    return counted;
}

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
