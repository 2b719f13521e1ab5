/*
 * Lets the program read its own current counts (see `assay_alloc.h` for their meaning). It only
 * reads.
 */
#define ASSAY_ALLOC_OWN
#include "../assay_alloc.h"
#include "rooms.h"

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
