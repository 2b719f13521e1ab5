/*
 * System functions used by all parts of the launcher: the clock, memory, exiting. Small enough to
 * be compiled into each of them. Code specific to one part (descriptors, signals, settings) is not
 * here.
 */
#ifndef ASSAY_LAUNCHER_SYSTEM_H
#define ASSAY_LAUNCHER_SYSTEM_H

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

#include "../kernel.h"

static inline __attribute__((noreturn)) void leave(int code)
{
    for (;;)
        CALL1(__NR_exit_group, code);
}

static inline int64_t now_ns(void)
{
    struct timespec t;
    CALL2(__NR_clock_gettime, CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void nap_us(long us)
{
    struct timespec t = { 0, us * 1000 };
    CALL2(__NR_nanosleep, &t, NULL);
}

static inline long kill_group(int group, int sig)
{
    return CALL2(__NR_kill, -group, sig);
}

static inline void *memory(size_t bytes)
{
    long at = CALL6(__NR_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                    0);
    return at < 0 && at > -4096 ? NULL : (void *)at;
}

#endif
