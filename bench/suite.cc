// A suite of 24 small benchmarks: six kinds of work, four sizes each. Each does its work in 100
// units, or, built with -DMORE=3, in 103 of them: a true 3 % more, in every one. With -DONE=3 only
// Find/512 does more work; with -DOTHER=1 the code of Find differs, and its work does not.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#ifndef MORE
#define MORE 0
#endif
#ifndef ONE
#define ONE 0
#endif
#ifndef OTHER
#define OTHER 0
#endif

namespace {

constexpr int kUnits = 100 + MORE;
// Unknown to the compiler, so that the code is the same with and without.
volatile int more_in_one = ONE;

template <class Work>
void run(benchmark::State &state, Work work, int units = kUnits) {
    for (auto _ : state) {
        for (int unit = 0; unit < units; unit++) work(unit);
    }
}

std::vector<uint32_t> numbers(int64_t size) {
    std::vector<uint32_t> made(size);
    uint32_t x = 1;
    for (auto &v : made) v = x = x * 1664525u + 1013904223u;
    return made;
}

void Sum(benchmark::State &state) {
    const auto values = numbers(state.range(0));
    run(state, [&](int) { benchmark::DoNotOptimize(std::accumulate(values.begin(), values.end(), uint64_t{0})); });
}

void Chain(benchmark::State &state) {
    const int64_t steps = state.range(0);
    run(state, [&](int unit) {
        uint32_t x = static_cast<uint32_t>(unit);
        for (int64_t i = 0; i < steps; i++) x = x * 1664525u + 1013904223u;
        benchmark::DoNotOptimize(x);
    });
}

void Copy(benchmark::State &state) {
    const std::string from(state.range(0) * 4, 'x');
    std::string to(from.size(), ' ');
    run(state, [&](int) {
        std::memcpy(to.data(), from.data(), from.size());
        benchmark::ClobberMemory();
    });
}

void Find(benchmark::State &state) {
    const auto values = numbers(state.range(0));
    const int units = kUnits + (state.range(0) == 512 ? more_in_one : 0);
    run(
        state,
        [&](int unit) {
            benchmark::DoNotOptimize(std::find(values.begin(), values.end(), static_cast<uint32_t>(unit + OTHER)));
        },
        units);
}

void Search(benchmark::State &state) {
    auto values = numbers(state.range(0));
    std::sort(values.begin(), values.end());
    run(state, [&](int unit) {
        benchmark::DoNotOptimize(std::lower_bound(values.begin(), values.end(), static_cast<uint32_t>(unit) * 40000000u));
    });
}

void Grow(benchmark::State &state) {
    const int64_t size = state.range(0);
    run(state, [&](int) {
        std::vector<int64_t> grown;
        for (int64_t i = 0; i < size; i++) grown.push_back(i);
        benchmark::DoNotOptimize(grown.data());
    });
}

#define SIZES ->Arg(8)->Arg(32)->Arg(128)->Arg(512)
BENCHMARK(Sum) SIZES;
BENCHMARK(Chain) SIZES;
BENCHMARK(Copy) SIZES;
BENCHMARK(Find) SIZES;
BENCHMARK(Search) SIZES;
BENCHMARK(Grow) SIZES;

}  // namespace

BENCHMARK_MAIN();
