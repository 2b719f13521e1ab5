/*
 * A Ruby extension that records which functions and blocks of a project's files are entered, once
 * per epoch. Ruby enables one trace point for each file, only for that file's code, so other code
 * costs nothing; the choice of files and the use of the marks are in assay_tests_coverage.rb.
 *
 * It is compiled without Ruby's headers, for any Ruby that loads it: of `VALUE` it assumes only
 * what holds since Ruby 2.0, small integers (2n + 1) and false (0), and uses Ruby's functions for
 * everything else. It needs no C library either. All of it runs under Ruby's global lock.
 */
#include <stddef.h>
#include <stdint.h>

typedef uintptr_t VALUE;
typedef VALUE (*function)();

extern VALUE rb_define_module(const char *);
extern void rb_define_singleton_method(VALUE, const char *, function, int);
extern VALUE rb_tracepoint_new(VALUE, uint32_t, void (*)(VALUE, void *), void *);
extern void *rb_tracearg_from_tracepoint(VALUE);
extern VALUE rb_tracearg_lineno(void *);
extern VALUE rb_str_new(const char *, long);
extern VALUE rb_str_length(VALUE);
extern char *rb_string_value_ptr(volatile VALUE *);
extern VALUE rb_funcall(VALUE, uintptr_t, int, ...);
extern uintptr_t rb_intern(const char *);
extern void *ruby_xcalloc(size_t, size_t);
extern void *ruby_xrealloc2(void *, size_t, size_t);
extern VALUE rb_debug_inspector_open(VALUE (*)(const void *, void *), void *);
extern VALUE rb_debug_inspector_backtrace_locations(const void *);
extern VALUE rb_debug_inspector_frame_iseq_get(const void *, long);

#define CALL 0x0008
#define B_CALL 0x0100

#define NUMBER(value) ((intptr_t)(value) >> 1)
#define VALUE_OF(number) (((VALUE)(number) << 1) | 1)

/* `seen`: the epoch in which each line was last entered. */
struct file {
    uint32_t number;
    uint32_t lines;
    uint32_t *seen;
};

static struct file **files;
static size_t files_room;
/* The file's number in the upper half, the line in the lower half. */
static uint64_t *marks;
static size_t marks_used, marks_room;
static uint32_t epoch = 1;
static char *text;
static size_t text_room;
/* In a forked process, the object notified of each mark, since the process may exit at any
 * moment. */
static VALUE told;

static void mark(struct file *file, uint32_t line)
{
    if (line >= file->lines) {
        uint32_t lines = (line + 64) * 3 / 2;
        file->seen = ruby_xrealloc2(file->seen, lines, sizeof *file->seen);
        for (uint32_t each = file->lines; each < lines; each++)
            file->seen[each] = 0;
        file->lines = lines;
    }
    if (file->seen[line] == epoch)
        return;
    file->seen[line] = epoch;
    if (marks_used == marks_room) {
        size_t room = marks_room ? marks_room * 2 : 4096;
        marks = ruby_xrealloc2(marks, room, sizeof *marks);
        marks_room = room;
    }
    marks[marks_used++] = (uint64_t)file->number << 32 | line;
    if (told)
        rb_funcall(told, rb_intern("tell_mark"), 2, VALUE_OF(file->number), VALUE_OF(line));
}

static void entered(VALUE point, void *file)
{
    mark(file, (uint32_t)NUMBER(rb_tracearg_lineno(rb_tracearg_from_tracepoint(point))));
}

static struct file *numbered(size_t number)
{
    if (number >= files_room) {
        size_t room = (number + 64) * 2;
        files = ruby_xrealloc2(files, room, sizeof *files);
        for (size_t each = files_room; each < room; each++)
            files[each] = NULL;
        files_room = room;
    }
    if (!files[number]) {
        files[number] = ruby_xcalloc(1, sizeof **files);
        files[number]->number = (uint32_t)number;
    }
    return files[number];
}

/* Returns a trace point for code of this file, not yet enabled. */
static VALUE point(VALUE self, VALUE number)
{
    (void)self;
    return rb_tracepoint_new(0, CALL | B_CALL, entered, numbered((size_t)NUMBER(number)));
}

/* Records the marks returned by `taken` again. */
static VALUE again(VALUE self, VALUE taken)
{
    const char *from = rb_string_value_ptr(&taken);
    size_t size = (size_t)NUMBER(rb_str_length(taken)) / sizeof *marks;
    for (size_t each = 0; each < size; each++) {
        uint64_t one;
        __builtin_memcpy(&one, from + each * sizeof one, sizeof one);
        mark(numbered(one >> 32), (uint32_t)one);
    }
    return self;
}

