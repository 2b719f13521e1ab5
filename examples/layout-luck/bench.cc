#include <benchmark/benchmark.h>

extern "C" void work(unsigned rounds);
extern "C" void unrelated();

static void BM_Work(benchmark::State &state) {
    if (state.max_iterations == 0) unrelated();
    // What `work` counts in is the caller's to lose.
    for (auto _ : state) {
        unsigned rounds = 20000;
        asm volatile("call work" : "+D"(rounds) : : "rax", "rcx", "rdx", "r8", "r9", "cc", "memory");
    }
}
BENCHMARK(BM_Work);
BENCHMARK_MAIN();
