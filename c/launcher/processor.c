/*
 * Processor-specific code: program start, a child on its own stack, and the return from a signal
 * handler. Also memset and memcpy, calls of which compilers may generate from loops even without a
 * C library.
 */
#include <stddef.h>

#if defined(__x86_64__)

/* spawn(flags, stack_top, parent_tid, entry): the child calls entry() and never returns. */
__asm__(".text\n"
        ".globl spawn\n"
        "spawn:\n"
        "  mov %rcx, %r9\n"
        "  mov $56, %eax\n" /* clone */
        "  xor %r10d, %r10d\n"
        "  xor %r8d, %r8d\n"
        "  syscall\n"
        "  test %rax, %rax\n"
        "  jnz 1f\n"
        "  xor %ebp, %ebp\n"
        "  call *%r9\n"
        "  hlt\n"
        "1: ret\n"
        ".globl _start\n"
        "_start:\n"
        "  xor %ebp, %ebp\n"
        "  and $-16, %rsp\n"
        "  call launcher_main\n"
        "  hlt\n"
        ".globl signal_return\n"
        "signal_return:\n"
        "  mov $15, %eax\n" /* rt_sigreturn */
        "  syscall\n");

#elif defined(__aarch64__)

__asm__(".text\n"
        ".globl spawn\n"
        "spawn:\n"
        "  mov x9, x3\n"
        "  mov x3, xzr\n"
        "  mov x4, xzr\n"
        "  mov x8, #220\n" /* clone */
        "  svc 0\n"
        "  cbnz x0, 1f\n"
        "  mov x29, xzr\n"
        "  blr x9\n"
        "  brk #0\n"
        "1: ret\n"
        ".globl _start\n"
        "_start:\n"
        "  mov x29, xzr\n"
        "  mov x30, xzr\n"
        "  bl launcher_main\n"
        "  brk #0\n");

#else
#error "the launcher knows x86-64 and arm64: give it call6, spawn and _start for this processor"
#endif

void *memset(void *to, int value, size_t n)
{
    volatile unsigned char *p = to;
    while (n--)
        *p++ = (unsigned char)value;
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    volatile unsigned char *p = to;
    const unsigned char *q = from;
    while (n--)
        *p++ = *q++;
    return to;
}
