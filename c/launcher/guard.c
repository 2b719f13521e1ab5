/*
 * The guard's state: original values of files that assay changes, which are restored when assay
 * ends for any reason. A guard is a launcher that has received values to store, or a process group
 * in the shared page to kill; it runs no commands.
 */
#include <asm/unistd.h>
#include <fcntl.h>

#include "rooms.h"
#include "system.h"

enum { MOST_REMEMBERED = 2048 };

volatile uint32_t remembered_count;
volatile int restoring;

/* A path, a zero byte, and the file's original value. */
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

/* Restores all values in reverse order and exits. The exit status tells assay, if it is still
 * running, the number of the first value that could not be restored, counted from 1. */
__attribute__((noreturn)) void restore_and_leave(void)
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

/* The payload of REMEMBER is a path, a zero byte, a value and a zero byte. From the first one on
 * the guard runs in its own session, so that killing assay's group or hanging up its terminal
 * does not affect it. */
void remember(const struct request *request, struct reply *reply)
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
