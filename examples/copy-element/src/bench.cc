// The benchmark program: one executable for both versions of the library, which it loads when it starts.
//
// Under `assay bench --alloc` it is run once more, to be counted, and says what each copy allocates: the snapshot function is there
// only then, so that nothing is counted while anything is timed.
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
