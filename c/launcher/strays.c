/*
 * Processes that a command left behind in another group or session: orphans become children of the
 * launcher for the duration of a run, and are killed. Processes left behind by hooks, such as a
 * server, are not affected.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "rooms.h"
#include "system.h"

#ifndef __WALL
#define __WALL 0x40000000
#endif

enum { PATIENCE = 20, TRIES = 100 };

static int takes_in;

/* Enables or disables the adoption of orphans of subsequently started processes. */
void take_in_orphans(int yes)
{
    if (takes_in == yes)
        return;
    CALL5(__NR_prctl, PR_SET_CHILD_SUBREAPER, yes, 0, 0, 0);
    takes_in = yes;
}

/* Uses the kernel's list of children, if it provides one. */
static void kill_children(void)
{
    static char list[4096];
    long fd = CALL4(__NR_openat, AT_FDCWD, "/proc/thread-self/children", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    long n = CALL3(__NR_read, fd, list, sizeof list);
    CALL1(__NR_close, fd);
    int pid = 0;
    for (long i = 0; i < n; i++) {
        if (list[i] >= '0' && list[i] <= '9') {
            pid = pid * 10 + (list[i] - '0');
            continue;
        }
        if (pid > 1)
            CALL2(__NR_kill, pid, SIGKILL);
        pid = 0;
    }
}

static void add_time(struct timeval *sum, const struct timeval *own)
{
    sum->tv_sec += own->tv_sec;
    sum->tv_usec += own->tv_usec;
    if (sum->tv_usec >= 1000000) {
        sum->tv_sec++;
        sum->tv_usec -= 1000000;
    }
}

/* Kills those still running after 10 ms, and their children, which are adopted in turn. Their
 * CPU time is added to the command's: if a command is told to end, it often ends before the
 * processes it waits for. */
void clear_strays(struct rusage *usage, struct reply *reply)
{
    if (!takes_in)
        return;
    for (int i = 0; i < TRIES; i++) {
        long result;
        struct rusage own = { 0 };
        while ((result = CALL4(__NR_wait4, -1, NULL, WNOHANG | __WALL, &own)) > 0) {
            add_time(&usage->ru_utime, &own.ru_utime);
            add_time(&usage->ru_stime, &own.ru_stime);
        }
        if (result < 0)
            return;
        if (i >= PATIENCE) {
            reply->flags |= LEFT_BEHIND;
            kill_children();
        }
        nap_us(500);
    }
}

/*
 * Called when assay is gone: ends the processes it started. A process with children of its own,
 * such as an assay run by assay, leaves them to the launcher when it dies, which takes a moment;
 * they have 10 ms to exit, as the guard of such an assay does after restoring settings.
 */
void end_strays(void)
{
    if (!takes_in)
        return;
    for (int i = 0; i < TRIES; i++) {
        long result;
        while ((result = CALL4(__NR_wait4, -1, NULL, WNOHANG | __WALL, NULL)) > 0)
            ;
        if (result < 0)
            return;
        if (i >= PATIENCE)
            kill_children();
        nap_us(500);
    }
}
