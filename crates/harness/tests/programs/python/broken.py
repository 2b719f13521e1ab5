"""A pyperf script whose second benchmark fails."""

import pyperf

runner = pyperf.Runner()
runner.bench_func("fine", sum, [1, 2])
runner.bench_func("divided", lambda: 1 // 0)
