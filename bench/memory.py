"""The figures about memory: what each tool reports for a program that needs 0.6 MiB, and what ten thousand runs cost."""

import json
import shutil
import re

from judge import median
from machine import ASSAY, BUILD
from peers import HYPERFINE_1, HYPERFINE_2, PYPERF, there
from result import Bar, Result, mebibytes, percent


def memory(bench):
    """Shows that Linux starts a child's peak at its spawner's size: a tool that spawns from a large
    process reports its own memory."""
    runs = bench.size(200, 10)
    tiny = BUILD / "tiny"
    result = Result(
        "memory",
        f"Peak memory of a static program of about 0.6 MiB, as reported: median of {runs} runs",
        ["tool", "reported"],
    )
    found = {"assay": _assays(bench, runs, tiny)}
    out = bench.scratch / "hyperfine.json"
    if there(HYPERFINE_2):
        bench.run([HYPERFINE_2, "--runs", runs, "--style", "none", "--export-json", out, tiny], timeout=120)
        found["hyperfine 2.0"] = median(_hyperfine_peaks(out))
    if there(PYPERF):
        out = bench.scratch / "pyperf.json"
        argv = [PYPERF, "-m", "pyperf", "command", "-q", "-p", "5", "-n", "3", "-w", "0", "-l", "10", "-o", out, "--", tiny]
        bench.run(argv, timeout=120)
        processes = json.loads(out.read_text())["benchmarks"][0]["runs"]
        found["pyperf command"] = median([p["metadata"]["command_max_rss"] for p in processes])
    if there("/usr/bin/time"):
        peaks = [int(bench.run(["/usr/bin/time", "-f", "%M", tiny], timeout=30).stderr) for _ in range(runs)]
        found["GNU time"] = median(peaks) * 1024
    found["static launcher in C (peak.c)"] = median([peak(bench, [tiny]) for _ in range(runs)])
    for name, size in found.items():
        result.row(name, mebibytes(size))
    if there(HYPERFINE_1):
        result.row("hyperfine 1.15", "does not report it")
    if there("perf"):
        result.row("perf stat", "does not report it")
    result.bar(Bar.at_most("peak memory of the program, as assay reports it", found["assay"], 0.7 * 2**20, mebibytes))
    result.raw = {"bytes": found}
    return [result]


def _assays(bench, runs, program):
    argv = [ASSAY, "run", "--json", "--no-save", "--runs", runs, program]
    return json.loads(bench.run(argv, timeout=120).stdout)["descriptions"][0]["metrics"]["max_rss"]["median"]


def peak(bench, argv):
    """Returns the peak resident memory of a command in bytes, using the static launcher."""
    out = bench.scratch / "peak"
    program, *arguments = argv
    # The launcher accepts only paths.
    bench.run([BUILD / "peak", out, shutil.which(program) or program, *arguments], timeout=600)
    return int(out.read_text()) * 1024


def _hyperfine_peaks(path):
    measurements = json.loads(path.read_text())["results"][0]["measurements"]
    return [m["memory_peak_resident"]["value"] for m in measurements]


def scale(bench):
    """Records ten thousand runs: the memory of the tool itself, and whether its growth affects what
    it measures."""
    few, many = bench.size(1_000, 100), bench.size(10_000, 1_000)
    tiny = BUILD / "tiny"
    result = Result(
        "scale",
        f"{many} runs of a static program, recorded: peak memory of the tool (the largest of its processes; median of five)",
        ["tool", f"{few} runs", f"{many} runs", "a run more costs", "program's own peak, first … last tenth", "file"],
    )

    def assay(runs, out):
        return [ASSAY, "run", "--runs", runs, "--quiet", "--save", out, tiny]

    def hyperfine(program, *options):
        return lambda runs, out: [program, *options, "--runs", runs, "--style", "none", "--export-json", out, tiny]

    tools = {
        "assay": assay,
        "hyperfine 2.0": hyperfine(HYPERFINE_2),
        "hyperfine 1.15": hyperfine(HYPERFINE_1, "-N"),
    }
    for name, command in tools.items():
        if not there(command(1, "out")[0]):
            continue
        peaks, out = {}, bench.scratch / "scale"
        for runs in (few, many):
            found = []
            for _ in range(bench.size(5, 3)):
                out.unlink(missing_ok=True)
                found.append(peak(bench, command(runs, out)))
            peaks[runs] = median(found)
        per_run = (peaks[many] - peaks[few]) / (many - few)
        seen = _peaks_seen(name, out)
        tenth = len(seen) // 10
        first_last = [median(seen[:tenth]), median(seen[-tenth:])] if seen else None
        shown = " … ".join(f"{size / 1024:.0f}" for size in first_last) + " KiB" if first_last else "not recorded"
        size = out.stat().st_size
        result.row(name, mebibytes(peaks[few]), mebibytes(peaks[many]), f"{per_run:.0f} B", shown, f"{size / 1e6:.1f} MB")
        result.raw[name] = {"peak_bytes": peaks, "bytes_per_run": per_run, "program_peak": first_last, "file_bytes": size}
        if name == "assay":
            result.bar(Bar.at_most(f"peak memory of assay at {many} runs", peaks[many], 10e6, lambda b: f"{b / 1e6:.1f} MB"))
            grown = abs(first_last[1] / first_last[0] - 1)
            result.bar(Bar.at_most("change of the program's own peak over the run", grown, 0.01, percent))
    return [result]


def _peaks_seen(name, path):
    """Returns the recorded peak memory of the program in bytes, run by run; empty if the tool
    records none."""
    if name == "hyperfine 2.0":
        return _hyperfine_peaks(path)
    if name != "assay":
        return []
    return [float(value) for value in re.findall(r'"max_rss":([\d.e+]+)', path.read_text())]
