/*
 * The file of one process's counts, as it is mapped: the reader is `crates/measure/src/allocations/record.rs`, and whoever changes a
 * struct here changes that, and VERSION. And the ways to touch a counter, which others read meanwhile.
 */
#ifndef ASSAY_ALLOC_TABLE_H
#define ASSAY_ALLOC_TABLE_H

#include <stdint.h>

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

#endif
