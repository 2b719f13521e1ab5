/* Small deeds with known allocations, one for each first argument. Nothing here prints but by write, for printf allocates. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay_alloc.h"

static void say(const char *text)
{
    if (write(1, text, strlen(text)) < 0)
        _exit(9);
}

static void say_number(uint64_t number)
{
    char digits[24];
    char *p = digits + sizeof digits - 1;
    *p = 0;
    *--p = ' ';
    do
        *--p = (char)('0' + number % 10);
    while (number /= 10);
    say(p);
}

static void must(int is_so, const char *what)
{
    if (!is_so) {
        say(what);
        _exit(1);
    }
}

static void some(int count)
{
    for (int i = 0; i < count; i++) {
        char *volatile p = malloc(100);
        p[99] = 1;
        free(p);
    }
}

/* Every function, with what it should come to. */
static uint64_t allocations, reallocs, frees, asked, freed, live, peak;

static void *given(void *p, size_t size)
{
    must(p != NULL, "no memory");
    allocations++;
    asked += size;
    live += malloc_usable_size(p);
    peak = live > peak ? live : peak;
    return p;
}

static void *resized(void *p, size_t size, size_t old)
{
    must(p != NULL, "no memory");
    reallocs++;
    asked += size;
    freed += old;
    live += malloc_usable_size(p) - old;
    peak = live > peak ? live : peak;
    return p;
}

static void give_back(void *p)
{
    frees++;
    freed += malloc_usable_size(p);
    live -= malloc_usable_size(p);
    free(p);
}

static void calls(void)
{
    volatile size_t too_much = SIZE_MAX / 2;
    void *block[16], *aligned = NULL;
    int n = 0;
    block[n++] = given(malloc(100), 100);
    block[n++] = given(malloc(0), 0);
    block[n++] = given(calloc(10, 30), 300);
    block[n++] = given(realloc(NULL, 50), 50);
    block[n++] = given(aligned_alloc(64, 640), 640);
    block[n++] = given(memalign(4096, 10), 10);
    block[n++] = given(valloc(10), 10);
    block[n++] = given(pvalloc(10), 10);
    must(posix_memalign(&aligned, 256, 1000) == 0, "posix_memalign");
    block[n++] = given(aligned, 1000);
    block[n++] = given(reallocarray(NULL, 20, 20), 400);
    /* One with a mapping of its own, and one that grows into one. */
    block[n++] = given(malloc(10 << 20), 10 << 20);
    size_t old = malloc_usable_size(block[0]);
    block[0] = resized(realloc(block[0], 3 << 20), 3 << 20, old);
    old = malloc_usable_size(block[2]);
    block[2] = resized(reallocarray(block[2], 5, 5), 25, old);
    give_back(block[10]);
    block[10] = given(malloc(200), 200);
    /* Nothing of this counts. */
    free(NULL);
    must(malloc(too_much) == NULL && errno == ENOMEM, "malloc");
    must(calloc(too_much, 4) == NULL && errno == ENOMEM, "calloc");
    must(realloc(block[1], too_much) == NULL && errno == ENOMEM, "realloc");
    errno = 0;
    must(reallocarray(block[1], too_much, 4) == NULL && errno == ENOMEM, "reallocarray");
    must(posix_memalign(&aligned, 3, 10) == EINVAL, "posix_memalign");
    for (int i = 1; i < n; i++)
        give_back(block[i]);
    /* Frees, or resizes to nothing: the C library decides. */
    old = malloc_usable_size(block[0]);
    void *rest = realloc(block[0], 0);
    if (rest) {
        resized(rest, 0, old);
    } else {
        frees++;
        freed += old;
    }
    say_number(allocations);
    say_number(reallocs);
    say_number(frees);
    say_number(asked);
    say_number(freed);
    say_number(peak);
}

static void snapshot(void)
{
    struct assay_alloc_counts before, after;
    if (!assay_alloc_snapshot) {
        say("not counted\n");
        return;
    }
    must(assay_alloc_snapshot(&before), "counted");
    some(7);
    must(assay_alloc_snapshot(&after), "counted");
    must(after.frees - before.frees == 7, "frees");
    must(after.live_bytes == before.live_bytes, "live");
    must(after.peak_bytes >= before.peak_bytes, "peak");
    say_number(after.allocations - before.allocations);
    say_number(after.allocated_bytes - before.allocated_bytes);
}

/* Threads. */
static pthread_barrier_t all_here;
static int calls_of_each;

static void *work(void *wait)
{
    if (wait)
        pthread_barrier_wait(&all_here);
    some(calls_of_each);
    if (wait)
        pthread_barrier_wait(&all_here);
    return NULL;
}

static void together(int threads)
{
    static pthread_t thread[1000];
    pthread_barrier_init(&all_here, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++)
        must(pthread_create(&thread[i], NULL, work, &all_here) == 0, "pthread_create");
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
}

static void by_turns(int threads)
{
    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        must(pthread_create(&thread, NULL, work, NULL) == 0, "pthread_create");
        pthread_join(thread, NULL);
    }
}

