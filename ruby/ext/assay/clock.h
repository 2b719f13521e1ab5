/*
 * The clock of the recorder: ticks, and how long one is.
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
 * All times of the recorder are ticks. Where Linux itself keeps time by the processor's time stamp counter, that is the counter,
 * read without the arithmetic that makes nanoseconds of it (which is most of what clock_gettime costs); elsewhere ticks are
 * nanoseconds of CLOCK_MONOTONIC.
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

/* Call it once, before the first `now`. */
void choose_clock(void);
/* Nanoseconds in a tick, from what both clocks advanced since choose_clock. */
double tick_length(void);

#pragma GCC visibility pop

#endif
