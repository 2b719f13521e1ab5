/*
 * The protocol between assay and the launcher. `measure/src/wire.rs` is the other half, and must be
 * changed together with this file. The byte order is the machine's own, since both ends are one
 * program.
 */
#ifndef ASSAY_LAUNCHER_PROTOCOL_H
#define ASSAY_LAUNCHER_PROTOCOL_H

#include <stdint.h>

enum { HELLO = 1, ADD = 2, RUN = 3, REMEMBER = 4 };
/* Flags for the descriptors sent along, in this order. */
enum { REQUEST_STDOUT = 1, REQUEST_STDERR = 2, REQUEST_SAMPLES = 4 };
/* Processes left behind by the command are killed, wherever they are. */
enum { REQUEST_ALONE = 8 };
enum { OUTPUT_NULL = 0, OUTPUT_INHERIT = 1, OUTPUT_PIPE = 2, OUTPUT_FILE = 3 };
enum { STEP_NONE, STEP_REQUEST, STEP_MEMORY, STEP_STDIN, STEP_STDOUT, STEP_STDERR, STEP_CHDIR,
       STEP_SPAWN, STEP_EXEC, STEP_WAIT, STEP_PIN, STEP_FIFO, STEP_NICE, STEP_ASLR };
enum { PIN = 1, FIFO = 2, NICE = 4, NO_ASLR = 8 }; /* settings of a subject's processes */
enum { PIN_WORDS = 16 };                           /* 1024 processors */
enum { TIMED_OUT = 1, WANTED_TERMINAL = 2, LEFT_BEHIND = 4, STOPPED = 8 };

struct request {
    uint32_t kind;
    uint32_t subject;
    uint64_t payload;    /* bytes that follow: only for ADD and REMEMBER */
    uint64_t timeout_ns; /* 0: none */
    uint32_t padding;    /* length of ASSAY_PAD's value */
    uint32_t flags;
};

/* The payload of ADD begins with this struct, followed by, each terminated by a zero byte: path,
 * directory, stdin, stdout file, the arguments, the environment. An empty string means "not
 * given". */
struct subject_header {
    uint32_t arguments;
    uint32_t variables;
    uint32_t output;
    uint32_t settings;
    int32_t fifo;
    int32_t nice;
    uint64_t cpus[PIN_WORDS];
};

struct reply {
    uint32_t step; /* what failed, or STEP_NONE */
    int32_t error; /* its errno */
    int32_t status;
    uint32_t flags;
    uint64_t start_ns, end_ns;
    uint64_t user_us, system_us;
    uint64_t max_rss_kib;
    uint64_t minor_faults, major_faults;
    uint64_t block_in, block_out;
    uint64_t voluntary, involuntary;
};

/* Shared with `assay`, which kills this group if the launcher is killed. */
struct page {
    volatile int32_t group;
};

#endif
