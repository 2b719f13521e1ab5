/*
 * Assigns counters: to the process, which creates its file at its first call, and to its threads,
 * each of which has a slot in it.
 *
 * Each process has one file. A forked child finds `home` zeroed by the kernel (MADV_WIPEONFORK),
 * however it was forked, and creates its own file at its first call; after an exec the library is
 * loaded anew. A child of vfork borrows its parent's memory, and its calls count there.
 *
 * Each thread has one slot, a cache line that it alone writes to. A thread that ends leaves its
 * counts in place, and its slot to the next thread. If there are more threads than slots, the late
 * ones share some.
 */
#define _GNU_SOURCE
#include <asm/unistd.h>
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../kernel.h"
#include "rooms.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

union home home __attribute__((aligned(LARGEST_PAGE)));
OF_THREAD struct slot *own;
OF_THREAD struct slot *quick;
OF_THREAD int mode;
/* In glibc before 2.34 these exist only in programs that have threads. */
#pragma weak pthread_key_create
#pragma weak pthread_setspecific
static pthread_key_t key;
static int has_key;
static int is_wiped_on_fork;

static void leave_slot(void *unused);

/* Runs once in each process, at its start or its first call of an allocator, while it has a
 * single thread. If the kernel does not support zeroing pages on fork, nothing is counted, since
 * a child would write to its parent's file. */
RARE void set_up(void)
{
    int fresh = FRESH;
    /* Before the environment exists, calls are the dynamic linker's, not the program's. */
    int is_known = find_directory();
    if (!is_known && !environ)
        return;
    if (!__atomic_compare_exchange_n(&home.state, &fresh, BUSY, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    int error = errno, before = mode, counts = 0;
    mode = QUIET;
    if (is_known && is_resolved()) {
        is_wiped_on_fork =
            is_wiped_on_fork || CALL3(__NR_madvise, &home, sizeof home, MADV_WIPEONFORK) == 0;
        counts = is_wiped_on_fork && make_table();
        if (counts && !has_key)
            has_key = pthread_key_create && pthread_key_create(&key, leave_slot) == 0;
    }
    /* The single thread of a forked child keeps its slot. */
    if (own)
        home.taken[own - table->slots] = 1;
    __atomic_store_n(&home.counts, counts, __ATOMIC_RELEASE);
    __atomic_store_n(&home.state, counts ? COUNTS : COUNTS_NOTHING, __ATOMIC_RELEASE);
    mode = before;
    errno = error;
}

void raise_to(int64_t *peak, int64_t value)
{
    int64_t seen = GET(*peak);
    while (seen < value &&
           !__atomic_compare_exchange_n(peak, &seen, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

RARE void tell(struct slot *slot)
{
    int64_t change = GET(slot->untold), high = GET(slot->high);
    int64_t before = ADD_SHARED(table->header.live, change);
    raise_to(&table->header.peak, before + high);
    PUT(slot->untold, 0);
    PUT(slot->high, 0);
}

/* Called when a thread ends. Later calls of the thread count in a shared slot, so that it does
 * not take another of its own. */
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

void find_slot(void)
{
    for (int i = 0; i < OWN_SLOTS; i++) {
        unsigned char is_free = 0;
        if (GET(home.taken[i]) || !__atomic_compare_exchange_n(&home.taken[i], &is_free, 1, 0, __ATOMIC_ACQUIRE,
                                                               __ATOMIC_RELAXED))
            continue;
        own = &table->slots[i];
        quick = size_before_block ? own : NULL;
        /* This may allocate, which is counted: the thread already has its slot. */
        if (has_key)
            pthread_setspecific(key, &home);
        return;
    }
    mode = 1 + (int)(ADD_SHARED(home.next_shared, 1) % SHARED_SLOTS);
}
