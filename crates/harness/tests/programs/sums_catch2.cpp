// Benchmarks to try the driver of Catch2 on, versions 2 and 3.
#if __has_include(<catch2/benchmark/catch_benchmark.hpp>)
#include <catch2/benchmark/catch_benchmark.hpp>
#include <catch2/catch_test_macros.hpp>
#elif __has_include(<catch2/catch.hpp>)
#define CATCH_CONFIG_MAIN
#define CATCH_CONFIG_ENABLE_BENCHMARKING
#include <catch2/catch.hpp>
#else
#error there is no Catch2
#endif

#include <cstdlib>
#include <stdexcept>
#include <vector>

static int sum(volatile int n) {
    int total = 0;
    for (int i = 0; i < n; ++i) total += i ^ total;
    return total;
}

TEST_CASE("a plain test") {
    CHECK(sum(2) >= 0);
}

TEST_CASE("sums, of [all] kinds", "[sum]") {
    BENCHMARK("of 1000") { return sum(1000); };
    SECTION("large") {
        BENCHMARK("of \"9000\"") { return sum(9000); };
    }
}

TEST_CASE("hidden", "[!benchmark]") {
    BENCHMARK("vector") { return std::vector<int>(1000, 7); };
    BENCHMARK("throws") {
        if (std::getenv("SUMS_BROKEN")) throw std::runtime_error("no luck today");
        return sum(10);
    };
}

TEST_CASE("hidden for good", "[.]") {
    FAIL("a hidden test was run");
}
