/* Measures the duration of a tick of the processor's counter. Reading the counter takes a third of the
 * time of reading the clock, but it is only reliable if its rate is constant and equal on all
 * processors. The kernel checks this and otherwise stops using it as its clock source, so the
 * kernel's choice decides here too. */
#include "speedups.h"

int assay_by_counter;
double assay_tick = 1.0;

#if ASSAY_HAS_TICKS
#define SHORTEST 2000000 /* nanoseconds */
#define LARGEST_CHANGE 1e-3

static long long first_tick, first_time;

/* A counter value and a time of the same moment: the closest of several pairs. */
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

/* tune(): recomputes the duration of a tick over the whole time since the import, so that it becomes
 * more accurate with time. Two milliseconds, for which the first call may wait, give an accuracy of
 * a few hundred-thousandths. The rate of a processor is constant: if it appears to change, the
 * machine was suspended or migrated, and the measurement starts again. */
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
