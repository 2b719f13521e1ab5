/*
 * The launcher: a tiny resident program that starts one command at a time, times it and reaps it.
 *
 * Why it exists. On Linux the peak memory that the kernel reports for a child begins at the
 * resident size of the process that spawned it, and the cost of starting a child depends on its
 * spawner too. So the measuring is done from a process that is as small as a process can be: no C
 * library, no heap, a few pages in all. It is embedded in `assay`, started once and kept.
 *
 * What it must not do: decide anything. It obeys requests (see `wire.rs`, the other half of the
 * protocol), reports numbers, and never leaves a process behind, not even when `assay` is killed.
 *
 * Between the two readings of the clock there is only what a start needs: clone, and in the child
 * setpgid, prctl and execve. Descriptors 0, 1, 2 and 7, the directory, the environment, the
 * processors, the address space's layout and the timer are made ready before in the launcher
 * itself, and the child inherits them as they are. Signals need no resetting: the launcher ignores
 * by empty handlers, which exec turns into defaults. Only a priority that is asked for costs the
 * child a system call of its own.
 *
 * The same program, started once more, is the guard: it remembers the values of files that assay
 * changes, and writes them back when assay ends, however that comes about; and it kills the group
 * that assay has written into the page, in which a sampler and its program are. Such a guard runs
 * no commands.
 */
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "kernel.h"

#ifndef __NR_close_range
#define __NR_close_range 436
#endif

/* ---- What differs by processor: the start of this program, and of a child on its own stack. ---- */

#if defined(__x86_64__)

/* spawn(flags, stack_top, parent_tid, entry): the child calls entry() and never comes back. */
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
#define KERNEL_SA_RESTORER 0x04000000UL
void signal_return(void);

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
#define KERNEL_SA_RESTORER 0UL
static void (*const signal_return)(void) = NULL;

#else
#error "the launcher knows x86-64 and arm64: give it call6, spawn and _start for this processor"
#endif

long spawn(unsigned long flags, void *stack_top, volatile int *parent_tid, void (*entry)(void));

#define CALL0(n) call6(n, 0, 0, 0, 0, 0, 0)
#define CALL1(n, a) call6(n, (long)(a), 0, 0, 0, 0, 0)
#define CALL2(n, a, b) call6(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define CALL3(n, a, b, c) call6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define CALL4(n, a, b, c, d) call6(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define CALL5(n, a, b, c, d, e) call6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define CALL6(n, a, b, c, d, e, f) \
    call6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* The compiler may turn loops into calls of these two even without a C library. */
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

static __attribute__((noreturn)) void leave(int code)
{
    for (;;)
        CALL1(__NR_exit_group, code);
}

/* ---- The protocol: native byte order, for both ends are one program. See wire.rs. ---- */

enum { HELLO = 1, ADD = 2, RUN = 3, REMEMBER = 4 };
/* The descriptors that came along, in this order. */
enum { REQUEST_STDOUT = 1, REQUEST_STDERR = 2, REQUEST_SAMPLES = 4 };
enum { OUTPUT_NULL = 0, OUTPUT_INHERIT = 1, OUTPUT_PIPE = 2, OUTPUT_FILE = 3 };
enum { STEP_NONE, STEP_REQUEST, STEP_MEMORY, STEP_STDIN, STEP_STDOUT, STEP_STDERR, STEP_CHDIR,
       STEP_SPAWN, STEP_EXEC, STEP_WAIT, STEP_PIN, STEP_FIFO, STEP_NICE, STEP_ASLR };
enum { PIN = 1, FIFO = 2, NICE = 4, NO_ASLR = 8 }; /* what is set for a subject's processes */
enum { PIN_WORDS = 16 };                           /* 1024 processors */
enum { TIMED_OUT = 1, WANTED_TERMINAL = 2, LEFT_BEHIND = 4 };

struct request {
    uint32_t kind;
    uint32_t subject;
    uint64_t payload;    /* bytes that follow: only for ADD and REMEMBER */
    uint64_t timeout_ns; /* 0: none */
    uint32_t padding;    /* length of ASSAY_PAD's value */
    uint32_t flags;
};

/* The payload of ADD begins with this; then, each ended by a zero byte: path, directory, stdin,
 * stdout file, the arguments, the environment. An empty string means "not given". */
struct subject_header {
    uint32_t arguments;
    uint32_t variables;
    uint32_t output;
    uint32_t settings;
    int32_t fifo;
    int32_t nice;
    uint64_t cpus[PIN_WORDS];
};

