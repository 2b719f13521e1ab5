/* The parts shared by both versions, and the copy in two versions: with -DUP_FRONT it makes one
 * allocation for all parameters; without, the list grows with every parameter. */
#include "element.h"

#include <stdlib.h>
#include <string.h>

struct parameter {
    char *name;
    char *value;
};

struct element {
    char *name;
    struct parameter *parameters;
    size_t count;
};

struct element *element_new(const char *name) {
    struct element *element = calloc(1, sizeof *element);
    if (!element) return NULL;
    element->name = strdup(name);
    if (!element->name) {
        free(element);
        return NULL;
    }
    return element;
}

static int fill(struct parameter *place, const char *name, const char *value) {
    place->name = strdup(name);
    place->value = strdup(value);
    if (place->name && place->value) return 1;
    free(place->name);
    free(place->value);
    return 0;
}

int element_add(struct element *element, const char *name, const char *value) {
    size_t bytes = (element->count + 1) * sizeof *element->parameters;
    struct parameter *grown = realloc(element->parameters, bytes);
    if (!grown) return 0;
    element->parameters = grown;
    if (!fill(&grown[element->count], name, value)) return 0;
    element->count++;
    return 1;
}

struct element *element_copy(const struct element *original) {
    struct element *copy = element_new(original->name);
    if (!copy) return NULL;
#ifdef UP_FRONT
    if (original->count > 0) {
        copy->parameters = malloc(original->count * sizeof *copy->parameters);
        if (!copy->parameters) goto failed;
    }
#endif
    for (size_t i = 0; i < original->count; i++) {
        const struct parameter *from = &original->parameters[i];
#ifdef UP_FRONT
        if (!fill(&copy->parameters[i], from->name, from->value)) goto failed;
        copy->count++;
#else
        if (!element_add(copy, from->name, from->value)) goto failed;
#endif
    }
    return copy;
failed:
    element_free(copy);
    return NULL;
}

size_t element_count(const struct element *element) {
    return element->count;
}

void element_free(struct element *element) {
    if (!element) return;
    for (size_t i = 0; i < element->count; i++) {
        free(element->parameters[i].name);
        free(element->parameters[i].value);
    }
    free(element->parameters);
    free(element->name);
    free(element);
}
