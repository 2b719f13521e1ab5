/*
 * Layout of the mapped file with the counts of one process. The reader is
 * `crates/measure/src/allocations/record.rs`; changes of a struct here require changing it and
 * VERSION. Also contains the macros for accessing a counter that is read concurrently.
 */
#ifndef ASSAY_ALLOC_TABLE_H
#define ASSAY_ALLOC_TABLE_H

#include <stdint.h>

#define GET(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define PUT(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)
#define ADD_SHARED(place, value) __atomic_fetch_add(&(place), (value), __ATOMIC_RELAXED)

/* A counter has a single writer, so load and store need not be atomic together; but concurrent
 * readers must not see a torn value. Compilers emit three instructions where one suffices. */
#if defined(__x86_64__)
#define ADD(place, value) __asm__("addq %1, %0" : "+m"(place) : "er"((uint64_t)(value)) : "cc")
#else
#define ADD(place, value) PUT(place, GET(place) + (value))
#endif

enum {
    VERSION = 1,
    FILE_BYTES = 8192,
    HEADER_BYTES = 1024,
    SLOTS = (FILE_BYTES - HEADER_BYTES) / 64,
    SHARED_SLOTS = 8,
    OWN_SLOTS = SLOTS - SHARED_SLOTS,
};

enum { KNOWS_SIZES = 1, BYPASSED = 2 };

struct header {
    char magic[8];
    uint32_t version;
    /* KNOWS_SIZES, or BYPASSED if calls of malloc in this process do not arrive here. */
    uint32_t flags;
    uint32_t pid, ppid;
    uint32_t header_bytes, slot_bytes, slots;
    uint32_t path_bytes;
    uint64_t started_ns;
    /* Live bytes as reported by the threads, and their maximum. */
    int64_t live, peak;
    /* Path of the program, possibly truncated. */
    char path[HEADER_BYTES - 64];
};

struct slot {
    uint64_t allocations, allocated, frees, freed, reallocs;
    /* The unreported change of live bytes, and its maximum. */
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

#endif
