#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdint.h>

size_t base64(char *into, const unsigned char *from, size_t length);
uint32_t crc32_of(const unsigned char *bytes, size_t length);
int is_utf8(const unsigned char *bytes, size_t length);
long distance(const char *a, const char *b);
int matches(const char *pattern, const char *name);
int roman(char *into, int number);
int number_of(const char *text, int32_t *number);
size_t packed(unsigned char *into, const unsigned char *from, size_t length);

#endif
