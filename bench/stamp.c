/*
 * Records when it was started, and the content of a file at that time: appends a line to another
 * file with the time in nanoseconds of CLOCK_MONOTONIC and the file's first word. Run by watchers
 * of files.
 *
 *     cc -O2 -static -o stamp stamp.c && ./stamp LOG FILE
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    if (argc != 3) {
        fprintf(stderr, "usage: stamp LOG FILE\n");
        return 2;
    }
    char word[64] = "";
    int file = open(argv[2], O_RDONLY);
    ssize_t length = file < 0 ? 0 : read(file, word, sizeof word - 1);
    word[length > 0 ? strcspn(word, " \n") : 0] = 0;
    char line[128];
    int end = snprintf(line, sizeof line, "%lld %s\n", t.tv_sec * 1000000000LL + t.tv_nsec, word);
    int log = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
    return log < 0 || write(log, line, end) != end;
}