struct reply {
    uint32_t step; /* what failed, or STEP_NONE */
    int32_t error; /* its errno */
    int32_t status;
    uint32_t flags;
    uint64_t start_ns, end_ns;
    uint64_t user_us, system_us;
    uint64_t max_rss_kib;
    uint64_t minor_faults, major_faults;
    uint64_t block_in, block_out;
    uint64_t voluntary, involuntary;
};

/* Shared with `assay`, which kills this group should the launcher be killed. */
struct page {
    volatile int32_t group;
};

struct subject {
    const char *path, *directory, *input, *output_file;
    char **arguments;
    char **environment;
    uint32_t variables;
    uint32_t output;
    uint32_t settings;
    int fifo, nice;
    const uint64_t *cpus;
};

enum { MOST_SUBJECTS = 65536, MOST_PADDING = 4095, MOST_REMEMBERED = 2048, STAY_AWAKE_NS = 60000 };
enum { SAMPLES = 7, CONTROL = 10, OUR_STDOUT, OUR_STDERR, NOTHING, HOME, GIVEN_1 };
enum { MOST_GIVEN = 3 }; /* descriptors with one request; they land in GIVEN_1 and after it */

static const struct subject *subjects[MOST_SUBJECTS]; /* only the pages in use are resident */
static uint32_t subject_count;
static struct page *page;
static int parent;
static int moved; /* the current directory is not the one we were started in */
/* What every launcher touches is kept together here, for each page counts. */
static uint32_t replaced; /* those of the settings that are not our own now */
static int child_fifo;    /* the child lowers itself to this; 0: it keeps what it inherits */
static volatile uint32_t remembered_count;
static volatile int restoring;

static const struct subject *in_flight;
static volatile int child_error; /* what kept the child from its exec */
static volatile uint32_t child_step;
static char child_stack[4096] __attribute__((aligned(16)));

static const char pad_name[] = "ASSAY_PAD=";
enum { PAD_NAME = sizeof pad_name - 1 };
static char pad[PAD_NAME + MOST_PADDING + 1];

