#!/usr/bin/env python3
"""The benches of BENCHMARKS.md, one subcommand per figure: measures, prints a table, and stores it
in bench/results.

    bench/run.py overhead          one figure (overhead and bias come from the same runs)
    bench/run.py load              all figures of a group: load, history, tests, watch, mutate, farm
    bench/run.py all               all of them, in the standard size: planned to take at most 90 minutes
    bench/run.py all --full        with the full counts and the slow peers: a night
    bench/run.py all --quick       shows in a few minutes that everything works; its numbers mean nothing
    bench/run.py show overhead     prints a kept result: all peers, commands and versions
    bench/run.py report            writes BENCHMARKS.md, its charts and the table of the README from bench/results
    bench/run.py judge-yourself    five figures of the front page on this machine, with the peers that are installed

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
import causes
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
import pages
import peers
import profiles
import reach
import relinked
import recording
import speed
import stats
import suites
import test_logs
import test_suites
import trials
import warm
import watch
import watch_syntax
from machine import ASSAY, HERE, ROOT, Bench, Failed, build, ended_by_signals, execute, facts, say, version_of
from result import Result

RESULTS = HERE / "results"
BENCHMARKS = ROOT / "BENCHMARKS.md"
README = ROOT / "README.md"

# Every sub-command, the function that measures it, and the resulting figures.
FIGURES = {
    "overhead": (speed.overhead, ["overhead", "bias"]),
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
    "relinked": (relinked.relinked, ["relinked"]),
    "reach": (reach.reach, ["reach"]),
    "why": (causes.causes, ["why"]),
    "trials": (trials.trials, ["trials"]),
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
# The sub-command that measures each figure.
MEASURED_BY = {figure: name for name, (_, figures) in FIGURES.items() for figure in figures}
# Groups of figures that can be requested together.
GROUPS = {group: [name for name in FIGURES if name.startswith(f"{group}-")] for group in ("load", "history", "tests", "watch", "mutate", "farm")}
# Excluded from `all` in the standard size: a bound of 99 % needs 300 edits, `make dist` alone takes
# 20 minutes, each of the 40 trials up to 6, and peers that build for each mutant take hours.
OVERNIGHT = {"change-recall", "dist", "mutate-agreement", "trials"}
# The front-page figures that `judge-yourself` measures, and the time in minutes after which no
# other one is started.
YOURSELF, YOURSELF_SECONDS = ["memory", "power", "overhead", "watch-start", "load-keep-alive"], 180
# A machine with a higher load is not idle.
IDLE_LOAD = 0.5


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = dict.fromkeys([*FIGURES, *MEASURED_BY, *GROUPS, "all", "show", "report", "judge-yourself"])
    arguments.add_argument("figure", choices=known, metavar="FIGURE", help=", ".join(known))
    arguments.add_argument("name", nargs="?", help="of the result to show")
    size = arguments.add_mutually_exclusive_group()
    size.add_argument("--quick", dest="size", action="store_const", const="quick", help="tiny counts: shows that it works, measures nothing")
    size.add_argument("--full", dest="size", action="store_const", const="full", help="full counts, and the peers that take many minutes at a task")
    arguments.set_defaults(size="standard")
    arguments.add_argument("--check", action="store_true", help="report: only tell whether the pages are those of the results, but for what git says of their age")
    arguments.add_argument("--count", type=int, default=None, help="so many edits in place of all (change-recall), so many moments (farm-kill)")
    arguments.add_argument("--beside", action="append", default=[], metavar="FILE", help="count the kept result of an earlier run with another seed, too (change-recall)")
    arguments.add_argument("--seed", type=int, default=None, help="of every random order [default: drawn again, and recorded]")
    given = arguments.parse_args()
    ended_by_signals()
    try:
        if given.figure == "show":
            return show(given.name, directory(given.size))
        if given.figure == "report":
            return report(given.check)
        build()
        if given.figure == "judge-yourself":
            peers.only_installed()
            return judge_yourself(given)
        versions, missing = peers.install()
    except (Failed, pages.Unknown) as error:
        say(f"error: {error}")
        return 1
    versions = {"assay": assay_version(), **versions}
    if given.figure == "all":
        names = [name for name in FIGURES if given.size != "standard" or name not in OVERNIGHT]
    else:
        names = GROUPS.get(given.figure) or [MEASURED_BY.get(given.figure, given.figure)]
    failed = [name for name in names if not measure(name, given, versions, missing, directory(given.size))]
    if failed:
        say(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


def measure(name, given, versions, missing, place):
    """Runs one figure; prints and stores its results. Returns false if it failed."""
    say(name + ("" if given.size == "standard" else f" ({given.size})"))
    machine = facts()
    if machine["load"] > IDLE_LOAD and given.size != "quick":
        say(f"warning: the load is {machine['load']}; what is told of an idle machine will not be true")
    seed = random.SystemRandom().randrange(2**32) if given.seed is None else given.seed
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as scratch:
        bench = Bench(given.size, random.Random(seed), scratch, place, given.count, given.beside)
        try:
            results = FIGURES[name][0](bench)
        except Failed as error:
            say(f"error: {name}: {error}")
            return False
    for result in results:
        result.about = {
            "size": given.size,
            "command": f"bench/run.py {name}" + ("" if given.size == "standard" else f" --{given.size}") + (f" --count {given.count}" if given.count else "") + " --beside FILE" * len(given.beside),
            "when": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
            "minutes": (time.monotonic() - began) / 60,
            "seed": seed,
            "machine": machine,
            "versions": versions,
            "missing": missing,
            "commands": list(bench.commands),
        }
        path = result.save(place)
        print(f"## {result.name}\n\n{result.markdown()}\n", flush=True)
        say(f"kept in {path.relative_to(ROOT)}")
    return True


def directory(size):
    """Returns the directory of results. Quick results are stored separately, so that BENCHMARKS.md
    cannot show them."""
    return RESULTS / "quick" if size == "quick" else RESULTS


def assay_version():
    """Returns the version, and the commit if there is one; a modified tree is named as such."""
    version = version_of([ASSAY, "--version"]) or "assay"
    try:
        commit = execute(["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"], 30).stdout.strip()
    except Failed:
        return version
    return f"{version} ({commit})"


def kept(place):
    """Returns the results in a directory, by name."""
    return {path.stem: Result.load(path) for path in sorted(place.glob("*.json"))}


def show(name, place):
    """Prints a result; without a name, lists the results."""
    results = kept(place)
    if name in results:
        print(f"## {name}\n\n{results[name].markdown()}")
        return 0
    if name:
        say(f"error: there is no result {name} in {place.relative_to(ROOT)}; these are there:")
    for result in results.values():
        print(f"{result.name:20} {result.about['when']}  {result.title}")
    return 1 if name else 0


def report(check):
    """Writes the pages, or compares them."""
    results = kept(RESULTS)
    forgotten = pages.forgotten(results)
    if forgotten:
        raise Failed(f"no row of bench/pages.py shows {'; '.join(forgotten)}")
    size = sum(path.stat().st_size for path in RESULTS.glob("*.json"))
    if size > pages.MOST_BYTES:
        raise Failed(f"the results are {size / 1e6:.1f} MB; more than {pages.MOST_BYTES / 1e6:.0f} MB don't belong into a repository: keep less in `raw`")
    page = pages.page(results, {area.title: origin(area, results) for area in pages.AREAS}, duration(results))
    if page.count("\n") > pages.MOST_LINES:
        raise Failed(f"BENCHMARKS.md would have {page.count(chr(10))} lines; {pages.MOST_LINES} are the most")
    marked = re.compile(r"(<!-- figures -->\n).*?(<!-- end of figures -->)", re.DOTALL)
    front, found = marked.subn(lambda match: f"{match[1]}\n{pages.front(results)}\n\n{match[2]}", README.read_text())
    if found != 1:
        raise Failed(f"README.md has {found} places for the figures instead of one")
    written = {BENCHMARKS: page, README: front}
    written |= {ROOT / area.picture: drawn for area in pages.AREAS if (drawn := pages.chart(area, results))}
    differ = [path for path, text in written.items() if not path.exists() or without_age(path.read_text()) != without_age(text)]
    if check:
        for path in differ:
            say(f"{path.relative_to(ROOT)} is not what `bench/run.py report` makes of bench/results")
        return 1 if differ else 0
    for path, text in written.items():
        path.write_text(text)
    return 0


def without_age(text):
    """Returns a page without the lines about later commits: every commit would change them."""
    return re.sub(r"^Measured .*$", "", text, flags=re.MULTILINE)


def duration(results):
    """Returns how long the runs behind the page took, by their size; each run counts once."""
    runs = {(about["command"], about["when"]): about for about in (result.about for result in results.values())}
    minutes = {}
    for about in runs.values():
        minutes[about["size"]] = minutes.get(about["size"], 0) + about["minutes"]
    shown = " and ".join(f"{of:.0f} minutes in the {size} size" for size, of in minutes.items())
    return f"The {len(runs)} runs behind this page took {shown}."


def origin(area, results):
    """Returns one line: machine, commit and date of an area's figures, and which figures are older
    than the code."""
    abouts = {name: results[name].about for name in area.figures if name in results}
    if not abouts:
        return ""

    def named(one, values):
        values = list(dict.fromkeys(values))
        return f"{one} {values[0]}" if len(values) == 1 else f"{len(values)} {one}s: {', '.join(values)}"

    machines = "; ".join(dict.fromkeys(pages.machine(about["machine"]) for about in abouts.values()))
    commits = {name: commit_of(about) for name, about in abouts.items()}
    shown = named("commit", (f"`{commit}`" for commit in commits.values()))
    dates = sorted({about["when"][:10] for about in abouts.values()})
    older = [name for name in abouts if is_older(commits[name], area.code)]
    age = "" if not older else " **Older than the code**: all." if len(older) == len(abouts) else f" **Older than the code**: {', '.join(older)}."
    sizes = named("size", (about["size"] for about in abouts.values()))
    return f"Measured on {machines}; at {shown}; {' to '.join(dict.fromkeys([dates[0], dates[-1]]))}; {sizes}.{age}"


def commit_of(about):
    """Returns the commit of the program that was measured."""
    found = re.search(r"\(([0-9a-f]+(?:-dirty)?)\)", about["versions"].get("assay", next(iter(about["versions"].values()))))
    return found[1] if found else "unknown"


def is_older(commit, code):
    """Returns whether a later commit changed the code that a figure describes; true if the figure's
    commit is unknown."""
    absent = [place for place in code if not (ROOT / place).exists()]
    if absent:
        raise Failed(f"bench/pages.py names code that is not there: {', '.join(absent)}")
    try:
        since = execute(["git", "-C", str(ROOT), "rev-list", "--count", f"{commit.removesuffix('-dirty')}..HEAD", "--", *code], 60)
    except Failed:
        return True
    return int(since.stdout) > 0


def judge_yourself(given):
    """Prints the README's rows as measured on this machine, next to those of the README."""
    began = time.monotonic()
    place = RESULTS / "here"
    for path in place.glob("*.json"):
        path.unlink()
    versions, missing = peers.install()
    left_out = []
    for name in YOURSELF:
        late = time.monotonic() - began > YOURSELF_SECONDS
        if late or not measure(name, given, {"assay": assay_version(), **versions}, missing, place):
            left_out.append(f"{name} ({'no time was left' if late else 'failed'})")
    here, there = pages.front_cells(kept(place)), pages.front_cells(kept(RESULTS))
    rows = [[*cells[:3], *there[question][1:3]] for question, cells in here.items()]
    print(pages.tight(["question", "assay, here", "others, here", "assay, README", "others, README"], rows))
    if left_out:
        say(f"left out: {', '.join(left_out)}")
    say(f"{(time.monotonic() - began) / 60:.1f} min; `bench/run.py NAME` measures one of them for longer")
    return 0 if rows else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
