/*
 * Declarations shared by the parts of the launcher: the few common variables, and the functions of
 * each part, which is described at the top of its file.
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

/* The launcher's own descriptors. Those sent along with a request become GIVEN_1 and following. */
enum { SAMPLES = 7, CONTROL = 10, OUR_STDOUT, OUR_STDERR, NOTHING, HOME, GIVEN_1 };
enum { MOST_GIVEN = 3, MOST_PADDING = 4095 };

/* launcher.c: the page shared with assay, and the stream of its requests. The end of the stream
 * ends the launcher. */
extern struct page *page;
char *receive_payload(size_t length);
int fail(struct reply *reply, uint32_t step, long result);

/* processor.c: the child of spawn calls entry() on its own stack, and never returns. */
long spawn(unsigned long flags, void *stack_top, volatile int *parent_tid, void (*entry)(void));

/* signals.c */
void arrange_signals(void);
__attribute__((noreturn)) void end_all(void);

/* guard.c: the number of stored values, and whether they are being restored. */
extern volatile uint32_t remembered_count;
extern volatile int restoring;
void remember(const struct request *request, struct reply *reply);
__attribute__((noreturn)) void restore_and_leave(void);

/* subjects.c: finds a subject by its index in order of addition, from 0; NULL if there is none. */
void add(const struct request *request, struct reply *reply);
const struct subject *subject_of(uint32_t number);
char *next_string(char **at, const char *end);

/* settings.c: the settings applied for a subject and restored after it, and the priority to
 * which its child lowers itself; 0 if it keeps the inherited one. Failures are returned as a
 * negative errno, or in the reply. */
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
