"""The figure about the classic: `assay ministat` compared with the machine's own ministat, on files
with many numbers.

CPU time, wall time and peak memory of each run are the kernel's; `wc -l` and `awk` on the same
files, in the same rounds, show the cost of reading alone. The order is random in each round, and
ratios are taken within a round.
"""

import os
import shutil
import subprocess
import time

from judge import median, spread
from machine import ASSAY, Failed
from memory import peak
from result import Bar, Result, ratio

US, CLASSIC = "assay ministat", "ministat"
SUM = "{s+=$1;q+=$1*$1}END{print s/NR,q}"


def numbers(bench, count, name, distribution, seed):
    """Creates a file with this number of values with six decimals."""
    path = bench.scratch / f"{name}-{count}"
    bench.run([ASSAY, "simulate", "-n", count, "--distribution", distribution, "--step", "0.000001", "--seed", seed, "--out", path], timeout=600)
    return path


def commands(a, b):
    """Returns the compared commands. The classic in Debian and Ubuntu is the version of 2015."""
    found = {
        US: [ASSAY, "ministat", "--flavour=2015", "-A", a, b],
        f"{US}, flavour 2025": [ASSAY, "ministat", "--flavour=2025", "-A", a, b],
        f"{US}, with the plot": [ASSAY, "ministat", "--flavour=2015", a, b],
        "wc -l": ["wc", "-l", a, b],
        "awk, a sum": ["awk", SUM, a, b],
    }
    if shutil.which("ministat"):
        found[CLASSIC] = ["ministat", "-A", a, b]
        found[f"{CLASSIC}, with the plot"] = ["ministat", a, b]
    return {name: [str(part) for part in argv] for name, argv in found.items()}


def once(bench, argv):
    """Returns the wall and CPU seconds of one run whose output is discarded."""
    bench.commands[bench.shown(argv) + " > /dev/null"] = True
    began = time.perf_counter()
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        process.kill()
        process.wait()
        raise
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed(f"{argv[0]}: status {process.returncode}")
    return wall, usage.ru_utime + usage.ru_stime


def ministat(bench):
    """Measures both sizes with every command, in every round."""
    result = Result(
        "ministat",
        "Two files of so many numbers with six decimals, compared; medians, and ratios of one round",
        ["numbers a file", "command", "wall", "CPU", "× CPU of the classic", "× wall of the classic", "peak memory"],
    )
    result.raw = {}
    for count, rounds in ((bench.size(1_000_000, 1_000), bench.size(11, 2, 5)), (bench.size(10_000_000, 3_000), bench.size(3, 1, 1))):
        of_size(bench, result, count, rounds)
    if not shutil.which("ministat"):
        result.note("The classic is not installed here (`apt install ministat`), so there is nothing to compare with.")
    else:
        result.note("Without the plot (`-A`) where nothing else is said. The classic is Debian's, of 2015.")
    return [result]


def of_size(bench, result, count, rounds):
    a = numbers(bench, count, "a", "normal(100, 3)", 1)
    b = numbers(bench, count, "b", "normal(100.03, 3)", 2)
    asked = commands(a, b)
    wall, cpu = ({name: [] for name in asked} for _ in range(2))

    def step(_number, name):
        taken = once(bench, asked[name])
        wall[name].append(taken[0])
        cpu[name].append(taken[1])

    bench.rounds(rounds, list(asked), step)
    memory = {name: peak(bench, argv) for name, argv in asked.items()}

    def against(values, name, other):
        return median([mine / theirs for mine, theirs in zip(values[name], values[other]) if theirs > 0] or [float("inf")])

    for name in asked:
        has_classic = CLASSIC in asked
        low, high = spread(wall[name])
        result.row(
            f"{count:,}",
            name,
            f"{median(wall[name]) * 1e3:.1f} ms ({low * 1e3:.1f} … {high * 1e3:.1f})",
            f"{median(cpu[name]) * 1e3:.1f} ms",
            ratio(against(cpu, name, CLASSIC)) if has_classic else "",
            ratio(against(wall, name, CLASSIC)) if has_classic else "",
            f"{memory[name] / 2**20:.1f} MiB",
        )
    if CLASSIC in asked:
        for what, name in (("", US), (", flavour 2025", f"{US}, flavour 2025")):
            result.bar(Bar.at_most(f"CPU time against the classic's, 2 × {count:,}{what}", against(cpu, name, CLASSIC), 1 / 5, lambda v: f"{v:.3f}"))
            result.bar(Bar.at_most(f"wall time against the classic's, 2 × {count:,}{what}", against(wall, name, CLASSIC), 1 / 8, lambda v: f"{v:.3f}"))
            result.bar(Bar.at_most(f"peak memory against the classic's, 2 × {count:,}{what}", memory[name] / memory[CLASSIC], 1.0, lambda v: f"{v:.3f}"))
    result.raw[str(count)] = {"wall": wall, "cpu": cpu, "peak": memory}
