/*
 * A neighbor that uses all it can get of one processor. It ends by itself after the given number
 * of seconds (at most an hour), and with its starter, so that none is ever left behind.
 *
 *     cc -O2 -o busy busy.c && ./busy 60
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    long seconds = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
    if (seconds < 1 || seconds > 3600)
        return 2;
    pid_t starter = getppid();
    if (prctl(PR_SET_PDEATHSIG, SIGKILL))
        return 1;
    /* The starter may have ended before the signal was requested. */
    if (getppid() != starter)
        return 1;
    alarm((unsigned)seconds);
    for (volatile unsigned long turns = 0;; turns++)
        ;
}
