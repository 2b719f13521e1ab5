/*
 * The floor under every runner: the time that posix_spawn and wait4 take for a command, with stdin,
 * stdout and stderr at /dev/null. Prints the wall time of each run in nanoseconds, one per line,
 * and finally the rate of the whole loop on stderr. A peer of the benchmarks, not a part of assay.
 *
 *     cc -O2 -o floor floor.c && ./floor 1000 /bin/true
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: floor RUNS PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    long runs = strtol(argv[1], NULL, 10);
    long long *wall = calloc(runs > 0 ? (size_t)runs : 1, sizeof *wall);
    posix_spawn_file_actions_t actions;
    if (!wall || posix_spawn_file_actions_init(&actions) ||
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) ||
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) ||
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0))
        return 1;
    long long begin = now();
    for (long i = 0; i < runs; i++) {
        pid_t pid;
        int status;
        struct rusage usage;
        long long start = now();
        int error = posix_spawn(&pid, argv[2], &actions, NULL, argv + 2, environ);
        if (error || wait4(pid, &status, 0, &usage) != pid) {
            fprintf(stderr, "floor: cannot run %s: %s\n", argv[2], strerror(error));
            return 1;
        }
        wall[i] = now() - start;
    }
    long long end = now();
    for (long i = 0; i < runs; i++)
        printf("%lld\n", wall[i]);
    fprintf(stderr, "%.1f runs/s\n", runs * 1e9 / (double)(end - begin));
    return 0;
}
