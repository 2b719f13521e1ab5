"""The figure about making mutants: 10 MB of real sources in as many languages as this machine has, changed and validated by `assay mutate --list`.

The sources are what is installed here: the libraries of Python, Ruby and Go, the crates of cargo, whatever node has. They are copied in a fixed order until
each language has its share. The time is that of the whole process: reading, parsing, making, validating, listing.
"""

import shutil
import subprocess
import sysconfig
from pathlib import Path

from judge import median, spread
from machine import ROOT, Failed
from ministat import once
from result import Bar, Result

MUTATE = ROOT / "target/release/assay-mutate"
ENDINGS = ["py", "rb", "go", "rs", "js", "ts", "c", "cpp", "java"]


def answer(*argv):
    """What a program prints, or nothing where it is not there."""
    try:
        return subprocess.run(argv, capture_output=True, text=True, timeout=60).stdout.strip()
    except OSError:
        return ""


def places():
    """Where sources are found."""
    found = [sysconfig.get_paths()["stdlib"], answer("ruby", "-e", "print RbConfig::CONFIG['rubylibdir']"), answer("go", "env", "GOROOT")]
    found += [str(Path.home() / ".cargo/registry/src"), "/usr/lib/node_modules", "/usr/share/nodejs", "/usr/include"]
    return [Path(place) for place in found if place and Path(place).is_dir()]


def collect(to, size):
    """Copies sources until each language has its share, and returns how many bytes of each there are."""
    share = size // len(ENDINGS)
    taken = {}
    for place in places():
        for path in sorted(place.rglob("*")):
            ending = path.suffix[1:]
            if ending not in ENDINGS or taken.get(ending, 0) >= share or not path.is_file():
                continue
            length = path.stat().st_size
            names = set(path.parts)
            if 1000 < length < 1 << 20 and not names & {"test", "tests", "spec", "testdata"}:
                target = to / ending / f"{len(list((to / ending).glob('*'))) if (to / ending).is_dir() else 0:05}.{ending}"
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
                taken[ending] = taken.get(ending, 0) + length
    return taken


def generate(bench):
    """The whole process, several times."""
    if not MUTATE.exists():
        raise Failed(f"{MUTATE} is not built: cargo build --release -p assay-mutate")
    project = bench.scratch / "project"
    project.mkdir()
    taken = collect(project, bench.size(10_000_000, 300_000))
    size = sum(taken.values())
    if not size:
        raise Failed("no sources are installed here")
    argv = [str(MUTATE), "--list", str(project)]
    listed = subprocess.run(argv, capture_output=True, text=True, cwd=project, check=True).stdout
    count = len(listed.splitlines()) - 1
    rounds = bench.size(5, 2)
    taken_time = [subprocess_once(bench, argv, project) for _ in range(rounds)]
    result = Result(
        "mutate-generate",
        f"Mutants of {size / 1e6:.1f} MB of source: median of {rounds} runs",
        ["languages", "mutants", "wall", "mutants/s", "MB/s"],
    )
    wall = median(taken_time)
    low, high = spread(taken_time)
    result.row(
        ", ".join(f"{name} {length / 1e6:.1f} MB" for name, length in sorted(taken.items())),
        f"{count:,}",
        f"{wall:.2f} s ({low:.2f} … {high:.2f})",
        f"{count / wall:,.0f}",
        f"{size / 1e6 / wall:.2f}",
    )
    result.bar(Bar.at_most("time for 10 MB", wall * 1e7 / size, 10, lambda v: f"{v:.1f} s"))
    result.raw = {"wall": taken_time, "bytes": taken, "mutants": count}
    return [result]


def subprocess_once(bench, argv, project):
    """Seconds of one run, which sees nothing but the project."""
    return once(bench, ["sh", "-c", 'cd "$0" && exec "$@" >/dev/null', str(project), *argv])[0]
