// The benchmark program: one executable for both versions of the library, which it loads when it starts.
//
// Under `assay bench --alloc` it is run once more for counting, and reports the allocations of each
// copy. The snapshot function exists only in that run, so nothing is counted during timing.
#include <benchmark/benchmark.h>

#include "assay_alloc.h"

extern "C" {
#include "element.h"
}

namespace {

element *sample(int64_t parameters) {
    element *made = element_new("copy-element");
    for (int64_t i = 0; i < parameters; i++) element_add(made, "parameter", "value");
    return made;
}

void CopyElement(benchmark::State &state) {
    element *original = sample(state.range(0));
    assay_alloc_counts before{}, after{};
    const bool counted = assay_alloc_snapshot && assay_alloc_snapshot(&before);
    for (auto _ : state) {
        element *copy = element_copy(original);
        benchmark::DoNotOptimize(copy);
        element_free(copy);
    }
    if (counted) {
        assay_alloc_snapshot(&after);
        const auto each = [](uint64_t calls) {
            return benchmark::Counter(static_cast<double>(calls), benchmark::Counter::kAvgIterations);
        };
        state.counters["reallocs_per_copy"] = each(after.reallocs - before.reallocs);
        state.counters["allocations_per_copy"] = each(after.allocations - before.allocations);
        state.counters["bytes_per_copy"] = each(after.allocated_bytes - before.allocated_bytes);
    }
    element_free(original);
}
BENCHMARK(CopyElement)->ArgName("parameters")->Arg(2)->Arg(16)->Arg(128);

}  // namespace

BENCHMARK_MAIN();
