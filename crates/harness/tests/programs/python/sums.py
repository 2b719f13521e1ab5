"""A pyperf script with three functions and one statement, whose times are far apart."""

import pyperf


def total(count):
    return sum(range(count))


if __name__ == "__main__":
    runner = pyperf.Runner()
    runner.bench_func("sum of 100", total, 100)
    runner.bench_func("sum of 100000", total, 100_000)
    runner.bench_func("ten sums of 100", lambda: [total(100) for _ in range(10)], inner_loops=10)
    runner.timeit("sort", stmt="sorted(data)", setup="data = list(range(100, 0, -1))")
