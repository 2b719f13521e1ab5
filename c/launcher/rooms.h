/*
 * What the rooms of the launcher know of each other: the few variables that they share, and what each can be asked for. Each says at
 * its own top what it is for.
 */
#ifndef ASSAY_LAUNCHER_ROOMS_H
#define ASSAY_LAUNCHER_ROOMS_H

#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

struct subject {
    const char *path, *directory, *input, *output_file;
    char **arguments;
    char **environment;
    uint32_t variables;
    uint32_t output;
    uint32_t settings;
    int fifo, nice;
    const uint64_t *cpus;
};

/* The descriptors of the launcher. Those that came along with a request land in GIVEN_1 and after it. */
enum { SAMPLES = 7, CONTROL = 10, OUR_STDOUT, OUR_STDERR, NOTHING, HOME, GIVEN_1 };
enum { MOST_GIVEN = 3, MOST_PADDING = 4095 };

/* launcher.c: the page that is shared with assay, and the stream of its requests. The end of the stream is our end. */
extern struct page *page;
char *receive_payload(size_t length);
int fail(struct reply *reply, uint32_t step, long result);

/* processor.c: the child of spawn calls entry() on its own stack, and never comes back. */
long spawn(unsigned long flags, void *stack_top, volatile int *parent_tid, void (*entry)(void));

/* signals.c */
void arrange_signals(void);
__attribute__((noreturn)) void end_all(void);

/* guard.c: how many values of files are remembered, and whether they are just being written back. */
extern volatile uint32_t remembered_count;
extern volatile int restoring;
void remember(const struct request *request, struct reply *reply);
__attribute__((noreturn)) void restore_and_leave(void);

/* subjects.c: a subject is found by the number that its addition had, from 0; NULL: there is none. */
void add(const struct request *request, struct reply *reply);
const struct subject *subject_of(uint32_t number);
char *next_string(char **at, const char *end);

/* settings.c: what is taken on for a subject, given back after it, and what its child lowers itself to; 0: it keeps what it
 * inherits. What fails is a negative errno, or the reply's failure. */
extern int child_fifo;
long pin(const struct subject *s);
long fix_layout(void);
long take_priority(const struct subject *s);
void give_back(struct reply *reply);

/* strays.c */
void take_in_orphans(int yes);
struct rusage;
void clear_strays(struct rusage *usage, struct reply *reply);
void end_strays(void);

/* run.c */
void arrange_padding(void);
void run(const struct request *request, int given, struct reply *reply);

#endif
