/*
 * A program under test that only computes: a chain of dependent multiplications, whose number is
 * the argument. Two counts that differ by 2 % differ by exactly 2 % in work, whatever the processor
 * does; static, so that no loader adds noise.
 *
 *     cc -O2 -static -o spin spin.c && ./spin 001600000
 */
#include <stdint.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    uint64_t x = 1;
    for (long left = strtol(argv[1], NULL, 10); left > 0; left--)
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    /* Stored in a visible place, so that no compiler can remove the chain. */
    volatile uint64_t last = x;
    (void)last;
    return 0;
}
