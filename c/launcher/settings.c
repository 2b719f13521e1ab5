/*
 * Settings of a subject's processes (processors, layout of the address space, priority): applied to
 * the launcher itself before a run, inherited by the child, and restored afterwards. The request
 * selects them.
 */
#include <sched.h>
#include <sys/personality.h>

#include "rooms.h"
#include "system.h"

enum { OWN_WORDS = 128 }; /* 8192 processors, the most that Linux knows */

int child_fifo;
static uint32_t replaced; /* settings that currently differ from own */

/* The launcher's own settings, restored after the run. */
static struct {
    long cpus_bytes;
    uint64_t cpus[OWN_WORDS];
    int policy, priority, personality;
} own;

static int same_cpus(const uint64_t *full, long bytes, const uint64_t *wanted)
{
    for (int i = 0; i < OWN_WORDS; i++)
        if ((i < bytes / 8 ? full[i] : 0) != (i < PIN_WORDS ? wanted[i] : 0))
            return 0;
    return 1;
}

long pin(const struct subject *s)
{
    static uint64_t now[OWN_WORDS]; /* static, since on the stack it would cost every launcher a page */
    long result = CALL3(__NR_sched_getaffinity, 0, sizeof own.cpus, own.cpus);
    if (result < 0)
        return result;
    own.cpus_bytes = result;
    if (same_cpus(own.cpus, own.cpus_bytes, s->cpus))
        return 0;
    result = CALL3(__NR_sched_setaffinity, 0, PIN_WORDS * sizeof *s->cpus, s->cpus);
    if (result < 0)
        return result;
    replaced |= PIN;
    /* The kernel silently omits processors that do not exist. */
    result = CALL3(__NR_sched_getaffinity, 0, sizeof now, now);
    if (result < 0)
        return result;
    return same_cpus(now, result, s->cpus) ? 0 : -EINVAL;
}

long fix_layout(void)
{
    own.personality = (int)CALL1(__NR_personality, 0xffffffffUL);
    if (own.personality & ADDR_NO_RANDOMIZE)
        return 0;
    long result = CALL1(__NR_personality, (unsigned)own.personality | ADDR_NO_RANDOMIZE);
    if (result >= 0)
        replaced |= NO_ASLR;
    return result;
}

static long set_scheduler(int policy, int priority)
{
    return CALL3(__NR_sched_setscheduler, 0, policy, &priority); /* sched_param is one integer */
}

/* The launcher stays one level above the child, so that a child that never sleeps can still be
 * killed from the same processor, if its time is up or assay is gone. The child lowers itself
 * before its exec. If no higher level is available (99, or a limit), both have the same. */
long take_priority(const struct subject *s)
{
    own.policy = (int)CALL1(__NR_sched_getscheduler, 0);
    CALL2(__NR_sched_getparam, 0, &own.priority);
    child_fifo = 0;
    long result = -EPERM;
    if (s->fifo < 99 && (result = set_scheduler(SCHED_FIFO, s->fifo + 1)) >= 0)
        child_fifo = s->fifo;
    if (result == -EPERM)
        result = set_scheduler(SCHED_FIFO, s->fifo);
    if (result >= 0)
        replaced |= FIFO;
    return result;
}

/* Restores the launcher's own settings. A setting that cannot be restored fails the run, since
 * it would affect the next one. */
void give_back(struct reply *reply)
{
    long result;
    child_fifo = 0;
    if (replaced & FIFO && (result = set_scheduler(own.policy, own.priority)) < 0)
        reply->step = STEP_FIFO, reply->error = (int)-result;
    if (replaced & NO_ASLR && (result = CALL1(__NR_personality, own.personality)) < 0)
        reply->step = STEP_ASLR, reply->error = (int)-result;
    if (replaced & PIN &&
        (result = CALL3(__NR_sched_setaffinity, 0, own.cpus_bytes, own.cpus)) < 0)
        reply->step = STEP_PIN, reply->error = (int)-result;
    replaced = 0;
}
