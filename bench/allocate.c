/* A program that only allocates and frees, so that the cost of counting allocations cannot be
 * hidden.
 *
 *     allocate TIMES SIZE LIVE
 *
 * TIMES times it frees a block of 16 to 16 + SIZE bytes and allocates a new one, with LIVE blocks
 * at a time.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_LIVE = 4096 };

int main(int argc, char **argv)
{
    static char *volatile block[MOST_LIVE];
    if (argc != 4) {
        fprintf(stderr, "usage: allocate TIMES SIZE LIVE\n");
        return 2;
    }
    long times = atol(argv[1]), size = atol(argv[2]), live = atol(argv[3]);
    if (times < 0 || size < 1 || live < 1 || live > MOST_LIVE)
        return 2;
    uint64_t random = 88172645463325252u;
    for (long i = 0; i < times; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        long place = i % live;
        free(block[place]);
        block[place] = malloc(16 + random % (uint64_t)size);
        if (!block[place])
            return 1;
        block[place][0] = 1;
    }
    return 0;
}
