/*
 * Chooses the clock of the recorder and determines the length of its ticks: see clock.h.
 */
#include "clock.h"

#ifdef ASSAY_COUNTER
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int by_counter;
static int64_t first_tick, first_ns;

/* The kernel uses the counter only if it runs evenly, through sleep states, and alike on all processors. */
void
choose_clock(void)
{
    char name[8] = "";
    const char *asked = getenv("ASSAY_CLOCK");
    FILE *source = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");
    if (source) {
        by_counter = fgets(name, sizeof name, source) && !strcmp(name, "tsc\n") && !(asked && !strcmp(asked, "os"));
        fclose(source);
    }
    first_ns = clock_ns();
    first_tick = now();
}

double
tick_length(void)
{
    int64_t ticks;
    if (!by_counter) return 1.0;
    while ((ticks = now() - first_tick) < 1000000); /* Wait until a millisecond after the start. */
    return (double)(clock_ns() - first_ns) / (double)(now() - first_tick);
}
#else
void choose_clock(void) { }
double tick_length(void) { return 1.0; }
#endif