/* Starts a new epoch, in which all marks are recorded again. Returns the current position in the
 * marks. `clear` discards earlier ones. */
static VALUE begin(VALUE self, VALUE clear)
{
    (void)self;
    if (clear)
        marks_used = 0;
    if (++epoch == 0) {
        for (size_t each = 0; each < files_room; each++)
            for (uint32_t line = 0; files[each] && line < files[each]->lines; line++)
                files[each]->seen[line] = 0;
        epoch = 1;
    }
    return VALUE_OF(marks_used);
}

static VALUE used(VALUE self)
{
    (void)self;
    return VALUE_OF(marks_used);
}

/* Shellsort, since the marks are few and nearly sorted. */
static void sort(uint64_t *all, size_t size)
{
    for (size_t gap = size / 2; gap > 0; gap = gap > 2 ? gap * 5 / 11 : gap / 2)
        for (size_t each = gap; each < size; each++) {
            uint64_t one = all[each];
            size_t at = each;
            for (; at >= gap && all[at - gap] > one; at -= gap)
                all[at] = all[at - gap];
            all[at] = one;
        }
}

static VALUE taken(VALUE self, VALUE from)
{
    size_t at = (size_t)NUMBER(from);
    (void)self;
    return rb_str_new(at < marks_used ? (char *)(marks + at) : "", at < marks_used ? (long)((marks_used - at) * sizeof *marks) : 0);
}

static char *digits(char *to, uint32_t number)
{
    char reversed[10];
    int size = 0;
    do
        reversed[size++] = (char)('0' + number % 10);
    while (number /= 10);
    while (size)
        *to++ = reversed[--size];
    return to;
}

/* Returns the marks from a position on as the members of a JSON object: `"3":[12,40],"5":[1]`. */
static VALUE blocks(VALUE self, VALUE from)
{
    size_t at = (size_t)NUMBER(from);
    size_t size = at < marks_used ? marks_used - at : 0;
    (void)self;
    /* Room for the numbers and punctuation if each line is in a file of its own, preceded by a
     * sorted copy: the original order records the sequence of marks. */
    size_t room = size * (26 + sizeof *marks) + 1;
    if (room > text_room) {
        text = ruby_xrealloc2(text, room, 2);
        text_room = room * 2;
    }
    uint64_t *some = (uint64_t *)text;
    for (size_t each = 0; each < size; each++)
        some[each] = marks[at + each];
    sort(some, size);
    char *begin = (char *)(some + size), *end = begin;
    for (size_t each = 0; each < size; each++) {
        if (each && some[each] == some[each - 1])
            continue;
        uint32_t file = (uint32_t)(some[each] >> 32);
        if (!each || file != (uint32_t)(some[each - 1] >> 32)) {
            if (each) {
                *end++ = ']';
                *end++ = ',';
            }
            *end++ = '"';
            end = digits(end, file);
            *end++ = '"';
            *end++ = ':';
            *end++ = '[';
        } else
            *end++ = ',';
        end = digits(end, (uint32_t)some[each]);
    }
    if (size)
        *end++ = ']';
    return rb_str_new(begin, end - begin);
}

static VALUE tell(VALUE self)
{
    told = self;
    return self;
}

static VALUE outermost(const void *inspector, void *nothing)
{
    (void)nothing;
    VALUE size = rb_funcall(rb_debug_inspector_backtrace_locations(inspector), rb_intern("size"), 0);
    return rb_debug_inspector_frame_iseq_get(inspector, NUMBER(size) - 1);
}

/* Returns the code of the outermost frame: Ruby offers no other way to find the code of the main
 * program. */
static VALUE main_code(VALUE self)
{
    (void)self;
    return rb_debug_inspector_open(outermost, NULL);
}

__attribute__((visibility("default"))) void Init_assay_marks(void)
{
    VALUE module = rb_define_module("AssayMarks");
    rb_define_singleton_method(module, "point", (function)point, 1);
    rb_define_singleton_method(module, "begin", (function)begin, 1);
    rb_define_singleton_method(module, "used", (function)used, 0);
    rb_define_singleton_method(module, "again", (function)again, 1);
    rb_define_singleton_method(module, "taken", (function)taken, 1);
    rb_define_singleton_method(module, "blocks", (function)blocks, 1);
    rb_define_singleton_method(module, "tell", (function)tell, 0);
    rb_define_singleton_method(module, "main_code", (function)main_code, 0);
}
