/*
 * The launcher: a tiny resident program that starts one command at a time, times it and reaps it.
 *
 * On Linux the peak memory that the kernel reports for a child begins at the resident size of the
 * process that spawned it, and the cost of starting a child also depends on its spawner. So
 * measuring is done from a process that is as small as possible: no C library, no heap, a few pages
 * in all. It is embedded in `assay`, started once and kept.
 *
 * It must not make decisions. It executes requests (see `wire.rs`, the other half of the protocol),
 * reports numbers, and never leaves a process behind, even if `assay` is killed.
 *
 * A second instance of the same program is the guard: it stores the original values of files that
 * assay changes, and restores them when assay ends for any reason; and it kills the process group
 * that assay has written into the shared page, which is that of a sampler and its program. A guard
 * runs no commands.
 *
 * This file contains its main loop and the communication with assay. The other parts are in
 * `launcher/`.
 */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "launcher/rooms.h"
#include "launcher/system.h"

#ifndef __NR_close_range
#define __NR_close_range 436
#endif

enum { STAY_AWAKE_NS = 60000 };

struct page *page;

/* ---- Communication with assay ---- */

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

/* Reads one request; descriptors sent along become GIVEN_1 and following, in order. */
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
    /* The next request often arrives within microseconds. Staying awake for it is cheaper than
     * being woken on another processor, and nothing is being timed between runs. A guard need
     * not be fast. */
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
        end_all(); /* assay is gone: the socket may report it before the signal */
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

/* Reads the bytes after a request, and appends a zero byte. */
char *receive_payload(size_t length)
{
    char *text = memory(length + 1);
    if (!text)
        restore_and_leave(); /* the stream is out of step; assay notices the exit */
    receive_rest(text, length);
    return text;
}

int fail(struct reply *reply, uint32_t step, long result)
{
    reply->step = step;
    reply->error = (int)-result;
    return 0;
}

/* ---- Main loop ---- */

static void arrange_descriptors(void)
{
    /* The launcher is started with the control socket as stdin, and with assay's own stdout and
     * stderr. Other descriptors that assay may have inherited are not passed on. */
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
    arrange_padding();
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
