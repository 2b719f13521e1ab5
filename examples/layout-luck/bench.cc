#include <benchmark/benchmark.h>

extern "C" void work(unsigned rounds);

static void BM_Work(benchmark::State &state) {
    // `work` overwrites its counter, so each iteration sets it again.
    for (auto _ : state) {
        unsigned rounds = 20000;
        asm volatile("call work" : "+D"(rounds) : : "rax", "rcx", "rdx", "r8", "r9", "cc", "memory");
    }
}
BENCHMARK(BM_Work);
BENCHMARK_MAIN();
