/*
 * System calls for programs without a C library: one call with up to six arguments, on x86-64 and
 * arm64. The result is the kernel's: a negative errno on failure. Code specific to one program (its
 * start, the creation of children) is not here.
 */
#ifndef ASSAY_KERNEL_H
#define ASSAY_KERNEL_H

#if defined(__x86_64__)

static inline long call6(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#elif defined(__aarch64__)

static inline long call6(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

#else
#error "x86-64 and arm64 are known: give this processor a call6, and each program its _start"
#endif

/* Variants by number of arguments, which may have any type. */
#define CALL0(n) call6(n, 0, 0, 0, 0, 0, 0)
#define CALL1(n, a) call6(n, (long)(a), 0, 0, 0, 0, 0)
#define CALL2(n, a, b) call6(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define CALL3(n, a, b, c) call6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define CALL4(n, a, b, c, d) call6(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define CALL5(n, a, b, c, d, e) call6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define CALL6(n, a, b, c, d, e, f) \
    call6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

#endif
