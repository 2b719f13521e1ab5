/* Small functions on texts, of kinds that are common in C programs: loops over bytes, tables, early
 * returns, a cleanup after a label. */

#include "text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Encodes this number of bytes in base 64. Returns the length, without the terminating zero. */
size_t base64(char *into, const unsigned char *from, size_t length)
{
    size_t at = 0, i;
    for (i = 0; i + 2 < length; i += 3) {
        uint32_t three = (uint32_t)from[i] << 16 | (uint32_t)from[i + 1] << 8 | from[i + 2];
        into[at++] = DIGITS[three >> 18];
        into[at++] = DIGITS[three >> 12 & 63];
        into[at++] = DIGITS[three >> 6 & 63];
        into[at++] = DIGITS[three & 63];
    }
    if (i < length) {
        uint32_t rest = (uint32_t)from[i] << 16;
        if (i + 1 < length)
            rest |= (uint32_t)from[i + 1] << 8;
        into[at++] = DIGITS[rest >> 18];
        into[at++] = DIGITS[rest >> 12 & 63];
        into[at++] = i + 1 < length ? DIGITS[rest >> 6 & 63] : '=';
        into[at++] = '=';
    }
    into[at] = 0;
    return at;
}

/* Returns the checksum of Ethernet and gzip. */
uint32_t crc32_of(const unsigned char *bytes, size_t length)
{
    uint32_t sum = 0xffffffffu;
    size_t i;
    int bit;
    for (i = 0; i < length; i++) {
        sum ^= bytes[i];
        for (bit = 0; bit < 8; bit++)
            sum = sum & 1 ? sum >> 1 ^ 0xedb88320u : sum >> 1;
    }
    return ~sum;
}

/* Returns true if the bytes are UTF-8, without surrogates and overlong forms. */
int is_utf8(const unsigned char *bytes, size_t length)
{
    size_t i = 0;
    while (i < length) {
        unsigned char first = bytes[i];
        int more;
        uint32_t code;
        if (first < 0x80) {
            i++;
            continue;
        }
        if (first >= 0xc2 && first <= 0xdf) {
            more = 1;
            code = first & 0x1f;
        } else if (first >= 0xe0 && first <= 0xef) {
            more = 2;
            code = first & 0x0f;
        } else if (first >= 0xf0 && first <= 0xf4) {
            more = 3;
            code = first & 0x07;
        } else {
            return 0;
        }
        if (i + (size_t)more >= length)
            return 0;
        for (int k = 1; k <= more; k++) {
            if ((bytes[i + (size_t)k] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (bytes[i + (size_t)k] & 0x3f);
        }
        if (more == 2 && (code < 0x800 || (code >= 0xd800 && code <= 0xdfff)))
            return 0;
        if (more == 3 && (code < 0x10000 || code > 0x10ffff))
            return 0;
        i += (size_t)more + 1;
    }
    return 1;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns the number of letters to insert, remove or replace; -1 if there is not enough memory. */
long distance(const char *a, const char *b)
{
    size_t of_a = strlen(a), of_b = strlen(b), i, j;
    long result = -1;
    size_t *row = malloc((of_b + 1) * sizeof *row);
    if (!row)
        goto out;
    for (j = 0; j <= of_b; j++)
        row[j] = j;
    for (i = 1; i <= of_a; i++) {
        size_t before = row[0];
        row[0] = i;
        for (j = 1; j <= of_b; j++) {
            size_t above = row[j];
            size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = least(least(row[j] + 1, row[j - 1] + 1), before + cost);
            before = above;
        }
    }
    result = (long)row[of_b];
out:
    free(row);
    return result;
}

/* Returns true if a name matches a pattern with `*` and `?`. */
int matches(const char *pattern, const char *name)
{
    const char *star = NULL, *kept = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            kept = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++kept;
        } else {
            return 0;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == 0;
}

/* Writes a number from 1 to 3999 as a Roman numeral; returns 0 for other numbers. */
int roman(char *into, int number)
{
    static const struct {
        int value;
        const char *sign;
    } SIGNS[] = {
        {1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"},
        {40, "XL"},  {10, "X"},   {9, "IX"},  {5, "V"},    {4, "IV"},  {1, "I"},
    };
    size_t i;
    into[0] = 0;
    if (number < 1 || number > 3999)
        return 0;
    for (i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++) {
        while (number >= SIGNS[i].value) {
            strcat(into, SIGNS[i].sign);
            number -= SIGNS[i].value;
        }
    }
    return 1;
}

/* Parses a decimal number with an optional sign; returns 0 if it is invalid or too large. */
int number_of(const char *text, int32_t *number)
{
    int64_t value = 0;
    int is_negative = 0;
    if (*text == '-' || *text == '+')
        is_negative = *text++ == '-';
    if (*text == 0)
        return 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return 0;
        value = value * 10 + (*text - '0');
        if (value > (int64_t)INT32_MAX + is_negative)
            return 0;
    }
    *number = (int32_t)(is_negative ? -value : value);
    return 1;
}

/* Replaces each run of equal bytes by its length and the byte. */
size_t packed(unsigned char *into, const unsigned char *from, size_t length)
{
    size_t at = 0, i = 0;
    while (i < length) {
        size_t count = 1;
        while (i + count < length && count < 255 && from[i + count] == from[i])
            count++;
        into[at++] = (unsigned char)count;
        into[at++] = from[i];
        i += count;
    }
    return at;
}
