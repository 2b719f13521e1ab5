/*
 * The unwinder of a program that never unwinds: a panic aborts it, and it contains no unwind
 * tables. Rust's standard library requires an unwinder nevertheless, for backtraces, and without
 * this file a start would first load and initialize libgcc_s. Backtraces are empty; the other
 * functions are never called.
 */
#include <stdint.h>

struct context;
struct exception;

enum { END_OF_STACK = 5 };

int _Unwind_Backtrace(int (*each)(struct context *, void *), void *with)
{
    (void)each;
    (void)with;
    return END_OF_STACK;
}

void _Unwind_Resume(struct exception *thrown)
{
    (void)thrown;
    __builtin_trap();
}

void *_Unwind_FindEnclosingFunction(void *place)
{
    (void)place;
    return 0;
}

#define NOTHING_OF(question)              \
    uintptr_t question(struct context *c) \
    {                                     \
        (void)c;                          \
        return 0;                         \
    }

NOTHING_OF(_Unwind_GetCFA)
NOTHING_OF(_Unwind_GetDataRelBase)
NOTHING_OF(_Unwind_GetTextRelBase)
NOTHING_OF(_Unwind_GetIP)
NOTHING_OF(_Unwind_GetRegionStart)
NOTHING_OF(_Unwind_GetLanguageSpecificData)

uintptr_t _Unwind_GetIPInfo(struct context *c, int *before)
{
    (void)c;
    *before = 0;
    return 0;
}

void _Unwind_SetGR(struct context *c, int which, uintptr_t value)
{
    (void)c;
    (void)which;
    (void)value;
}

void _Unwind_SetIP(struct context *c, uintptr_t value)
{
    (void)c;
    (void)value;
}
