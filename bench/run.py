#!/usr/bin/env python3
"""The benches of BENCHMARKS.md, one sub-command a figure: measures, prints a table, and keeps it in bench/results.

    bench/run.py overhead          one figure (overhead and bias come from the same runs)
    bench/run.py all               all of them, between five and six hours
    bench/run.py all --quick       shows in a few minutes that everything works; its numbers mean nothing
    bench/run.py report            writes the tables of bench/results into BENCHMARKS.md

Measure on an idle machine. Scheduling and processors are inherited: `chrt -f 10 taskset -c 1 bench/run.py overhead`.
"""

import argparse
import datetime
import random
import re
import sys
import tempfile
import time

import allocations
import bisect_commits
import change_recall
import damaged
import farm
import farm_kill
import front_ends
import handed_out
import history_site
import imports
import kill
import kill_history
import labels
import layout
import load
import load_truth
import memory
import ministat
import mutants
import mutants_agreement
import mutants_compiled
import normal
import options
import peers
import profiles
import recording
import speed
import stats
import suites
import test_logs
import test_suites
import warm
import watch
import watch_syntax
from machine import ASSAY, HERE, ROOT, Bench, Failed, build, ended_by_signals, execute, facts, say, version_of
from result import Result

RESULTS = HERE / "results"
BENCHMARKS = ROOT / "BENCHMARKS.md"

