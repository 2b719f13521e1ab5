"""How often each assertion is wrong about what is known: A/A, and the like for those that do not compare. An assertion that holds must not
fail, and one that does not hold must not pass, beyond the level of its intervals (95 %); counts have no such level.

    python3 bench/assertions.py [--rounds N] [--time SECONDS] [--json FILE]       needs `assay`

Every round runs each assertion once, in random order, with newly created functions. An interrupt
(Ctrl-C) ends it with the complete rounds.
"""

import argparse
import json
import logging
import os
import platform
import random
import subprocess
import time

from assay import testing

LENGTH = 1000
LOG = logging.getLogger("assay.bench")
LOG.setLevel(logging.INFO)
LOG.addHandler(logging.NullHandler())
LOG.propagate = False


def loop(length):
    """Returns a separate function for each side, as two versions of a program have."""
    made = {}
    exec(f"def additions():\n    total = 0\n    for n in range({length}):\n        total += n\n    return total", made)
    return made["additions"]


def same(assertion, seconds):
    """Returns one function for both sides: two copies of it may differ by their addresses."""
    function = loop(LENGTH)
    return assertion(function, than=function, seconds=seconds)


def sleeper(seconds):
    return lambda: time.sleep(seconds)


class Store:
    def read(self):
        return list(range(10))


def once(_seconds):
    with testing.assert_calls(Store, "read", times=3):
        for _ in range(3):
            Store().read()


def within(_seconds):
    with testing.assert_budget(max_log_lines=2, max_processes=1, max_sleep=0.5):
        for _ in range(2):
            LOG.info("line")
        subprocess.run(["true"], check=True)
        time.sleep(0.001)


#: Name, whether the assertion holds, and the assertion.
ASSERTIONS = [
    ("assert_no_slower, the same", True, lambda s: same(testing.assert_no_slower, s)),
    ("assert_no_slower, 20 % longer", False, lambda s: testing.assert_no_slower(loop(1200), than=loop(LENGTH), seconds=s)),
    ("assert_no_slower, the same waits", True, lambda s: testing.assert_no_slower(sleeper(0.002), than=sleeper(0.002), by="20%", seconds=s)),
    ("assert_faster, the same", False, lambda s: same(testing.assert_faster, s)),
    ("assert_faster, 20 % shorter", True, lambda s: testing.assert_faster(loop(800), than=loop(LENGTH), seconds=s)),
    (
        "assert_complexity, linear",
        True,
        lambda s: testing.assert_complexity("linear", [500, 1000, 2000, 4000], lambda n: sum(range(n)), seconds=2 * s),
    ),
    (
        "assert_complexity, quadratic for linear",
        False,
        lambda s: testing.assert_complexity("linear", [20, 40, 80, 160], lambda n: sum(i * j for i in range(n) for j in range(n)), seconds=2 * s),
    ),
    ("assert_allocations", True, lambda s: testing.assert_allocations(Store().read, peak_bytes=4096, kept=0)),
    ("assert_calls", True, once),
    ("assert_budget", True, within),
]


def outcome(assertion, seconds):
    try:
        assertion(seconds)
    except AssertionError:
        return "failed"
    except testing.Inconclusive:
        return "inconclusive"
    return "passed"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=120)
    arguments.add_argument("--time", type=float, default=1, help="seconds that an assertion may measure")
    arguments.add_argument("--json")
    given = arguments.parse_args()
    os.environ["ASSAY_INCONCLUSIVE"] = "skip"
    loads, rounds = [], []
    try:
        for _ in range(given.rounds):
            loads.append(os.getloadavg()[0])
            some = random.sample(ASSERTIONS, len(ASSERTIONS))
            rounds.append({name: outcome(assertion, given.time) for name, _, assertion in some})
    except KeyboardInterrupt:
        pass
    given.rounds = len(rounds)
    python = f"{platform.python_implementation()} {platform.python_version()}"
    print(f"{python}, {given.rounds} rounds, {given.time:g} s an assertion, load {min(loads):.1f} to {max(loads):.1f}\n")
    print(f"{'assertion':<42}{'holds':>7}{'passed':>8}{'failed':>8}{'unknown':>9}{'wrong':>7}")
    answers = []
    for name, holds, _ in ASSERTIONS:
        counts = {kind: sum(said[name] == kind for said in rounds) for kind in ("passed", "failed", "inconclusive")}
        wrong = counts["failed" if holds else "passed"]
        answers.append({"assertion": name, "holds": holds, **counts, "wrong": wrong})
        cells = f"{counts['passed']:>8}{counts['failed']:>8}{counts['inconclusive']:>9}{wrong:>7}"
        print(f"{name:<42}{'yes' if holds else 'no':>7}{cells}")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump({"language": python, "rounds": given.rounds, "seconds": given.time, "loads": [min(loads), max(loads)], "answers": answers}, file)


if __name__ == "__main__":
    main()
