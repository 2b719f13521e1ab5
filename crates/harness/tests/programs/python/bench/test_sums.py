"""Benchmarks of pytest-benchmark between other tests, with names that begin alike, parameters, and one that fails."""

import pytest


def total(count):
    return sum(range(count))


@pytest.mark.parametrize("count", [10, 1000])
def test_total(benchmark, count):
    benchmark(total, count)


def test_plain():
    assert total(3) == 3


def test_sorted(benchmark):
    data = list(range(100, 0, -1))
    assert benchmark(sorted, data)[0] == 1


def test_sorted_once(benchmark):
    benchmark.pedantic(sorted, args=([3, 1, 2],), rounds=3, iterations=10)


class TestMore:
    def test_broken(self, benchmark):
        benchmark(lambda: 1 // 0)