# Every sub-command, the function that measures it, and the resulting figures.
FIGURES = {
    "overhead": (speed.overhead, ["overhead", "bias"]),
    "bias": (speed.overhead, ["overhead", "bias"]),
    "startup": (speed.startup, ["startup"]),
    "memory": (memory.memory, ["memory"]),
    "scale": (memory.scale, ["scale"]),
    "power": (labels.power, ["power"]),
    "aa-recorded": (labels.aa_recorded, ["aa-recorded"]),
    "aa-live": (labels.aa_live, ["aa-live"]),
    "options": (options.options, ["options"]),
    "marks": (options.marks, ["marks"]),
    "still": (options.still, ["still"]),
    "calibrate": (options.calibrate, ["calibrate"]),
    "stats": (stats.stats, ["stats"]),
    "ministat": (ministat.ministat, ["ministat"]),
    "imports": (imports.imports, ["imports"]),
    "allocations": (allocations.allocations, ["allocations"]),
    "suites": (suites.suites, ["suites"]),
    "suite-answers": (suites.answers, ["suite-answers"]),
    "layout": (layout.layout, ["layout"]),
    "load-keep-alive": (load.keep_alive, ["load-keep-alive"]),
    "load-tls": (load.new_tls, ["load-tls"]),
    "load-http2": (load.http2, ["load-http2"]),
    "load-bodies": (load.bodies, ["load-16k", "load-1m"]),
    "load-stall": (load.stall, ["load-stall"]),
    "load-pace": (load.pace, ["load-pace"]),
    "load-memory": (load.memory, ["load-memory"]),
    "load-soak": (load_truth.soak, ["load-soak"]),
    "load-connections": (load_truth.connections, ["load-connections"]),
    "load-aa": (load_truth.false_verdicts, ["load-aa"]),
    "load-capacity": (load_truth.capacity, ["load-capacity"]),
    "history-quiet": (normal.quiet, ["history-quiet"]),
    "history-step": (normal.steps, ["history-step"]),
    "history-changes": (normal.changes, ["history-changes"]),
    "history-scale": (normal.scale, ["history-scale"]),
    "bisect": (bisect_commits.bisect, ["bisect"]),
    "history-site": (history_site.site, ["history-site"]),
    "ruby-methods": (front_ends.ruby_methods, ["ruby-methods"]),
    "python-methods": (front_ends.python_methods, ["python-methods"]),
    "ruby-blocks": (front_ends.blocks, ["ruby-blocks"]),
    "python-blocks": (front_ends.python_blocks, ["python-blocks"]),
    "ruby-assertions": (front_ends.ruby_assertions, ["ruby-assertions"]),
    "python-assertions": (front_ends.python_assertions, ["python-assertions"]),
    "kill": (kill.kill, ["kill"]),
    "kill-history": (kill_history.kill, ["kill-history"]),
    "damaged": (damaged.damaged, ["damaged"]),
    "mutate-generate": (mutants.generate, ["mutate-generate"]),
    "mutate-speed": (mutants.speed, ["mutate-speed"]),
    "mutate-budget": (mutants.budget, ["mutate-budget"]),
    "mutate-kills": (mutants.kills, ["mutate-kills"]),
    "mutate-compiled": (mutants_compiled.compiled, ["mutate-compiled"]),
    "mutate-agreement": (mutants_agreement.agreement, ["mutate-agreement"]),
    "tests-log": (test_logs.test_logs, ["tests-log"]),
    "tests-parts": (test_suites.parts, ["tests-parts", "tests-cost"]),
    "tests-itself": (test_suites.itself, ["tests-itself"]),
    "tests-polluter": (test_suites.polluter, ["tests-polluter"]),
    "tests-report": (test_suites.report, ["tests-report"]),
    "tests-toggles": (test_suites.toggles, ["tests-toggles"]),
    "change-recall": (change_recall.change_recall, ["change-recall"]),
    "watch-start": (watch.start, ["watch-start"]),
    "watch-files": (watch.files, ["watch-files"]),
    "watch-saves": (watch.saves, ["watch-saves"]),
    "watch-recording": (recording.recording, ["watch-recording"]),
    "watch-syntax": (watch_syntax.syntax, ["watch-syntax"]),
    "watch-warm": (warm.warm, ["watch-warm", "watch-fork"]),
    "farm-lease": (farm.lease, ["farm-lease"]),
    "farm-pages": (farm.pages, ["farm-pages"]),
    "farm-kill": (farm_kill.kill, ["farm-kill"]),
    "dist": (handed_out.handed_out, ["dist-build", "dist-install"]),
    "profile-overhead": (profiles.profiles, ["profile-overhead", "profile-truth"]),
}
# Groups of figures that can be requested together.
GROUPS = {group: [name for name in FIGURES if name.startswith(f"{group}-")] for group in ("load", "history", "tests", "watch", "mutate", "farm")}
# A machine with a higher load is not idle.
IDLE_LOAD = 0.5


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("figure", choices=[*FIGURES, *GROUPS, "all", "report"])
    arguments.add_argument("--quick", action="store_true", help="tiny counts: shows that it works, measures nothing")
    arguments.add_argument("--long", action="store_true", help="also the peers that take many minutes at a task (stats)")
    arguments.add_argument("--count", type=int, default=None, help="so many edits in place of all (change-recall), so many moments (farm-kill)")
    arguments.add_argument("--beside", action="append", default=[], metavar="FILE", help="count the kept result of an earlier run with another seed, too (change-recall)")
    arguments.add_argument("--seed", type=int, default=None, help="of every random order [default: drawn again, and recorded]")
    given = arguments.parse_args()
    ended_by_signals()
    if given.figure == "report":
        return report(given.quick)
    try:
        build()
        versions, missing = peers.install()
    except Failed as error:
        say(f"error: {error}")
        return 1
    versions = {"assay": assay_version(), **versions}
    names = [name for name in FIGURES if name != "bias"] if given.figure == "all" else GROUPS.get(given.figure, [given.figure])
    failed = [name for name in names if not measure(name, given, versions, missing)]
    if failed:
        say(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


def measure(name, given, versions, missing):
    """Runs one figure; what it found is printed and kept. False when it could not be had."""
    say(f"{name}{' (quick)' if given.quick else ''}")
    machine = facts()
    if machine["load"] > IDLE_LOAD and not given.quick:
        say(f"warning: the load is {machine['load']}; what is told of an idle machine will not be true")
    seed = random.SystemRandom().randrange(2**32) if given.seed is None else given.seed
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as scratch:
        bench = Bench(given.quick, random.Random(seed), scratch, directory(given.quick), given.long, given.count, given.beside)
        try:
            results = FIGURES[name][0](bench)
        except Failed as error:
            say(f"error: {name}: {error}")
            return False
    for result in results:
        result.about = {
            "quick": given.quick,
            "command": f"bench/run.py {name}" + (" --quick" if given.quick else "") + (" --long" if given.long else "") + (f" --count {given.count}" if given.count else "") + " --beside FILE" * len(given.beside),
            "when": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
            "minutes": (time.monotonic() - began) / 60,
            "seed": seed,
            "machine": machine,
            "versions": versions,
            "missing": missing,
            "commands": list(bench.commands),
        }
        path = result.save(directory(given.quick))
        print(f"## {result.name}\n\n{result.markdown()}\n", flush=True)
        say(f"kept in {path.relative_to(ROOT)}")
    return True


def directory(quick):
    """Quick results stay apart, so that no table in BENCHMARKS.md can come from them."""
    return RESULTS / "quick" if quick else RESULTS


def assay_version():
    """The version, and the commit where there is one; a changed tree is named as such."""
    version = version_of([ASSAY, "--version"]) or "assay"
    try:
        commit = execute(["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"], 30).stdout.strip()
    except Failed:
        return version
    return f"{version} ({commit})"


def report(quick):
    """Puts every table between its markers in BENCHMARKS.md; quick results are only shown."""
    names = [figure for name, (_, figures) in FIGURES.items() if name != "bias" for figure in figures]
    text = BENCHMARKS.read_text()
    for name in names:
        path = directory(quick) / f"{name}.json"
        if not path.exists():
            say(f"{name}: not measured yet")
            continue
        table = Result.load(path).markdown()
        marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
        text, found = marked.subn(lambda match: f"{match[1]}\n{table}\n\n{match[2]}", text)
        if found != 1:
            say(f"error: BENCHMARKS.md has {found} places for {name} instead of one")
            return 1
    if quick:
        print(text)
    else:
        BENCHMARKS.write_text(text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
