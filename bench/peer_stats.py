"""One task on synthetic data, timed within scipy; prints {"seconds":...}. python peer_stats.py TASK N [RESAMPLES]"""

import json
import sys
import time

import numpy
from scipy import stats

task, n = sys.argv[1], int(sys.argv[2])
random = numpy.random.default_rng(1)
x = numpy.round(random.lognormal(5, 0.2, n), 3)
if task == "test":
    y = numpy.round(random.lognormal(5, 0.2, n), 3) + 1
    began = time.perf_counter()
    result = stats.mannwhitneyu(y, x, method="asymptotic").pvalue
elif task == "bootstrap":
    resamples = int(sys.argv[3])
    began = time.perf_counter()
    found = stats.bootstrap((x,), numpy.std, n_resamples=resamples, batch=100, method="percentile", rng=random)
    result = found.standard_error
else:
    sys.exit(f"no such task: {task}")
print(json.dumps({"task": task, "n": n, "seconds": time.perf_counter() - began, "result": float(result)}))
