/*
 * One run: the launcher applies the settings that the child inherits, starts it, waits for its end
 * or forces it, and ensures that no process is left behind.
 *
 * Between the two clock readings there is only what a start needs: clone, and in the child setpgid,
 * prctl and execve. Descriptors 0, 1, 2 and 7, the directory, the environment, the processors, the
 * layout of the address space and the timer are prepared beforehand in the launcher itself, and
 * inherited by the child. Only a requested priority costs the child a system call of its own.
 */
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "rooms.h"
#include "system.h"

static int moved; /* the current directory is not the initial one */

static const struct subject *in_flight;
static volatile int child_error; /* errno of the step that failed before exec */
static volatile uint32_t child_step;
static char child_stack[4096] __attribute__((aligned(16)));

static const char pad_name[] = "ASSAY_PAD=";
enum { PAD_NAME = sizeof pad_name - 1 };
static char pad[PAD_NAME + MOST_PADDING + 1];

/* All of the padding is written at the start, so that no run touches one of its pages for the
 * first time. */
void arrange_padding(void)
{
    for (size_t i = 0; i < sizeof pad - 1; i++)
        pad[i] = 'x';
}

/* The request often arrives before assay, which sent it, has gone back to sleep on the same
 * processor. A command started then shares the processor for a moment, and the scheduler moves
 * one of the two while the command is being loaded: that made /bin/true 6 % longer in six runs
 * of ten, and tripled the spread of its times. Yielding lets assay finish; if assay is on
 * another processor, it costs nothing. */
static void let_assay_sleep(void)
{
    for (int i = 0; i < 3; i++)
        CALL0(__NR_sched_yield);
}