static void *hold_some(void *unused)
{
    void *volatile block[10];
    uint64_t all = 0;
    for (int i = 0; i < 10; i++) {
        block[i] = malloc(9000);
        all += malloc_usable_size(block[i]);
    }
    __atomic_fetch_add(&live, all, __ATOMIC_RELAXED);
    pthread_barrier_wait(&all_here);
    for (int i = 0; i < 10; i++)
        free(block[i]);
    return unused;
}

static void hold(int threads)
{
    static pthread_t thread[1000];
    pthread_barrier_init(&all_here, NULL, (unsigned)threads);
    for (int i = 1; i < threads; i++)
        must(pthread_create(&thread[i], NULL, hold_some, NULL) == 0, "pthread_create");
    hold_some(NULL);
    for (int i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
    say_number(live);
}

/* Children. */
static int by_fork(void)
{
    return fork();
}

static int by_raw_clone(void)
{
    return (int)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static void end_well(int child)
{
    int status;
    must(child > 0 && waitpid(child, &status, 0) == child && status == 0, "child");
}

static void family(int (*begin)(void))
{
    void *inherited[10];
    for (int i = 0; i < 10; i++)
        inherited[i] = malloc(1000);
    int child = begin();
    if (child == 0) {
        some(20);
        for (int i = 0; i < 10; i++)
            free(inherited[i]);
        int grandchild = begin();
        if (grandchild == 0) {
            free(malloc(5));
            _exit(0);
        }
        end_well(grandchild);
        _exit(0);
    }
    end_well(child);
    for (int i = 0; i < 10; i++)
        free(inherited[i]);
}

static void *endless(void *unused)
{
    for (;;)
        some(100);
    return unused;
}

static void daemon_like(void)
{
    some(1);
    int child = fork();
    if (child == 0) {
        setsid();
        if (chdir("/") < 0)
            _exit(9);
        for (int fd = 0; fd < 1024; fd++)
            close(fd);
        open("/dev/null", O_RDWR);
        some(77);
        _exit(0);
    }
    end_well(child);
}

/* Becomes, or starts, the program that is named, by the function that is named. */
static void run(const char *how, char *program)
{
    char *words[] = {program, NULL}, *bare[] = {"A=b", NULL};
    pid_t child;
    if (!strcmp(how, "execve"))
        execve(program, words, environ);
    else if (!strcmp(how, "execv"))
        execv(program, words);
    else if (!strcmp(how, "execvp"))
        execvp(program, words);
    else if (!strcmp(how, "execvpe"))
        execvpe(program, words, environ);
    else if (!strcmp(how, "execl"))
        execl(program, program, NULL);
    else if (!strcmp(how, "execlp"))
        execlp(program, program, NULL);
    else if (!strcmp(how, "execle"))
        execle(program, program, NULL, bare);
    else if (!strcmp(how, "posix_spawn") && !posix_spawn(&child, program, NULL, NULL, words, environ))
        end_well(child);
    else if (!strcmp(how, "posix_spawnp") && !posix_spawnp(&child, program, NULL, NULL, words, environ))
        end_well(child);
}

int main(int count, char **argument)
{
    const char *deed = count > 1 ? argument[1] : "nothing";
    if (!strcmp(deed, "errno")) {
        errno = 77;
        char *volatile p = malloc(10);
        free(p);
        must(errno == 77, "errno");
    } else if (!strcmp(deed, "calls")) {
        calls();
    } else if (!strcmp(deed, "plain")) {
        some(40);
        for (int i = 0; i < 10; i++)
            *(char *volatile)malloc(100) = 1;
    } else if (!strcmp(deed, "snapshot")) {
        snapshot();
    } else if (!strcmp(deed, "together")) {
        calls_of_each = atoi(argument[3]);
        together(atoi(argument[2]));
    } else if (!strcmp(deed, "by-turns")) {
        calls_of_each = atoi(argument[3]);
        by_turns(atoi(argument[2]));
    } else if (!strcmp(deed, "hold")) {
        hold(atoi(argument[2]));
    } else if (!strcmp(deed, "fork")) {
        family(by_fork);
    } else if (!strcmp(deed, "raw-fork")) {
        family(by_raw_clone);
    } else if (!strcmp(deed, "threads-fork")) {
        pthread_t thread;
        pthread_create(&thread, NULL, endless, NULL);
        usleep(2000);
        family(by_fork);
    } else if (!strcmp(deed, "bare-environment")) {
        clearenv();
        family(by_fork);
    } else if (!strcmp(deed, "exec")) {
        some(5);
        execl("/proc/self/exe", "kit", "nothing", NULL);
        return 9;
    } else if (!strcmp(deed, "spawn")) {
        pid_t child;
        char *words[] = {"kit", "nothing", NULL};
        must(posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ) == 0, "posix_spawn");
        end_well(child);
    } else if (!strcmp(deed, "run")) {
        run(argument[2], argument[3]);
        /* A spawned program has ended well; who became another does not come here. */
        return !strncmp(argument[2], "posix", 5) ? 0 : 9;
    } else if (!strcmp(deed, "_exit")) {
        some(1234);
        _exit(0);
    } else if (!strcmp(deed, "kill")) {
        some(1234);
        raise(SIGKILL);
    } else if (!strcmp(deed, "abort")) {
        some(1234);
        abort();
    } else if (!strcmp(deed, "daemon")) {
        daemon_like();
    } else if (!strcmp(deed, "endless")) {
        endless(NULL);
    }
    return 0;
}
