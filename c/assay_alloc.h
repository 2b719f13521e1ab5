/*
 * What a program can learn of its own allocations while assay counts them (`assay run --alloc`).
 *
 * A harness that wants the count of a region takes a snapshot before and one after, and subtracts:
 *
 *     struct assay_alloc_counts before, after;
 *     if (assay_alloc_snapshot && assay_alloc_snapshot(&before)) {
 *         work();
 *         assay_alloc_snapshot(&after);
 *         ... after.allocations - before.allocations ...
 *     }
 *
 * The function is in the library that assay preloads and nowhere else, so the reference is weak: in a run that is not counted it is
 * NULL, and nothing has to be linked. From other languages: look up `assay_alloc_snapshot` in the whole process (dlsym, ctypes, Fiddle).
 *
 * Counts are of the whole process, all threads together; threads that are at work during the call may be a few calls ahead.
 */
#ifndef ASSAY_ALLOC_H
#define ASSAY_ALLOC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct assay_alloc_counts {
    /* Calls that gave a new block: malloc, calloc, realloc(NULL, n), and the aligned ones. */
    uint64_t allocations;
    /* Calls of realloc and reallocarray that gave a block another size, moved or not. */
    uint64_t reallocs;
    /* Calls that gave a block back: free of anything but NULL, and realloc(p, 0) where it does the same. */
    uint64_t frees;
    /* Bytes as asked for, by every call above that gave memory; a realloc counts with its whole new size. */
    uint64_t allocated_bytes;
    /* Usable bytes (malloc_usable_size, at least what was asked for) of blocks given back; a realloc counts with its whole old size. */
    uint64_t freed_bytes;
    /* Usable bytes that the process has now, and the most it has had. A forked child begins at 0, and falls below it when it frees
     * what it inherited. */
    int64_t live_bytes;
    int64_t peak_bytes;
    /* 1 when the sizes of blocks can be asked for; 0: the last three are 0 and mean nothing. */
    uint64_t knows_sizes;
};

/* Fills in the counts and returns 1; returns 0, with everything 0, in a process that is not counted. */
#ifndef ASSAY_ALLOC_OWN
__attribute__((weak))
#endif
extern int assay_alloc_snapshot(struct assay_alloc_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
