/*
 * A second floor: the speed of a handwritten loop of vfork, execve and wait4, with stdin, stdout
 * and stderr at /dev/null as in floor.c. Prints the wall time of each run in nanoseconds, one per
 * line. A peer of the benchmarks, not a part of assay.
 *
 *     cc -O2 -o vfork vfork.c && ./vfork 1000 /bin/true
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
    long runs = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    if (runs < 1) {
        fprintf(stderr, "usage: vfork RUNS PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    long long *wall = calloc((size_t)runs, sizeof *wall);
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (!wall || nowhere < 0)
        return 1;
    for (long i = 0; i < runs; i++) {
        int status;
        struct rusage usage;
        long long start = now();
        pid_t pid = vfork();
        if (pid == 0) {
            for (int stream = 0; stream < 3; stream++)
                dup2(nowhere, stream);
            execve(argv[2], argv + 2, environ);
            _exit(127);
        }
        if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status != 0) {
            fprintf(stderr, "vfork: cannot run %s\n", argv[2]);
            return 1;
        }
        wall[i] = now() - start;
    }
    for (long i = 0; i < runs; i++)
        printf("%lld\n", wall[i]);
    return 0;
}
