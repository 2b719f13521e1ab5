#!/usr/bin/env python3
"""Reports the verdicts of asv and Otava on series of runs. Started by `normal.py` in an environment
that has both; communicates over standard input and output.

Input: {"series": [[value, …], …], "prefixes_from": N or null}. Output: for each series and peer,
the first run after each change; with `prefixes_from`, the runs that raise an alarm on arrival, from
run N on.
"""

import json
import logging
import sys

from asv import step_detect
from otava.series import AnalysisOptions, Metric, Series

# The threshold from which asv publishes regressions by default ("regressions_thresholds").
ASV_THRESHOLD = 0.05
# An alarm about a change that is older than this many runs does not concern the newest run.
LATELY = 5


def otava(values):
    """Otava with its defaults: p 0.001, windows of 50."""
    moments = list(range(len(values)))
    series = Series("b", None, moments, {"m": Metric(-1, 1.0)}, {"m": list(values)}, {})
    return [int(change.index) for change in series.analyze(AnalysisOptions()).change_points["m"]]


def asv(values):
    """Returns the starts of asv's steps."""
    return [int(step[0]) for step in step_detect.detect_steps(list(values))[1:]]


def asv_regressions(values):
    """Returns the starts of the steps that asv would publish as regressions."""
    steps = step_detect.detect_steps(list(values))
    _, _, found = step_detect.detect_regressions(steps, threshold=ASV_THRESHOLD)
    return [int(position[1]) for position in found or []]


def alarms(find, values, begin, before):
    """Returns, for each run from `begin` on, whether a place near the end is new."""
    known, said = set(), []
    for end in range(begin + 1, len(values) + 1):
        places = [place for place in find(values[max(0, end - before) : end])]
        places = {place + max(0, end - before) for place in places}
        fresh = {p for p in places if p >= end - LATELY and not any(abs(p - q) <= LATELY for q in known)}
        known |= places
        said.append(bool(fresh))
    return said


def main():
    logging.disable(logging.CRITICAL)
    asked = json.load(sys.stdin)
    begin = asked.get("prefixes_from")
    if begin is None:
        peers = {"otava": otava, "asv": asv}
        out = {name: [find(values) for values in asked["series"]] for name, find in peers.items()}
    else:
        # Both see as many runs as `assay gate` does by default.
        peers = {"otava": otava, "asv publish": asv_regressions}
        out = {name: [alarms(find, values, begin, 60) for values in asked["series"]] for name, find in peers.items()}
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main()
