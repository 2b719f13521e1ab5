/* Measures the cost of region marks for the marked program: start and stop around nothing,
 * repeated a given number of times. Prints nanoseconds per mark.
 *
 *     marks buffered 100000     buffered lines, as in examples/sample-protocol/example.c
 *     marks plain 100000        a separate write for every line
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
    const char *where = getenv("ASSAY_SAMPLES");
    if (argc != 3 || !where || strncmp(where, "fd:", 3) != 0) {
        fputs("usage: marks buffered|plain COUNT, by a runner that gives ASSAY_SAMPLES=fd:N\n", stderr);
        return 2;
    }
    int fd = atoi(where + 3), plain = strcmp(argv[1], "plain") == 0;
    long count = atol(argv[2]);
    FILE *samples = fdopen(dup(fd), "a");
    setvbuf(samples, NULL, _IOFBF, 1 << 16);
    char line[100];
    long long began = now();
    for (long i = 0; i < count; i++) {
        const char *what = i % 2 ? "stop" : "start";
        if (plain) {
            int n = snprintf(line, sizeof line, "{\"%s\":\"nothing\",\"t\":%lld}\n", what, now());
            if (write(fd, line, (size_t)n) != n)
                return 1;
        } else {
            fprintf(samples, "{\"%s\":\"nothing\",\"t\":%lld}\n", what, now());
        }
    }
    fflush(samples);
    printf("%.1f\n", (double)(now() - began) / (double)count);
    return 0;
}