/* Runs on child_stack in the memory of the launcher, which sleeps until exec or exit. */
static void child(void)
{
    CALL2(__NR_setpgid, 0, 0);
    CALL5(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    long error = 0;
    child_step = STEP_FIFO;
    if (child_fifo)
        error = CALL2(__NR_sched_setparam, 0, &child_fifo);
    if (error >= 0 && in_flight->settings & NICE) {
        child_step = STEP_NICE;
        error = CALL3(__NR_setpriority, PRIO_PROCESS, 0, in_flight->nice);
    }
    if (error >= 0) {
        child_step = STEP_EXEC;
        error = CALL3(__NR_execve, in_flight->path, in_flight->arguments, in_flight->environment);
    }
    child_error = (int)-error;
    leave(127);
}

static long open_as(const char *path, int flags, int fd)
{
    long opened = CALL4(__NR_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOCTTY, 0666);
    if (opened < 0)
        return opened;
    long result = CALL3(__NR_dup3, opened, fd, 0);
    CALL1(__NR_close, opened);
    return result;
}

/* Sets the launcher's own directory, descriptors 0, 1, 2 and 7, processors and layout to those
 * that the child inherits. */
static int apply_settings(const struct subject *s, const struct request *request, struct reply *reply)
{
    long result;
    int given = GIVEN_1;
    if (moved) {
        CALL1(__NR_fchdir, HOME);
        moved = 0;
    }
    if (s->directory[0]) {
        if ((result = CALL1(__NR_chdir, s->directory)) < 0)
            return fail(reply, STEP_CHDIR, result);
        moved = 1;
    }
    if (s->input[0] && (result = open_as(s->input, O_RDONLY, 0)) < 0)
        return fail(reply, STEP_STDIN, result);
    if (request->flags & REQUEST_STDOUT)
        CALL3(__NR_dup3, given++, 1, 0);
    else if (s->output == OUTPUT_INHERIT)
        CALL3(__NR_dup3, OUR_STDOUT, 1, 0);
    else if (s->output == OUTPUT_FILE &&
             (result = open_as(s->output_file, O_WRONLY | O_CREAT | O_TRUNC, 1)) < 0)
        return fail(reply, STEP_STDOUT, result);
    if (request->flags & REQUEST_STDERR)
        CALL3(__NR_dup3, given++, 2, 0);
    else if (s->output == OUTPUT_INHERIT)
        CALL3(__NR_dup3, OUR_STDERR, 2, 0);
    if (request->flags & REQUEST_SAMPLES)
        CALL3(__NR_dup3, given, SAMPLES, 0);
    if (s->settings & PIN && (result = pin(s)) < 0)
        return fail(reply, STEP_PIN, result);
    if (s->settings & NO_ASLR && (result = fix_layout()) < 0)
        return fail(reply, STEP_ASLR, result);
    return 1;
}

static void restore_settings(const struct subject *s, const struct request *request, int given,
                    struct reply *reply)
{
    give_back(reply);
    if (s->input[0])
        CALL3(__NR_dup3, NOTHING, 0, 0);
    if (s->output != OUTPUT_NULL || (request->flags & REQUEST_STDOUT))
        CALL3(__NR_dup3, NOTHING, 1, 0);
    if (s->output == OUTPUT_INHERIT || (request->flags & REQUEST_STDERR))
        CALL3(__NR_dup3, NOTHING, 2, 0);
    /* Note: every other process must close the descriptors of a run, since its readers wait for
     * their end. */
    if (request->flags & REQUEST_SAMPLES)
        CALL1(__NR_close, SAMPLES);
    for (int i = 0; i < given; i++)
        CALL1(__NR_close, GIVEN_1 + i);
}

static void set_alarm(int64_t first_ns)
{
    /* Repeats, so that an alarm between two waits is not lost. */
    struct itimerval timer = { { 0, first_ns ? 20000 : 0 },
                               { first_ns / 1000000000, first_ns / 1000 % 1000000 } };
    if (first_ns && !timer.it_value.tv_sec && !timer.it_value.tv_usec)
        timer.it_value.tv_usec = 1;
    CALL3(__NR_setitimer, ITIMER_REAL, &timer, NULL);
}

/* Waits for the child's end, and forces it if its time is up or it tries to use the terminal. */
static void await(int pid, int64_t timeout, struct rusage *usage, struct reply *reply)
{
    const int64_t grace = 1000000000;
    const int64_t most_stopped = 5000000000; /* a process that stopped itself is rarely continued */
    int64_t stopped_at = 0;
    int status = 0;
    int asked = 0;
    for (;;) {
        long result = CALL4(__NR_wait4, pid, &status, WUNTRACED | WCONTINUED, usage);
        reply->end_ns = (uint64_t)now_ns();
        int64_t elapsed = (int64_t)(reply->end_ns - reply->start_ns);
        if (result == pid) {
            if (WIFCONTINUED(status)) {
                stopped_at = 0;
                continue;
            }
            if (!WIFSTOPPED(status))
                break;
            stopped_at = (int64_t)reply->end_ns;
            if (!timeout)
                set_alarm(most_stopped);
            if (WSTOPSIG(status) == SIGTTIN || WSTOPSIG(status) == SIGTTOU) {
                reply->flags |= WANTED_TERMINAL;
                kill_group(pid, SIGKILL);
            }
            continue;
        }
        if (result != -EINTR) {
            fail(reply, STEP_WAIT, result);
            kill_group(pid, SIGKILL);
            break;
        }
        if (stopped_at && (int64_t)reply->end_ns - stopped_at >= most_stopped) {
            reply->flags |= STOPPED;
            kill_group(pid, SIGKILL);
            continue;
        }
        if (timeout && !asked && elapsed >= timeout) {
            asked = 1;
            reply->flags |= TIMED_OUT;
            kill_group(pid, SIGTERM);
            kill_group(pid, SIGCONT); /* a stopped process receives no other signal */
        } else if (asked && elapsed >= timeout + grace) {
            kill_group(pid, SIGKILL);
        }
    }
    reply->status = status;
}

/* Kills processes that the command left running in its group. They have 10 ms to exit, or to
 * move into a session of their own as daemons do. */
static void clear_group(int group, struct reply *reply)
{
    if (kill_group(group, 0) == -ESRCH)
        return;
    for (int i = 0; i < 20; i++) {
        nap_us(500);
        if (kill_group(group, 0) == -ESRCH)
            return;
    }
    reply->flags |= LEFT_BEHIND;
    kill_group(group, SIGKILL);
    for (int i = 0; i < 50 && kill_group(group, 0) != -ESRCH; i++)
        nap_us(200);
}

/* Starts the child, with all settings applied, and waits for its end. */
static void start(int64_t timeout, struct rusage *usage, struct reply *reply)
{
    reply->start_ns = (uint64_t)now_ns();
    long pid = spawn(CLONE_VM | CLONE_VFORK | CLONE_PARENT_SETTID | SIGCHLD,
                     child_stack + sizeof child_stack, &page->group, child);
    if (pid < 0) {
        fail(reply, STEP_SPAWN, pid);
    } else {
        await((int)pid, timeout, usage, reply);
        if (child_error)
            fail(reply, child_step, -child_error);
        else
            clear_group((int)pid, reply);
        clear_strays(usage, reply);
    }
    page->group = 0;
}

void run(const struct request *request, int given, struct reply *reply)
{
    struct rusage usage = { 0 };
    long result;
    const struct subject *s = subject_of(request->subject);
    if (!s || request->padding > MOST_PADDING) {
        fail(reply, STEP_REQUEST, -EINVAL);
        for (int i = 0; i < given; i++)
            CALL1(__NR_close, GIVEN_1 + i);
        return;
    }
    int64_t timeout = (int64_t)request->timeout_ns;
    char *padding = pad + MOST_PADDING - request->padding;
    memcpy(padding, pad_name, PAD_NAME);
    s->environment[s->variables] = padding;
    in_flight = s;
    child_error = 0;
    if (apply_settings(s, request, reply)) {
        if (timeout)
            set_alarm(timeout);
        take_in_orphans((request->flags & REQUEST_ALONE) != 0);
        let_assay_sleep();
        /* Done last, since at this priority yielding to assay is no longer possible. */
        if (s->settings & FIFO && (result = take_priority(s)) < 0)
            fail(reply, STEP_FIFO, result);
        else
            start(timeout, &usage, reply);
        set_alarm(0);
        reply->user_us = (uint64_t)usage.ru_utime.tv_sec * 1000000 + (uint64_t)usage.ru_utime.tv_usec;
        reply->system_us =
            (uint64_t)usage.ru_stime.tv_sec * 1000000 + (uint64_t)usage.ru_stime.tv_usec;
        reply->max_rss_kib = (uint64_t)usage.ru_maxrss;
        reply->minor_faults = (uint64_t)usage.ru_minflt;
        reply->major_faults = (uint64_t)usage.ru_majflt;
        reply->block_in = (uint64_t)usage.ru_inblock;
        reply->block_out = (uint64_t)usage.ru_oublock;
        reply->voluntary = (uint64_t)usage.ru_nvcsw;
        reply->involuntary = (uint64_t)usage.ru_nivcsw;
    }
    restore_settings(s, request, given, reply);
    for (size_t i = 0; i < PAD_NAME; i++)
        padding[i] = 'x';
}
