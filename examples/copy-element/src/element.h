/* A small record with a name and parameters, as a logging library would hold one: what is copied for every message. */
#ifndef ELEMENT_H
#define ELEMENT_H

#include <stddef.h>

struct element;

/* A new element without parameters, or NULL without memory. */
struct element *element_new(const char *name);
/* Appends a parameter; 0 without memory. */
int element_add(struct element *element, const char *name, const char *value);
/* A copy that shares nothing with the original, or NULL without memory. This is what the two versions do differently. */
struct element *element_copy(const struct element *original);
/* Number of parameters. */
size_t element_count(const struct element *element);
void element_free(struct element *element);

#endif
