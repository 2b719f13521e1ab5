/*
 * Creates the file with the counts of a process. It calls the kernel directly and walks the
 * environment by hand, since a program or another preloaded library may have replaced the C
 * library's functions.
 */
#define _GNU_SOURCE
#include <asm/unistd.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../kernel.h"
#include "rooms.h"

struct table *table;
static char directory[PATH_MAX];

/* Mapped at the address of the previous table, if any. */
static struct table *map_table(int fd)
{
    int flags = table ? MAP_SHARED | MAP_FIXED : MAP_SHARED;
    long at = CALL6(__NR_mmap, table, FILE_BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);
    return at < 0 && at > -4096 ? NULL : (struct table *)at;
}

char *append(char *to, const char *end, const char *text)
{
    while (to < end && *text)
        *to++ = *text++;
    *to = 0;
    return to;
}

static char *append_number(char *to, const char *end, uint64_t number)
{
    char digits[21];
    char *p = digits + sizeof digits - 1;
    *p = 0;
    do
        *--p = (char)('0' + number % 10);
    while (number /= 10);
    return append(to, end, p);
}

const char *variable_of(char *const environment[], const char *name)
{
    size_t length = strlen(name);
    for (char *const *variable = environment; variable && *variable; variable++)
        if (strncmp(*variable, name, length) == 0)
            return *variable + length;
    return NULL;
}

/* A copy of the directory's path, since a program may change its environment before it forks. */
int find_directory(void)
{
    if (directory[0])
        return 1;
    const char *value = variable_of(environ, "ASSAY_ALLOC=");
    /* Leaves room for the name of a file. */
    if (!value || value[0] != '/' || strlen(value) > sizeof directory - 80)
        return 0;
    append(directory, directory + sizeof directory - 1, value);
    return 1;
}

int append_in_directory(char *to, size_t room, const char *name)
{
    if (!find_directory() || strlen(directory) + strlen(name) >= room)
        return 0;
    append(append(to, to + room - 1, directory), to + room - 1, name);
    return 1;
}

/* A file with disk space reserved for all its bytes, so that no store into the mapping can fail. */
static int make_file(const char *path)
{
    static const char zeros[1024];
    long fd = CALL4(__NR_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    if (CALL4(__NR_fallocate, fd, 0, 0, FILE_BYTES) == 0)
        return (int)fd;
    /* On a file system without that call, writing the bytes also reserves their space. */
    long written = 0;
    for (int i = 0; i < FILE_BYTES; i += (int)sizeof zeros)
        written += CALL3(__NR_write, fd, zeros, sizeof zeros) == sizeof zeros;
    if (written * (long)sizeof zeros == FILE_BYTES)
        return (int)fd;
    CALL1(__NR_close, fd);
    CALL3(__NR_unlinkat, AT_FDCWD, path, 0);
    return -1;
}

static void fill_header(struct header *header, uint32_t pid, uint64_t started)
{
    long length = CALL4(__NR_readlinkat, AT_FDCWD, "/proc/self/exe", header->path, sizeof header->path);
    memcpy(header->magic, "ASSAYALC", sizeof header->magic);
    header->version = VERSION;
    header->flags = next.malloc_usable_size ? KNOWS_SIZES : 0;
    header->pid = pid;
    header->ppid = (uint32_t)call6(__NR_getppid, 0, 0, 0, 0, 0, 0);
    header->header_bytes = HEADER_BYTES;
    header->slot_bytes = sizeof(struct slot);
    header->slots = SLOTS;
    header->path_bytes = length > 0 ? (uint32_t)length : 0;
    header->started_ns = started;
}

/* The file is renamed once its head is complete, so readers never see a partial one. */
struct table *make_table(void)
{
    struct timespec now = {0, 0};
    uint32_t pid = (uint32_t)call6(__NR_getpid, 0, 0, 0, 0, 0, 0);
    CALL2(__NR_clock_gettime, CLOCK_MONOTONIC, &now);
    uint64_t started = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    /* PID-START.alloc, with a leading dot while it is being created. */
    char named[PATH_MAX], hidden[PATH_MAX], hidden_name[64] = "/.", name[64] = "/";
    const char *end = name + sizeof name - 1;
    char *at = append_number(name + 1, end, pid);
    at = append(at, end, "-");
    at = append_number(at, end, started);
    append(at, end, ".alloc");
    append(hidden_name + 2, hidden_name + sizeof hidden_name - 1, name + 1);
    int fd = -1;
    if (append_in_directory(named, sizeof named, name) && append_in_directory(hidden, sizeof hidden, hidden_name))
        fd = make_file(hidden);
    if (fd < 0)
        return NULL;
    struct table *made = map_table(fd);
    CALL1(__NR_close, fd);
    if (made) {
        table = made;
        fill_header(&made->header, pid, started);
        if (CALL5(__NR_renameat2, AT_FDCWD, hidden, AT_FDCWD, named, 0) == 0)
            return made;
    }
    CALL3(__NR_unlinkat, AT_FDCWD, hidden, 0);
    return NULL;
}
