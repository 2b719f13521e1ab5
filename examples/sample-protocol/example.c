/* Reports a value and the time of a region by the sample protocol.   cc -O2 -o example-c example.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static FILE *samples; /* NULL if nothing is measuring: then nothing is reported. */

static void open_samples(void)
{
    const char *where = getenv("ASSAY_SAMPLES");
    if (where && strncmp(where, "fd:", 3) == 0)
        samples = fdopen(atoi(where + 3), "a");
    else if (where && strncmp(where, "path:", 5) == 0)
        samples = fopen(where + 5, "a");
    if (samples) /* A large buffer, so that lines are written whole, and not while the clock runs. */
        setvbuf(samples, NULL, _IOFBF, 1 << 16);
}

static void mark(const char *what, const char *region)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    if (samples)
        fprintf(samples, "{\"%s\":\"%s\",\"t\":%lld}\n", what, region, t.tv_sec * 1000000000LL + t.tv_nsec);
}

int main(void)
{
    unsigned long sum = 0, items = 0;
    open_samples();
    mark("start", "parse");
    for (char text[24]; items < 100000; items++) {
        snprintf(text, sizeof text, "%lu", items);
        sum += strtoul(text, NULL, 10);
    }
    mark("stop", "parse");
    if (samples)
        fprintf(samples, "{\"metric\":\"items\",\"better\":\"higher\",\"value\":%lu}\n", items);
    printf("%lu\n", sum);
    return 0; /* A normal return flushes the buffer. */
}
