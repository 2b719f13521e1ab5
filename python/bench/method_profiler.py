"""The cost of a profiled method: this package, a plain decorator and cProfile, all in one run.

    python3 bench/method_profiler.py [--rounds N] [--json FILE]

Each round calls every variant for some milliseconds, in random order, by the CPU clock of this process. A row is the median over the rounds of
the ratio to the plain method in the same round, with the loop that calls it in both; and the nanoseconds added to a call, as the
difference of the fastest twentieths. `ASSAY_PURE=1` measures the package without its accelerator.
"""

import argparse
import cProfile
import json
import os
import platform
import random
import statistics
import sys
import threading
import time
import types
from contextvars import copy_context

from assay import MethodProfiler
from assay.profiler import calibration, engine

CALLS = 20_000


class Plain:
    def method(self):
        pass


class Idle:
    """Patched, while no profile is running in the process."""

    def method(self):
        pass


class Active:
    def method(self):
        pass


class Kept:
    """The wrapper stays installed, as under a server, while no profile is running."""

    def method(self):
        pass


class Elsewhere:
    """A profile is running, but in another context."""

    def method(self):
        pass


class MonitoredIdle:
    """The same four with `sys.monitoring`."""

    def method(self):
        pass


class MonitoredActive:
    def method(self):
        pass


class MonitoredKept:
    def method(self):
        pass


class MonitoredElsewhere:
    def method(self):
        pass


flag = False
totals = {}


def decorated(function):
    """A quickly written profiler: a global flag, two clock readings, a dictionary."""

    def wrapper(*args, **kwargs):
        if not flag:
            return function(*args, **kwargs)
        began = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            total = totals.setdefault("it", [0.0, 0])
            total[0] += time.perf_counter() - began
            total[1] += 1

    return wrapper


class Decorated:
    @decorated
    def method(self):
        pass


local = threading.local()
local.profile = None


def decorated_by_thread(function):
    """The article's design in Python: the profile belongs to the thread."""

    def wrapper(*args, **kwargs):
        profile = local.profile
        if profile is None:
            return function(*args, **kwargs)
        began = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            total = profile.setdefault("it", [0.0, 0])
            total[0] += time.perf_counter() - began
            total[1] += 1

    return wrapper


class DecoratedByThread:
    @decorated_by_thread
    def method(self):
        pass


def _loop(subject, clock):
    turns = range(CALLS)
    began = clock()
    for _ in turns:
        subject.method()
    return (clock() - began) / CALLS


LOOPS = {}


def loop(subject):
    # Separate code for each class, since Python specializes a call for the class that it
    # encounters.
    kind = type(subject)
    if kind not in LOOPS:
        LOOPS[kind] = types.FunctionType(_loop.__code__.replace(), globals())
    return LOOPS[kind](subject, time.process_time_ns)


def plain():
    return loop(Plain())


def idle(kind=Idle):
    return loop(kind())


def active(kind=Active):
    with MethodProfiler.profile():
        return loop(kind())


def kept(kind=Kept):
    MethodProfiler.keep_installed()
    try:
        return loop(kind())
    finally:
        MethodProfiler.keep_installed(False)


def elsewhere(kind=Elsewhere):
    # Started in another context, so that this one is not profiled while its wrapper is installed.
    profile = copy_context().run(MethodProfiler.start)
    try:
        return loop(kind())
    finally:
        profile.stop()


def decorator_idle():
    return loop(Decorated())


def decorator_active():
    global flag
    flag = True
    try:
        return loop(Decorated())
    finally:
        flag = False


def thread_idle():
    return loop(DecoratedByThread())


def thread_active():
    local.profile = {}
    try:
        return loop(DecoratedByThread())
    finally:
        local.profile = None


def c_profile():
    profiler = cProfile.Profile()
    subject = Plain()
    profiler.enable()
    try:
        return loop(subject)
    finally:
        profiler.disable()


VARIANTS = {
    "plain method": plain,
    "assay, idle": idle,
    "assay, idle, wrapper kept in": kept,
    "assay, a profile elsewhere": elsewhere,
    "assay, active": active,
    "decorator, idle": decorator_idle,
    "decorator, active": decorator_active,
    "decorator by thread, idle": thread_idle,
    "decorator by thread, active": thread_active,
    "cProfile": c_profile,
}

if engine.monitor is not None:
    VARIANTS.update(
        {
            "assay by monitoring, idle": lambda: idle(MonitoredIdle),
            "assay by monitoring, kept in": lambda: kept(MonitoredKept),
            "assay by monitoring, elsewhere": lambda: elsewhere(MonitoredElsewhere),
            "assay by monitoring, active": lambda: active(MonitoredActive),
        }
    )
