/*
 * The smallest honest program under test: static, does nothing, needs about 0.6 MiB of memory. A
 * tool that reports more includes some of its own.
 *
 *     cc -O2 -static -o tiny tiny.c
 */
int main(void)
{
    return 0;
}
