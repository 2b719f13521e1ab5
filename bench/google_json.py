#!/usr/bin/env python3
"""Writes a file in the format of Google Benchmark with the requested number of rows, for measuring
the speed of the importer.

    python3 bench/google_json.py 185000 pretty > big.json
    cargo run --release -p assay-data --example import_speed -- big.json

185,000 rows are about 97 MB if formatted as by the library (`pretty`); `dense` has the same rows,
one per line.
"""

import json
import random
import sys


def rows(count):
    """Returns ten repetitions of each benchmark, with four counters that are totals."""
    random.seed(1)
    for row in range(count):
        benchmark, repetition = divmod(row, 10)
        if repetition == 0:
            iterations = random.randint(1000, 1_000_000)
        name = f"CopyElement/params:{benchmark}"
        yield {
            "name": name,
            "family_index": benchmark,
            "per_family_instance_index": 0,
            "run_name": name,
            "run_type": "iteration",
            "repetitions": 10,
            "repetition_index": repetition,
            "threads": 1,
            "iterations": iterations,
            "real_time": random.gauss(500, 20),
            "cpu_time": random.gauss(480, 20),
            "time_unit": "ns",
            "CallsToAlloc": 6.0 * iterations,
            "CallsToFree": 7.0 * iterations,
            "CallsToRealloc": 2.0 * iterations,
            "MemoryAllocated": 122.0 * iterations,
        }


def main():
    count, form = int(sys.argv[1]), sys.argv[2]
    out = sys.stdout
    out.write('{"context": {"num_cpus": 2, "host_name": "synthetic", "library_build_type": "release"},\n"benchmarks": [\n')
    for number, row in enumerate(rows(count)):
        if number:
            out.write(",\n")
        out.write(json.dumps(row, indent=6 if form == "pretty" else None))
    out.write("]}\n")


main()
