/*
 * The workload: a tiny static program that does a known amount of work, for testing a machine or a
 * tool.
 *
 *     workload spin N       a chain of N dependent steps; then it exits
 *     workload touch MIB    writes to every page of MIB of fresh memory; then it exits
 *
 * Determining how steady a machine is, or how small a difference an experiment on it can detect,
 * requires a program that does exactly the same each time and whose duration can be chosen. `spin`
 * uses only registers: no memory, no cache, no system call until it exits, so any variation is due
 * to the processor and the scheduler. `touch` makes the kernel provide one small page after the
 * other, with huge pages disabled: with pages of 4 KiB that is 256 page faults per MiB.
 *
 * It must not measure, print (except for wrong usage), or depend on a C library, whose start would
 * be most of a short run. The exit status is 0, 1 if there is not enough memory, or 2 for wrong
 * usage.
 */
#include <asm/unistd.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "kernel.h"

#if defined(__x86_64__)

/* The kernel places the number of arguments and their addresses at the start of the stack. */
__asm__(".text\n"
        ".globl _start\n"
        "_start:\n"
        "  xor %ebp, %ebp\n"
        "  mov %rsp, %rdi\n"
        "  and $-16, %rsp\n"
        "  call workload_main\n"
        "  hlt\n");

#elif defined(__aarch64__)

__asm__(".text\n"
        ".globl _start\n"
        "_start:\n"
        "  mov x29, xzr\n"
        "  mov x30, xzr\n"
        "  mov x0, sp\n"
        "  bl workload_main\n"
        "  brk #0\n");

#else
#error "the workload knows x86-64 and arm64: give it call6 and _start for this processor"
#endif

enum { WRONG_USE = 2, PAGE = 4096 };

static const char usage[] = "usage: workload spin N | workload touch MIB\n";

static __attribute__((noreturn)) void leave(int code)
{
    for (;;)
        call6(__NR_exit_group, code, 0, 0, 0, 0, 0);
}

static int same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* Parses a decimal number; returns 0 unless it is valid and below 2^60. */
static int read_number(const char *text, uint64_t *number)
{
    uint64_t n = 0;
    if (!*text)
        return 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || n >= (1ULL << 60) / 10 - 1)
            return 0;
        n = n * 10 + (uint64_t)(*text - '0');
    }
    *number = n;
    return 1;
}

/* Marsaglia's 64-bit xorshift: six dependent instructions, and a state that never becomes 0. The
 * exit status is derived from it, so that no compiler may omit the work. */
static int spin(uint64_t steps)
{
    uint64_t x = 88172645463325252ULL;
    while (steps--) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x == 0;
}

static int touch(uint64_t mib)
{
    uint64_t bytes = mib << 20;
    if (bytes >> 20 != mib)
        return 1;
    if (!bytes)
        return 0;
    long at = call6(__NR_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                    -1, 0);
    if (at < 0 && at > -4096)
        return 1;
    /* A kernel without huge pages returns an error, which can be ignored. */
    call6(__NR_madvise, at, (long)bytes, MADV_NOHUGEPAGE, 0, 0, 0);
    volatile char *memory = (volatile char *)at;
    for (uint64_t i = 0; i < bytes; i += PAGE)
        memory[i] = 1;
    return 0;
}

__attribute__((used, noreturn)) void workload_main(const long *stack)
{
    const char *const *argument = (const char *const *)(stack + 1);
    uint64_t number;
    if (stack[0] == 3 && read_number(argument[2], &number)) {
        if (same(argument[1], "spin"))
            leave(spin(number));
        if (same(argument[1], "touch"))
            leave(touch(number));
    }
    call6(__NR_write, 2, (long)usage, sizeof usage - 1, 0, 0, 0);
    leave(WRONG_USE);
}
