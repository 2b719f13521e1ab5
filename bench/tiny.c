/*
 * The smallest honest program under test: static, does nothing, needs about 0.6 MiB of memory.
 * Whoever reports more for it reports some of his own.
 *
 *     cc -O2 -static -o tiny tiny.c
 */
int main(void)
{
    return 0;
}
