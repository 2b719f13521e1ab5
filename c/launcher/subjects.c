/*
 * The subjects: the commands that assay wants to run, stored from their addition until the launcher
 * ends. They are only parsed and looked up here; run.c runs them.
 */
#include "rooms.h"
#include "system.h"

enum { MOST_SUBJECTS = 65536 };

static const struct subject *subjects[MOST_SUBJECTS]; /* only the pages in use are resident */
static uint32_t subject_count;

char *next_string(char **at, const char *end)
{
    char *string = *at;
    char *p = string;
    while (p < end && *p)
        p++;
    *at = p + 1;
    return p < end ? string : NULL;
}

static int read_subject(char *text, size_t length, struct subject *s, char **pointers)
{
    const struct subject_header *header = (const struct subject_header *)text;
    const char *end = text + length;
    char *at = text + sizeof *header;
    s->path = next_string(&at, end);
    s->directory = next_string(&at, end);
    s->input = next_string(&at, end);
    s->output_file = next_string(&at, end);
    s->arguments = pointers;
    for (uint32_t i = 0; i < header->arguments; i++)
        if (!(*pointers++ = next_string(&at, end)))
            return 0;
    *pointers++ = NULL;
    s->environment = pointers;
    for (uint32_t i = 0; i < header->variables; i++)
        if (!(*pointers++ = next_string(&at, end)))
            return 0;
    s->variables = header->variables; /* followed by the slot of the padding, and the end */
    s->output = header->output;
    s->settings = header->settings;
    s->fifo = header->fifo;
    s->nice = header->nice;
    s->cpus = header->cpus;
    return s->path && s->directory && s->input && s->output_file;
}

void add(const struct request *request, struct reply *reply)
{
    size_t length = request->payload;
    char *text = receive_payload(length);
    const struct subject_header *header = (const struct subject_header *)text;
    reply->step = STEP_REQUEST;
    reply->error = EINVAL;
    if (length < sizeof *header || header->arguments > length || header->variables > length)
        return;
    if (subject_count == MOST_SUBJECTS) {
        reply->error = ENOSPC;
        return;
    }
    size_t pointers = (size_t)header->arguments + header->variables + 3;
    struct subject *s = memory(sizeof *s + pointers * sizeof(char *));
    if (!s) {
        reply->step = STEP_MEMORY;
        reply->error = ENOMEM;
        return;
    }
    if (!read_subject(text, length, s, (char **)(s + 1)))
        return;
    subjects[subject_count++] = s;
    reply->step = STEP_NONE;
    reply->error = 0;
}

const struct subject *subject_of(uint32_t number)
{
    return number < subject_count ? subjects[number] : NULL;
}