static int64_t now_ns(void)
{
    struct timespec t;
    CALL2(__NR_clock_gettime, CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void nap_us(long us)
{
    struct timespec t = { 0, us * 1000 };
    CALL2(__NR_nanosleep, &t, NULL);
}

static long kill_group(int group, int sig)
{
    return CALL2(__NR_kill, -group, sig);
}

/* ---- The guard's memory ---- */

/* A path and, after its zero byte, the value that the file had. */
static const char *remembered[MOST_REMEMBERED];

static size_t length_of(const char *string)
{
    size_t n = 0;
    while (string[n])
        n++;
    return n;
}

static int write_back(const char *path)
{
    const char *value = path + length_of(path) + 1;
    size_t left = length_of(value);
    long fd;
    do
        fd = CALL3(__NR_openat, AT_FDCWD, path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
    while (fd == -EINTR);
    if (fd < 0)
        return 0;
    while (left) {
        long n = CALL3(__NR_write, fd, value, left);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            break;
        value += n;
        left -= (size_t)n;
    }
    CALL1(__NR_close, fd);
    return !left;
}

/* Writes everything back, the last first, and ends. The exit status tells assay, if it is still
 * there, which was the first of them that could not be written, counted from 1. */
static __attribute__((noreturn)) void restore_and_leave(void)
{
    int failed = 0;
    restoring = 1;
    while (remembered_count) {
        uint32_t i = remembered_count - 1;
        if (!write_back(remembered[i]))
            failed = i < 254 ? (int)i + 1 : 255;
        remembered_count = i;
    }
    leave(failed);
}

/* ---- Signals ---- */

struct kernel_sigaction {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static void handle(int sig, void (*handler)(int), unsigned long flags)
{
    struct kernel_sigaction action = { handler, flags | KERNEL_SA_RESTORER, signal_return, 0 };
    CALL4(__NR_rt_sigaction, sig, &action, NULL, sizeof action.mask);
}

static void on_ignored(int sig)
{
    (void)sig;
}

/* assay is gone, and what is in flight goes with it: our own run, or what assay has written into the
 * page itself, for which we are the guard. */
static __attribute__((noreturn)) void end_all(void)
{
    int group = page ? page->group : 0;
    if (group > 0) {
        kill_group(group, SIGKILL);
        CALL2(__NR_kill, group, SIGKILL);
    }
    restore_and_leave();
}

/* Sent by the kernel when the thread that started us ends; real only if its process is gone. */
static void on_parent_death(int sig)
{
    (void)sig;
    if (CALL0(__NR_getppid) == parent || restoring)
        return;
    end_all();
}

static void arrange_signals(void)
{
    static const int ignored[] = { SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE,
                                   SIGUSR1, SIGUSR2 };
    uint64_t none = 0;
    for (int sig = 1; sig <= 64; sig++)
        handle(sig, SIG_DFL, 0);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        handle(ignored[i], on_ignored, SA_RESTART);
    handle(SIGTERM, on_parent_death, SA_RESTART);
    handle(SIGALRM, on_ignored, 0); /* has to interrupt wait4 */
    CALL4(__NR_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
    parent = (int)CALL0(__NR_getppid);
    CALL5(__NR_prctl, PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
}

/* ---- Talking with assay ---- */

static void send_reply(const struct reply *reply)
{
    const char *at = (const char *)reply;
    size_t left = sizeof *reply;
    while (left) {
        long n = CALL6(__NR_sendto, CONTROL, at, left, MSG_NOSIGNAL, NULL, 0);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            restore_and_leave();
        at += n;
        left -= (size_t)n;
    }
}

static void receive_rest(char *to, size_t left)
{
    while (left) {
        long n = CALL3(__NR_read, CONTROL, to, left);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            restore_and_leave();
        to += n;
        left -= (size_t)n;
    }
}

/* Reads one request; descriptors sent along land in GIVEN_1 and those after it, in order. */
static int receive(struct request *request)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(MOST_GIVEN * sizeof(int))];
    } control;
    struct iovec into = { request, sizeof *request };
    struct msghdr message = { 0 };
    message.msg_iov = &into;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    long n = -EAGAIN;
    /* The next request often comes within microseconds. To stay awake for them is cheaper than to
     * be woken on another processor, and it is between runs: nothing is being timed. A guard has
     * nothing to hurry for. */
    int64_t until = now_ns() + STAY_AWAKE_NS;
    while (!remembered_count && now_ns() < until) {
        n = CALL3(__NR_recvmsg, CONTROL, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        if (n != -EAGAIN)
            break;
        CALL0(__NR_sched_yield);
    }
    while (n == -EAGAIN || n == -EINTR)
        n = CALL3(__NR_recvmsg, CONTROL, &message, MSG_CMSG_CLOEXEC);
    if (n <= 0)
        end_all(); /* the socket may tell sooner than the signal */
    int given = 0;
    if (message.msg_controllen >= sizeof(struct cmsghdr) &&
        control.header.cmsg_type == SCM_RIGHTS) {
        const int *fds = (const int *)CMSG_DATA(&control.header);
        given = (int)((control.header.cmsg_len - CMSG_LEN(0)) / sizeof(int));
        for (int i = 0; i < given; i++) {
            CALL3(__NR_dup3, fds[i], GIVEN_1 + i, O_CLOEXEC);
            CALL1(__NR_close, fds[i]);
        }
    }
    receive_rest((char *)request + n, sizeof *request - (size_t)n);
    return given;
}

/* ---- Subjects ---- */

static void *memory(size_t bytes)
{
    long at = CALL6(__NR_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                    0);
    return at < 0 && at > -4096 ? NULL : (void *)at;
}

static char *next_string(char **at, const char *end)
{
    char *string = *at;
    char *p = string;
    while (p < end && *p)
        p++;
    *at = p + 1;
    return p < end ? string : NULL;
}

static int read_subject(char *text, size_t length, struct subject *s, char **pointers)
{
    const struct subject_header *header = (const struct subject_header *)text;
    const char *end = text + length;
    char *at = text + sizeof *header;
    s->path = next_string(&at, end);
    s->directory = next_string(&at, end);
    s->input = next_string(&at, end);
    s->output_file = next_string(&at, end);
    s->arguments = pointers;
    for (uint32_t i = 0; i < header->arguments; i++)
        if (!(*pointers++ = next_string(&at, end)))
            return 0;
    *pointers++ = NULL;
    s->environment = pointers;
    for (uint32_t i = 0; i < header->variables; i++)
        if (!(*pointers++ = next_string(&at, end)))
            return 0;
    s->variables = header->variables; /* the slot after them is the padding's, then the end */
    s->output = header->output;
    s->settings = header->settings;
    s->fifo = header->fifo;
    s->nice = header->nice;
    s->cpus = header->cpus;
    return s->path && s->directory && s->input && s->output_file;
}

/* The bytes after a request, and a zero byte after them. */
static char *receive_payload(size_t length)
{
    char *text = memory(length + 1);
    if (!text)
        restore_and_leave(); /* the stream cannot be kept in step any more; assay sees us go */
    receive_rest(text, length);
    return text;
}

static void add(const struct request *request, struct reply *reply)
{
    size_t length = request->payload;
    char *text = receive_payload(length);
    const struct subject_header *header = (const struct subject_header *)text;
    reply->step = STEP_REQUEST;
    reply->error = EINVAL;
    if (length < sizeof *header || header->arguments > length || header->variables > length)
        return;
    if (subject_count == MOST_SUBJECTS) {
        reply->error = ENOSPC;
        return;
    }
    size_t pointers = (size_t)header->arguments + header->variables + 3;
    struct subject *s = memory(sizeof *s + pointers * sizeof(char *));
    if (!s) {
        reply->step = STEP_MEMORY;
        reply->error = ENOMEM;
        return;
    }
    if (!read_subject(text, length, s, (char **)(s + 1)))
        return;
    subjects[subject_count++] = s;
    reply->step = STEP_NONE;
    reply->error = 0;
}

/* The payload of REMEMBER is a path, a zero byte, a value and a zero byte. From the first one on we
 * are in a session of our own: whoever ends assay's group or hangs up its terminal misses us. */
static void remember(const struct request *request, struct reply *reply)
{
    char *text = receive_payload(request->payload);
    char *at = text, *end = text + request->payload;
    reply->step = STEP_REQUEST;
    reply->error = EINVAL;
    if (!next_string(&at, end) || !next_string(&at, end) || at != end)
        return;
    if (remembered_count == MOST_REMEMBERED) {
        reply->error = ENOSPC;
        return;
    }
    if (!remembered_count)
        CALL0(__NR_setsid);
    remembered[remembered_count] = text;
    remembered_count = remembered_count + 1;
    reply->step = STEP_NONE;
    reply->error = 0;
}

/* ---- What is set for a subject's processes: taken on by us, for the child to inherit. ---- */

enum { OWN_WORDS = 128 }; /* 8192 processors, the most that Linux knows */

/* What we have ourselves, to go back to after the run. */
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

static long pin(const struct subject *s)
{
    static uint64_t now[OWN_WORDS]; /* on the stack it would cost every launcher a page */
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
    /* The kernel silently leaves out the processors that are not there. */
    result = CALL3(__NR_sched_getaffinity, 0, sizeof now, now);
    if (result < 0)
        return result;
    return same_cpus(now, result, s->cpus) ? 0 : -EINVAL;
}

static long fix_layout(void)
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

/* We stay one above the child, so that a child that never sleeps can still be ended from the same
 * processor: when its time is up, or when assay is gone. The child lowers itself before its exec.
 * Where nothing higher is to be had (99, or a limit) both have the same. */
static long take_priority(const struct subject *s)
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

/* Gives back what was taken on. What cannot be given back is the run's failure, for it would be
 * part of the next one. */
static void give_back(struct reply *reply)
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

/* ---- One run ---- */

/* The request is often here before assay, which sent it, has gone to sleep again on the very same
 * processor. A command that is started then shares it for a moment, and the scheduler moves one of
 * the two while the command is being loaded: that made /bin/true 6 % longer in six runs of ten, and
 * its times three times as spread. To yield lets assay finish; where it is elsewhere it costs nothing. */
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

static int fail(struct reply *reply, uint32_t step, long result)
{
    reply->step = step;
    reply->error = (int)-result;
    return 0;
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

/* Makes our own directory, descriptors 0, 1, 2 and 7, processors and layout those that the child
 * shall inherit. */
static int dress(const struct subject *s, const struct request *request, struct reply *reply)
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

static void undress(const struct subject *s, const struct request *request, int given,
                    struct reply *reply)
{
    if (replaced)
        give_back(reply);
    if (s->input[0])
        CALL3(__NR_dup3, NOTHING, 0, 0);
    if (s->output != OUTPUT_NULL || (request->flags & REQUEST_STDOUT))
        CALL3(__NR_dup3, NOTHING, 1, 0);
    if (s->output == OUTPUT_INHERIT || (request->flags & REQUEST_STDERR))
        CALL3(__NR_dup3, NOTHING, 2, 0);
    if (request->flags & REQUEST_SAMPLES)
        CALL1(__NR_close, SAMPLES);
    for (int i = 0; i < given; i++)
        CALL1(__NR_close, GIVEN_1 + i);
}

static void set_alarm(int64_t first_ns)
{
    /* It repeats, so that an alarm between two waits is not lost. */
    struct itimerval timer = { { 0, first_ns ? 20000 : 0 },
                               { first_ns / 1000000000, first_ns / 1000 % 1000000 } };
    if (first_ns && !timer.it_value.tv_sec && !timer.it_value.tv_usec)
        timer.it_value.tv_usec = 1;
    CALL3(__NR_setitimer, ITIMER_REAL, &timer, NULL);
}

/* Waits for the child's end, and brings it about when its time is up or it wants the terminal. */
static void await(int pid, int64_t timeout, struct rusage *usage, struct reply *reply)
{
    const int64_t grace = 1000000000;
    int status = 0;
    int asked = 0;
    for (;;) {
        long result = CALL4(__NR_wait4, pid, &status, WUNTRACED, usage);
        reply->end_ns = (uint64_t)now_ns();
        int64_t elapsed = (int64_t)(reply->end_ns - reply->start_ns);
        if (result == pid) {
            if (!WIFSTOPPED(status))
                break;
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
        if (timeout && !asked && elapsed >= timeout) {
            asked = 1;
            reply->flags |= TIMED_OUT;
            kill_group(pid, SIGTERM);
            kill_group(pid, SIGCONT); /* a stopped process hears nothing else */
        } else if (asked && elapsed >= timeout + grace) {
            kill_group(pid, SIGKILL);
        }
    }
    reply->status = status;
}

/* Ends what the command left running in its group. For 10 ms they may go by themselves: to their
 * end, or, as daemons do, into a session of their own. */
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

/* Starts the child of a launcher that is dressed, and sees it to its end. */
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
    }
    page->group = 0;
}

static void run(const struct request *request, int given, struct reply *reply)
{
    struct rusage usage = { 0 };
    long result;
    if (request->subject >= subject_count || request->padding > MOST_PADDING) {
        fail(reply, STEP_REQUEST, -EINVAL);
        for (int i = 0; i < given; i++)
            CALL1(__NR_close, GIVEN_1 + i);
        return;
    }
    const struct subject *s = subjects[request->subject];
    int64_t timeout = (int64_t)request->timeout_ns;
    char *padding = pad + MOST_PADDING - request->padding;
    memcpy(padding, pad_name, PAD_NAME);
    s->environment[s->variables] = padding;
    in_flight = s;
    child_error = 0;
    if (dress(s, request, reply)) {
        if (timeout)
            set_alarm(timeout);
        let_assay_sleep();
        /* Only now, for with this priority there is no yielding to assay any more. */
        if (s->settings & FIFO && (result = take_priority(s)) < 0)
            fail(reply, STEP_FIFO, result);
        else
            start(timeout, &usage, reply);
        if (timeout)
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
    undress(s, request, given, reply);
    for (size_t i = 0; i < PAD_NAME; i++)
        padding[i] = 'x';
}

/* ---- The whole life ---- */

static void arrange_descriptors(void)
{
    /* We are started with the control socket as stdin, and with assay's own stdout and stderr.
     * Nothing else that assay may have inherited is passed on. */
    if (CALL3(__NR_close_range, 3, ~0U, 0) < 0)
        for (int fd = 3; fd < 4096; fd++)
            CALL1(__NR_close, fd);
    CALL3(__NR_dup3, 0, CONTROL, O_CLOEXEC);
    CALL3(__NR_dup3, 1, OUR_STDOUT, O_CLOEXEC);
    CALL3(__NR_dup3, 2, OUR_STDERR, O_CLOEXEC);
    long opened = CALL4(__NR_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);
    CALL3(__NR_dup3, opened, NOTHING, O_CLOEXEC);
    CALL1(__NR_close, opened);
    opened = CALL4(__NR_openat, AT_FDCWD, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (opened >= 0) {
        CALL3(__NR_dup3, opened, HOME, O_CLOEXEC);
        CALL1(__NR_close, opened);
    }
    for (int fd = 0; fd <= 2; fd++)
        if (CALL3(__NR_dup3, NOTHING, fd, 0) < 0)
            leave(1);
}

__attribute__((used, noreturn)) void launcher_main(void)
{
    struct request request;
    arrange_signals();
    arrange_descriptors();
    CALL5(__NR_prctl, PR_SET_NAME, "assay-launcher", 0, 0, 0);
    for (size_t i = 0; i < sizeof pad - 1; i++)
        pad[i] = 'x';
    for (;;) {
        int given = receive(&request);
        struct reply reply = { 0 };
        if (request.kind == HELLO && given == 1) {
            long at = CALL6(__NR_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, GIVEN_1, 0);
            CALL1(__NR_close, GIVEN_1);
            if (at < 0 && at > -4096)
                fail(&reply, STEP_MEMORY, at);
            else
                page = (struct page *)at;
        } else if (request.kind == ADD) {
            add(&request, &reply);
        } else if (request.kind == RUN && page) {
            run(&request, given, &reply);
        } else if (request.kind == REMEMBER) {
            remember(&request, &reply);
        } else {
            fail(&reply, STEP_REQUEST, -EINVAL);
        }
        send_reply(&reply);
    }
}
