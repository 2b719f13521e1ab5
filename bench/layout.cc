// A small benchmark among a hundred functions that are not executed, so that a linker that shuffles
// sections changes its position. KIND selects the work; with -DMORE=3 there is 3 % more of it.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <utility>

#ifndef MORE
#define MORE 0
#endif
#ifndef KIND
#define KIND 0
#endif

namespace {

constexpr int kUnits = 100 + MORE;
uint32_t numbers[1024];

// Neighbors of different lengths: each is a section, and none is executed during measurements.
template <int N>
__attribute__((noinline, used)) uint32_t neighbour(uint32_t x) {
    for (int i = 0; i < N % 7 + 1; i++) x = x * (2 * N + 3) + (x >> (N % 13 + 1));
    return x ^ N;
}

template <int... N>
uint32_t all(uint32_t x, std::integer_sequence<int, N...>) {
    ((x = neighbour<N>(x)), ...);
    return x;
}

__attribute__((noinline)) uint32_t tight(uint32_t x) {
    for (int i = 0; i < 64; i++) x = x * 1664525u + 1013904223u;
    return x;
}

__attribute__((noinline)) uint32_t branches(uint32_t x) {
    for (int i = 0; i < 64; i++) {
        if (numbers[i] & 1) x += 3;
        if (numbers[i] & 2) x ^= i;
        if (numbers[i] & 4) x = x * 5 + 1;
        if (numbers[i] & 8) x -= numbers[i];
    }
    return x;
}

__attribute__((noinline)) uint32_t leaf(uint32_t x) { return (x ^ (x << 5)) + 7; }
__attribute__((noinline)) uint32_t inner(uint32_t x) { return leaf(x) + leaf(x + 1); }

__attribute__((noinline)) uint32_t calls(uint32_t x) {
    for (int i = 0; i < 24; i++) x = inner(x + i);
    return x;
}

__attribute__((noinline)) uint32_t search(uint32_t x) {
    uint32_t low = 0, high = 1024;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (middle * 4194304u < x) low = middle + 1;
        else high = middle;
    }
    return low + x * 2654435761u;
}

__attribute__((noinline)) uint32_t work(uint32_t x) {
#if KIND == 0
    return tight(x);
#elif KIND == 1
    return branches(x);
#elif KIND == 2
    return calls(x);
#elif KIND == 3
    return search(search(search(search(x))));
#else
    return search(tight(branches(calls(x))));
#endif
}

void BM_Work(benchmark::State &state) {
    uint32_t x = 1;
    for (auto &number : numbers) number = x = x * 1664525u + 1013904223u;
    if (state.max_iterations == 0) x = all(x, std::make_integer_sequence<int, 100>());
    for (auto _ : state) {
        for (int unit = 0; unit < kUnits; unit++) x = work(x);
        benchmark::DoNotOptimize(x);
    }
}
BENCHMARK(BM_Work);

}  // namespace

BENCHMARK_MAIN();
