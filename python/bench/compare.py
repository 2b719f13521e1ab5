"""Error rates of assay.compare, timeit and pyperf for a known difference: a loop of 1000 additions against itself, and against one that
is 3 % shorter. An answer is right if it names the direction, or for equal loops claims no difference; all others are wrong or not known.

    python3 bench/compare.py [--rounds N] [--time SECONDS] [--json FILE]       needs `assay`; pyperf is left out if it is not installed

- assay.compare by wall time and by CPU time, with the same number of seconds per side.
- timeit as its documentation recommends, the best of five repetitions, one side after the other: more than 1 % counts as a difference.
- pyperf's t test (`pyperf compare_to`) of 20 values per side, one side after the other, in one process.
"""

import argparse
import json
import os
import platform
import random
import time
import timeit

import assay

try:
    from pyperf._utils import is_significant
except ImportError:
    is_significant = None

LENGTH = 1000
FACTORS = (1.0, 0.97)
VALUES = 20


def loop(length):
    """Returns a separate function for each side, as two versions of a program have."""
    made = {}
    exec(f"def additions():\n    total = 0\n    for n in range({length}):\n        total += n\n    return total", made)
    return made["additions"]


def by_assay(clock):
    def decide(a, b, seconds):
        verdict = assay.compare(a=a, b=b, time=seconds, warmup=0.1, clock=clock, quiet=True).verdict()
        return {"faster": "shorter", "slower": "longer", "equivalent": "same", "inconclusive": "unknown"}[verdict]

    return decide


def by_timeit(a, b, seconds):
    def best(function):
        number = max(1, round(seconds / 5 / (timeit.timeit(function, number=200) / 200)))
        return min(timeit.repeat(function, number=number, repeat=5)) / number

    first, second = best(a), best(b)
    if abs(second / first - 1) <= 0.01:
        return "same"
    return "shorter" if second < first else "longer"


def by_pyperf(a, b, seconds):
    def values(function):
        number = max(1, round(seconds / VALUES / (timeit.timeit(function, number=200) / 200)))
        return [taken / number for taken in timeit.repeat(function, number=number, repeat=VALUES)]

    first, second = values(a), values(b)
    significant, _t = is_significant(first, second)
    if not significant:
        return "unknown"  # "Not significant": no difference is claimed.
    return "shorter" if sum(second) < sum(first) else "longer"


TOOLS = {
    "assay.compare": by_assay("wall"),
    "assay.compare, cpu": by_assay("cpu"),
    "timeit, best of 5": by_timeit,
    **({"pyperf's t test": by_pyperf} if is_significant else {}),
}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=30)
    arguments.add_argument("--time", type=float, default=0.6, help="seconds a side")
    arguments.add_argument("--json")
    given = arguments.parse_args()
    rows = {
        (factor, tool): {"longer": 0, "shorter": 0, "same": 0, "unknown": 0} for factor in FACTORS for tool in TOOLS
    }
    spent = dict.fromkeys(rows, 0.0)
    loads = []
    for _ in range(given.rounds):
        loads.append(os.getloadavg()[0])
        for factor, tool in random.sample(list(rows), len(rows)):
            began = time.perf_counter()
            rows[factor, tool][TOOLS[tool](loop(LENGTH), loop(round(LENGTH * factor)), given.time)] += 1
            spent[factor, tool] += time.perf_counter() - began
    python = f"{platform.python_implementation()} {platform.python_version()}"
    print(f"{python}, {given.rounds} rounds, {given.time:g} s a side, load {min(loads):.1f} to {max(loads):.1f}\n")
    print(f"{'second':<10}{'tool':<22}{'right':>7}{'wrong':>7}{'unknown':>9}{'s each':>9}")
    answers = []
    for (factor, tool), said in rows.items():
        right = said["same"] + said["unknown"] if factor == 1 else said["shorter"]
        unknown = 0 if factor == 1 else said["unknown"]
        answers.append(
            {
                "factor": factor,
                "tool": tool,
                "said": said,
                "right": right,
                "unknown": unknown,
                "seconds": spent[factor, tool] / given.rounds,
            }
        )
        what = "the same" if factor == 1 else f"{(1 - factor) * 100:.0f} % less"
        print(
            f"{what:<10}{tool:<22}{right:>7}{given.rounds - right - unknown:>7}{unknown:>9}{spent[factor, tool] / given.rounds:>9.1f}"
        )
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(
                {
                    "python": python,
                    "rounds": given.rounds,
                    "seconds": given.time,
                    "loads": [min(loads), max(loads)],
                    "answers": answers,
                },
                file,
            )


if __name__ == "__main__":
    main()
