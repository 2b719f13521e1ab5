// A program whose time grows by one planted cause: KIND selects it, and -DMORE=1 plants it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifndef MORE
#define MORE 0
#endif

static volatile uint32_t sink;

// About 20 ms of work that both sides share.
__attribute__((noinline)) static uint32_t common(uint32_t x) {
    for (int i = 0; i < 12000000; i++) x = x * 1664525u + 1013904223u;
    return x;
}

#if KIND == 1 || KIND == 2
__attribute__((noinline)) static uint32_t inflate_block(uint32_t x) {
    for (int i = 0; i < 3000000 + MORE * 4000000; i++) x = x * 22695477u + 1u;
    return x;
}
#endif

#if KIND == 3
// The same instructions over memory that does or does not fit into the caches.
__attribute__((noinline)) static uint32_t gather(uint32_t *table, uint32_t mask) {
    uint32_t x = 1;
    for (int i = 0; i < 300000; i++) x = x * 1664525u + table[(x >> 3) & mask] + 1013904223u;
    return x;
}
#endif

#if KIND == 9
static int ends[2][2];
static void *answering(void *unused) {
    char c;
    for (int i = 0; i < 4000; i++)
        if (read(ends[0][0], &c, 1) != 1 || write(ends[1][1], &c, 1) != 1) abort();
    return unused;
}
#endif

int main(int count, char **words) {
    sink = common(count);
#if KIND == 1
    sink = inflate_block(sink);
#elif KIND == 2
    for (int i = 0; i < 3; i++) sink = inflate_block(sink);
#elif KIND == 3
    uint32_t size = MORE ? 1u << 24 : 1u << 10;
    uint32_t *table = calloc(1u << 24, sizeof *table);
    for (uint32_t i = 0; i < 1u << 24; i += 1024) table[i] = i;
    for (int i = 0; i < 4; i++) sink = gather(table, size - 1);
#elif KIND == 4
    for (int i = 0; i < 20000 + MORE * 400000; i++) {
        char *own = malloc(64 + i % 64);
        own[0] = (char)i;
        sink += own[0];
        free(own);
    }
#elif KIND == 5
    size_t bytes = (size_t)(4 + MORE * 60) << 20;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < bytes; i += 4096) memory[i] = 1;
#elif KIND == 6
    for (int i = 0; i < 1000 + MORE * 40000; i++) sink += (uint32_t)getppid();
#elif KIND == 7
    char *block = calloc(1, 1 << 20);
    int file = open("written", O_CREAT | O_TRUNC | O_WRONLY, 0644);
    for (int i = 0; i < 2 + MORE * 40; i++)
        if (write(file, block, 1 << 20) != 1 << 20) abort();
    close(file);
    unlink("written");
#elif KIND == 8
    struct timespec pause = {0, 2000000 + MORE * 10000000};
    nanosleep(&pause, NULL);
#elif KIND == 9
    pthread_t thread;
    if (pipe(ends[0]) || pipe(ends[1]) || pthread_create(&thread, NULL, answering, NULL)) abort();
    // One byte at a time, or all bytes before the first answer.
    char c = 0;
    if (MORE)
        for (int i = 0; i < 4000; i++)
            if (write(ends[0][1], &c, 1) != 1 || read(ends[1][0], &c, 1) != 1) abort();
    if (!MORE) {
        for (int i = 0; i < 4000; i++)
            if (write(ends[0][1], &c, 1) != 1) abort();
        for (int i = 0; i < 4000; i++)
            if (read(ends[1][0], &c, 1) != 1) abort();
    }
    pthread_join(thread, NULL);
#elif KIND == 10
    for (int i = 0; i < (MORE ? 400000 : 4000); i++) puts("a line of output");
#endif
    printf("%s", count > 5 ? words[0] : "done\n");
    return 0;
}
