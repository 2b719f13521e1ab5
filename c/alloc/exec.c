/*
 * Records the programs that this process has executed. A static program, or one with another
 * environment, is not counted, and its allocations would be silently missing from a sum. So every
 * call that executes a program goes through here, which writes a note and then forwards the call
 * unchanged. The notes are evaluated by their reader; nothing is examined here.
 *
 * The notes are in one file next to the counts: a mark, the absolute path, and a zero byte, in a
 * single write. The mark is + if the environment loads the library, and - if it does not. fexecve,
 * execveat and direct system calls are not covered.
 *
 * It may run in a child of vfork, which borrows its parent's memory: it stores nothing, and calls
 * the kernel directly.
 */
#define _GNU_SOURCE
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "../kernel.h"
#include "rooms.h"

/* The functions that would be called without this library. */
static int (*next_execve)(const char *, char *const[], char *const[]);
static int (*next_execvpe)(const char *, char *const[], char *const[]);
static int (*next_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
                         char *const[]);
static int (*next_spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
                          char *const[]);

static void look_up(void *to, const char *name)
{
    void *found;
    QUIETLY(found = find_next(name));
    memcpy(to, &found, sizeof found);
}

/* Done before there is any child of vfork, in which lookups would not be safe. */
__attribute__((constructor)) static void look_all_up(void)
{
    look_up(&next_execve, "execve");
    look_up(&next_execvpe, "execvpe");
    look_up(&next_spawn, "posix_spawn");
    look_up(&next_spawnp, "posix_spawnp");
}

/* The constructor of another library may execute a program before this constructor has run. */
static int is_looked_up(void)
{
    if (!next_execve)
        look_all_up();
    return next_execve && next_execvpe && next_spawn && next_spawnp;
}

/* ---- The note. ---- */

/* Appends the path of the program with this name, searched as in execvp; returns 0 if there is
 * none. */
static int append_found(char *to, const char *end, const char *name)
{
    const char *search = variable_of(environ, "PATH=");
    if (!search)
        search = "/bin:/usr/bin";
    for (;;) {
        size_t length = strcspn(search, ":");
        char *at = to;
        if ((size_t)(end - to) > length + strlen(name) + 1) {
            memcpy(at, search, length);
            at += length;
            at = length ? append(at, end, "/") : at;
            append(at, end, name);
            if (CALL3(__NR_faccessat, AT_FDCWD, to, X_OK) == 0)
                return 1;
        }
        if (!search[length])
            return 0;
        search += length + 1;
    }
}

/* The buffers are on the caller's stack, which may be small. Paths that are too long are
 * truncated, and then name no file. */
static void note(const char *name, int is_searched, char *const environment[])
{
    char place[PATH_MAX], entry[PATH_MAX + 1];
    const char *end = entry + sizeof entry - 1;
    if (!name || !find_directory())
        return;
    int is_handed_on = environment && variable_of(environment, "ASSAY_ALLOC=") && variable_of(environment, "LD_PRELOAD=");
    char *at = append(entry, end, is_handed_on ? "+" : "-");
    if (is_searched && !strchr(name, '/')) {
        if (!append_found(place, place + sizeof place - 1, name))
            return;
        name = place;
    }
    if (name[0] != '/') {
        long length = CALL2(__NR_getcwd, at, end - at);
        if (length <= 1)
            return;
        at = append(at + length - 1, end, "/");
    }
    at = append(at, end, name);
    if (!append_in_directory(place, sizeof place, "/executed"))
        return;
    long fd = CALL4(__NR_openat, AT_FDCWD, place, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    if (fd < 0)
        return;
    CALL3(__NR_write, fd, entry, at + 1 - entry);
    CALL1(__NR_close, fd);
}

/* ---- Functions called by the program. ---- */

static int execute(const char *name, int is_searched, char *const arguments[], char *const environment[])
{
    if (!is_looked_up()) {
        errno = ENOSYS;
        return -1;
    }
    note(name, is_searched, environment);
    return (is_searched ? next_execvpe : next_execve)(name, arguments, environment);
}

EXPORTED int execve(const char *path, char *const arguments[], char *const environment[])
{
    return execute(path, 0, arguments, environment);
}

EXPORTED int execv(const char *path, char *const arguments[])
{
    return execute(path, 0, arguments, environ);
}

EXPORTED int execvpe(const char *name, char *const arguments[], char *const environment[])
{
    return execute(name, 1, arguments, environment);
}

EXPORTED int execvp(const char *name, char *const arguments[])
{
    return execute(name, 1, arguments, environ);
}

/* Variants with the arguments listed one by one, ending with NULL, followed by the environment
 * for execle. */
#define LISTED(called, is_searched, environment_of) \
    EXPORTED int called(const char *name, const char *first, ...) \
    { \
        va_list list; \
        size_t count = 1; \
        va_start(list, first); \
        for (const char *word = first; word; word = va_arg(list, const char *)) \
            count++; \
        va_end(list); \
        char *arguments[count]; \
        va_start(list, first); \
        arguments[0] = (char *)first; \
        for (size_t i = 1; i < count; i++) \
            arguments[i] = va_arg(list, char *); \
        char *const *environment = environment_of; \
        va_end(list); \
        return execute(name, is_searched, arguments, environment); \
    }
LISTED(execl, 0, environ)
LISTED(execlp, 1, environ)
LISTED(execle, 0, va_arg(list, char *const *))

EXPORTED int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                         const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
    if (!is_looked_up())
        return ENOSYS;
    note(path, 0, environment);
    return next_spawn(pid, path, actions, attributes, arguments, environment);
}

EXPORTED int posix_spawnp(pid_t *pid, const char *name, const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
    if (!is_looked_up())
        return ENOSYS;
    note(name, 1, environment);
    return next_spawnp(pid, name, actions, attributes, arguments, environment);
}
