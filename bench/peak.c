/*
 * Runs one command and writes the peak resident memory of it and its waited-for children, in KiB,
 * to a file. Linux includes the spawner's own memory in that of the spawned process, so this
 * program is static and small: its result is the command's own down to about 0.6 MiB.
 *
 *     cc -O2 -static -o peak peak.c && ./peak FILE PROGRAM [ARGUMENT...]
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: peak FILE PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    pid_t pid;
    int status;
    struct rusage usage;
    int error = posix_spawn(&pid, argv[2], NULL, NULL, argv + 2, environ);
    if (error) {
        fprintf(stderr, "peak: cannot run %s: %s\n", argv[2], strerror(error));
        return 1;
    }
    if (wait4(pid, &status, 0, &usage) != pid) {
        fprintf(stderr, "peak: %s\n", strerror(errno));
        return 1;
    }
    FILE *out = fopen(argv[1], "w");
    if (!out || fprintf(out, "%ld\n", usage.ru_maxrss) < 0 || fclose(out)) {
        fprintf(stderr, "peak: cannot write %s\n", argv[1]);
        return 1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
