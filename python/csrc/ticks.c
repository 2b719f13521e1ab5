/* How long a tick of the processor's counter is. The counter is read in a third of the time that the clock takes, but is only
 * to be trusted where it runs at one rate and is the same on all processors. The kernel watches that, and gives it up as its own
 * source of time where it is not so: what the kernel uses is good enough here. */
#include "speedups.h"

int assay_by_counter;
double assay_tick = 1.0;

#if ASSAY_HAS_TICKS
#define SHORTEST 2000000 /* nanoseconds */
#define LARGEST_CHANGE 1e-3

static long long first_tick, first_time;

/* A tick and a time that belong together: the closest of several pairs. */
static void
read_both(long long *tick, long long *time)
{
    long long closest = 0;
    for (int i = 0; i < 5; i++) {
        long long before = (long long)__rdtsc(), now = assay_clock(), after = (long long)__rdtsc();
        if (i == 0 || after - before < closest) {
            closest = after - before;
            *tick = before + closest / 2;
            *time = now;
        }
    }
}

static int
kernel_trusts_the_counter(void)
{
    char name[16] = "";
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (!file)
        return 0;
    if (!fgets(name, sizeof name, file))
        name[0] = 0;
    fclose(file);
    return strcmp(name, "tsc\n") == 0;
}
#endif

void
assay_ticks_ready(void)
{
#if ASSAY_HAS_TICKS
    assay_by_counter = kernel_trusts_the_counter();
    read_both(&first_tick, &first_time);
#endif
}

/* tune(): works the length of a tick out anew, over all the time since the import, so that it gets more exact as that grows. Two
 * milliseconds, for which the first call may wait, make it known to a few hundred-thousandths. The rate of a processor does not
 * change: where it seems to, the machine was asleep or moved meanwhile, and measuring it begins again. */
PyObject *
assay_tune(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
#if ASSAY_HAS_TICKS
    static int tuned;
    long long tick, time;
    if (!assay_by_counter)
        Py_RETURN_NONE;
    do
        read_both(&tick, &time);
    while (!tuned && time - first_time < SHORTEST);
    double length = tick > first_tick ? (double)(time - first_time) / (double)(tick - first_tick) : 0.0;
    double change = tuned ? length / assay_tick - 1.0 : 0.0;
    if (change > LARGEST_CHANGE || change < -LARGEST_CHANGE) {
        first_tick = tick;
        first_time = time;
    }
    else if (time - first_time >= SHORTEST && length > 0.0) {
        assay_tick = length;
        tuned = 1;
    }
#endif
    Py_RETURN_NONE;
}