MONITORED = (MonitoredIdle, MonitoredActive, MonitoredKept, MonitoredElsewhere) if engine.monitor is not None else ()


def _fails():
    raise KeyError


def exception_ns(rounds):
    """The cost of an exception for each frame that it leaves, anywhere in the process, while something is patched by monitoring."""
    clock = time.process_time_ns
    costs = {False: [], True: []}
    for _ in range(rounds):
        for patched, times in costs.items():
            if patched:
                MethodProfiler.patch(MonitoredIdle, ["method"], "it", by="monitoring")
            for _ in range(100):  # The interpreter examines all code again after such a switch.
                _catches()
            began = clock()
            for _ in range(5000):
                _catches()
            times.append((clock() - began) / 5000)
            if patched:
                MethodProfiler.unpatch(MonitoredIdle)
    return statistics.median(with_it - without for with_it, without in zip(costs[True], costs[False]))


def _catches():
    try:
        _fails()
    except KeyError:
        pass


def start_stop_ns(rounds):
    """The cost of start and stop with one method patched: with its wrapper installed and removed, and with it left in."""
    results = {}
    for way in ("wrapper", "monitoring") if MONITORED else ("wrapper",):
        MethodProfiler.patch(Active, ["method"], "it", by=way)
        for name, keep in (("swapped", False), ("kept in", True)):
            times = []
            for _ in range(rounds):
                MethodProfiler._swaps = 0
                MethodProfiler.keep_installed(keep)
                began = time.process_time_ns()
                for _ in range(20):
                    MethodProfiler.start()
                    MethodProfiler.stop()
                times.append((time.process_time_ns() - began) / 20)
            MethodProfiler.keep_installed(False)
            results[f"{way}, {name}"] = statistics.median(times)
        MethodProfiler.unpatch(Active)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=80)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()

    # Inserting and removing wrappers changes a class, so each variant has its own.
    for kind in (Idle, Active, Kept, Elsewhere):
        MethodProfiler.patch(kind, ["method"], "it")
    for kind in MONITORED:
        MethodProfiler.patch(kind, ["method"], "it", by="monitoring")
    times = {name: [] for name in VARIANTS}
    for _ in range(options.rounds):
        MethodProfiler._swaps = 0
        order = list(VARIANTS)
        random.shuffle(order)
        for name in order:
            times[name].append(VARIANTS[name]())

    base = times["plain method"]
    floor = lambda values: statistics.quantiles(values, n=20)[0] if len(values) > 1 else values[0]
    rows = []
    for name, values in times.items():
        ratios = sorted(value / reference for value, reference in zip(values, base))
        quartiles = statistics.quantiles(ratios, n=4) if len(ratios) > 3 else [ratios[0], ratios[0], ratios[-1]]
        rows.append(
            {
                "variant": name,
                "ratio": statistics.median(ratios),
                "quartiles": [quartiles[0], quartiles[2]],
                "added_ns": floor(values) - floor(base),
            }
        )
    inner, outer = calibration.costs(monitored=False)
    for kind in (Idle, Active, Kept, Elsewhere, *MONITORED):
        MethodProfiler.unpatch(kind)
    swaps = start_stop_ns(max(5, options.rounds // 4))
    exceptions = exception_ns(max(5, options.rounds // 4)) if MONITORED else None

    load = os.getloadavg()[0]
    print(
        f"Python {platform.python_version()}, calls counted in {engine.NAME}, {options.rounds} rounds, load {load:.1f}"
    )
    print(f"plain method with its loop: {floor(base):.1f} ns\n")
    print(f"{'':32}{'ratio':>7}  {'quartiles':>13}  {'added':>8}")
    for row in rows:
        low, high = row["quartiles"]
        print(f"{row['variant']:32}{row['ratio']:7.2f}  {low:6.2f} {high:6.2f}  {row['added_ns']:5.0f} ns")
    print(f"\ncalibrated: {outer:.0f} ns a call, {inner:.0f} of them between the clock readings and subtracted")
    print("start and stop, one method patched: " + "; ".join(f"{name} {ns / 1e3:.1f} µs" for name, ns in swaps.items()))
    if exceptions is not None:
        print(f"while something is patched by monitoring, an exception costs {exceptions:.0f} ns more for each frame that it leaves")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(
                {
                    "python": platform.python_version(),
                    "engine": engine.NAME,
                    "rounds": options.rounds,
                    "load": load,
                    "plain_ns": floor(base),
                    "rows": rows,
                    "calibrated_ns": {"between_clocks": inner, "call": outer},
                    "start_stop_ns": swaps,
                    "exception_ns": exceptions,
                    "argv": sys.argv,
                },
                file,
                indent=1,
            )


if __name__ == "__main__":
    main()
