/* A small record with a name and parameters, such as a logging library copies for every message. */
#ifndef ELEMENT_H
#define ELEMENT_H

#include <stddef.h>

struct element;

/* Creates an element without parameters; returns NULL if there is not enough memory. */
struct element *element_new(const char *name);
/* Appends a parameter; returns 0 if there is not enough memory. */
int element_add(struct element *element, const char *name, const char *value);
/* Returns a copy that shares nothing with the original, or NULL if there is not enough memory. The
 * two versions differ only in this. */
struct element *element_copy(const struct element *original);
/* Number of parameters. */
size_t element_count(const struct element *element);
void element_free(struct element *element);

#endif
