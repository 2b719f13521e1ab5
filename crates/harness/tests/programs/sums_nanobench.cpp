// Benchmarks that print their results as JSON, to try what is known only by its output.
#if __has_include(<nanobench.h>)
#define ANKERL_NANOBENCH_IMPLEMENT
#include <nanobench.h>
#else
#error there is no nanobench
#endif

#include <iostream>

int main() {
    ankerl::nanobench::Bench bench;
    bench.output(nullptr).epochs(3);
    int total = 0;
    for (int n : {1000, 2000}) {
        bench.run(n == 1000 ? "sum" : "sum/all", [&] {
            for (int i = 0; i < n; ++i) total += i ^ total;
            ankerl::nanobench::doNotOptimizeAway(total);
        });
    }
    bench.render(ankerl::nanobench::templates::json(), std::cout);
}
