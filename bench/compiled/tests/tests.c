/* Tests of text.c, as TAP. */

#include "../text.h"

#include <stdio.h>
#include <string.h>

static int number, failed;

static void ok(int is, const char *what)
{
    printf("%s %d - %s\n", is ? "ok" : "not ok", ++number, what);
    failed |= !is;
}

static int base64_is(const char *from, const char *to)
{
    char into[64];
    size_t length = base64(into, (const unsigned char *)from, strlen(from));
    return length == strlen(to) && strcmp(into, to) == 0;
}

static int utf8(const char *text)
{
    return is_utf8((const unsigned char *)text, strlen(text));
}

static int roman_is(int value, const char *to)
{
    char into[32];
    return roman(into, value) == (*to != 0) && strcmp(into, to) == 0;
}

static int number_is(const char *text, int32_t value)
{
    int32_t found = 0;
    return number_of(text, &found) && found == value;
}

static int no_number(const char *text)
{
    int32_t found = 0;
    return !number_of(text, &found);
}

int main(void)
{
    unsigned char into[64];
    puts("1..16");
    ok(base64_is("", "") && base64_is("f", "Zg==") && base64_is("fo", "Zm8="), "base64, short");
    ok(base64_is("foobar", "Zm9vYmFy") && base64_is("\377\376\375", "//79"), "base64");
    ok(crc32_of((const unsigned char *)"123456789", 9) == 0xcbf43926u, "crc32");
    ok(utf8("") && utf8("abc") && utf8("\303\251") && utf8("\342\202\254") && utf8("\360\237\230\200"), "utf-8");
    ok(!utf8("\200") && !utf8("\303") && !utf8("\300\200") && !utf8("\340\200\200"), "utf-8, broken");
    ok(!utf8("\355\240\200") && !utf8("\364\220\200\200") && !utf8("\365\200\200\200"), "utf-8, no code");
    ok(distance("kitten", "sitting") == 3 && distance("", "abc") == 3 && distance("abc", "") == 3, "distance");
    ok(distance("same", "same") == 0 && distance("ab", "ba") == 2, "distance, few");
    ok(matches("*.c", "text.c") && matches("t?xt.*", "text.c") && matches("*", ""), "pattern");
    ok(!matches("*.h", "text.c") && !matches("?", "") && !matches("a", "ab") && matches("*a*b", "aabab"), "no pattern");
    ok(roman_is(1, "I") && roman_is(1994, "MCMXCIV") && roman_is(3999, "MMMCMXCIX"), "roman");
    ok(roman_is(0, "") && roman_is(4000, "") && roman_is(448, "CDXLVIII"), "roman, bounds");
    ok(number_is("0", 0) && number_is("-12", -12) && number_is("+7", 7), "number");
    ok(number_is("2147483647", 2147483647) && no_number("2147483648") && no_number("-"), "number, bounds");
    ok(no_number("") && no_number("1x") && no_number("x") && number_is("-2147483648", INT32_MIN), "no number");
    ok(packed(into, (const unsigned char *)"aaab", 4) == 4 && memcmp(into, "\003a\001b", 4) == 0, "packed");
    return failed;
}
