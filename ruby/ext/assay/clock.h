/*
 * The clock of the recorder, which counts ticks, and the length of a tick.
 */
#ifndef ASSAY_CLOCK_H
#define ASSAY_CLOCK_H

#include <stdint.h>
#include <time.h>
#if defined(__x86_64__) && defined(__linux__)
#include <x86intrin.h>
#define ASSAY_COUNTER 1
#endif

#pragma GCC visibility push(hidden)

static inline int64_t
clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * All times of the recorder are in ticks. If Linux itself uses the processor's time stamp counter
 * as clock source, ticks are that counter, read without the conversion to nanoseconds (which is
 * most of the cost of clock_gettime); otherwise they are nanoseconds of CLOCK_MONOTONIC.
 */
#ifdef ASSAY_COUNTER
extern int by_counter;

static inline int64_t
now(void)
{
    return by_counter ? (int64_t)__rdtsc() : clock_ns();
}
#else
#define by_counter 0
static inline int64_t now(void) { return clock_ns(); }
#endif

/* Must be called once, before the first `now`. */
void choose_clock(void);
/* Returns the nanoseconds per tick, from the advance of both clocks since choose_clock. */
double tick_length(void);

#pragma GCC visibility pop

#endif
