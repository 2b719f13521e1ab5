/*
 * Lets a program read its own allocation counts while assay counts them (`assay run --alloc`).
 *
 * To count a region, take a snapshot before and after it, and subtract:
 *
 *     struct assay_alloc_counts before, after;
 *     if (assay_alloc_snapshot && assay_alloc_snapshot(&before)) {
 *         work();
 *         assay_alloc_snapshot(&after);
 *         ... after.allocations - before.allocations ...
 *     }
 *
 * The function exists only in the library preloaded by assay, so the reference is weak: without
 * counting it is NULL, and nothing has to be linked. From other languages, look up
 * `assay_alloc_snapshot` globally in the process (dlsym, ctypes, Fiddle).
 *
 * Counts cover the whole process with all its threads; threads that run during the call may be a
 * few calls ahead.
 */
#ifndef ASSAY_ALLOC_H
#define ASSAY_ALLOC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct assay_alloc_counts {
    /* Calls that returned a new block: malloc, calloc, realloc(NULL, n), and the aligned
     * variants. */
    uint64_t allocations;
    /* Calls of realloc and reallocarray that changed the size of a block, moved or not. */
    uint64_t reallocs;
    /* Calls that freed a block: free of anything but NULL, and realloc(p, 0) if it does the
     * same. */
    uint64_t frees;
    /* Bytes requested by all successful calls of the above kinds; a realloc counts with its
     * whole new size. */
    uint64_t allocated_bytes;
    /* Usable bytes (malloc_usable_size, at least the size requested) of freed blocks; a realloc
     * counts with its whole old size. */
    uint64_t freed_bytes;
    /* Usable bytes that the process has now, and their maximum. A forked child begins at 0, and
     * falls below it when it frees inherited blocks. */
    int64_t live_bytes;
    int64_t peak_bytes;
    /* 1 if the sizes of blocks can be queried; if 0, the last three are 0 and meaningless. */
    uint64_t knows_sizes;
};

/* Fills in the counts and returns 1; returns 0, with all counts 0, if the process is not
 * counted. */
#ifndef ASSAY_ALLOC_OWN
__attribute__((weak))
#endif
extern int assay_alloc_snapshot(struct assay_alloc_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
