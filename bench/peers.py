"""The peers: how each is installed, how it is made to run a program a number of times, and how its
results are read.

They are installed under bench/.peers if possible, without affecting existing installations. Every
result names the peers that are missing. Nothing is measured here.
"""

import functools
import json
import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional

from machine import ASSAY, BUILD, HERE, Failed, execute, say, version_of

HOME = HERE / ".peers"
HYPERFINE_1 = HOME / "debian/usr/bin/hyperfine"
HYPERFINE_2 = HOME / "bin/hyperfine"
PYPERF = HOME / "pyperf/bin/python"
SCIPY = HOME / "scipy/bin/python"
RSCRIPT = Path("Rscript")
COMPARE_PY = HOME / "debian/usr/share/benchmark/compare.py"
BENCHSTAT = HOME / "bin/benchstat"
WATCHFILES = HOME / "watchfiles/bin/watchfiles"
PYTEST_WATCHER = HOME / "pytest-watcher/bin/ptw"
MUTMUT = HOME / "mutmut/bin/mutmut"
GREMLINS = HOME / "gremlins/bin/pytest"
TOOLZ = HOME / "toolz/toolz-1.0.0/toolz/__init__.py"
CACHETOOLS = HOME / "cachetools/cachetools-5.5.2/src/cachetools/__init__.py"


@dataclass
class Timer:
    """A tool that runs a program many times and reports its durations."""

    name: str
    # Maps the program, the number of runs and a file for the result to the command line.
    command: Callable[[list, int, Path], list]
    # Extracts the median in seconds from the output (standard output, standard error) and that
    # file.
    median: Callable[[str, str, Path], float]
    # A required program.
    needs: Optional[Path] = None
    # Maximum number of runs: slow tools get fewer, which the rate takes into account.
    most: int = 10**9


def median_of_lines(stdout, _stderr, _out):
    """Parses the output of the floor programs: nanoseconds, one per line."""
    return _middle([int(line) / 1e9 for line in stdout.split()])


def median_of_assay(stdout, _stderr, _out):
    return json.loads(stdout)["descriptions"][0]["metrics"]["wall"]["median"]


def hyperfine_times(path):
    """Returns the times in seconds of every command in a hyperfine export; schema 1 and 2."""
    results = json.loads(path.read_text())["results"]
    return [
        result.get("times") or [m["time_wall_clock"]["value"] for m in result["measurements"]]
        for result in results
    ]


def median_of_hyperfine(_stdout, _stderr, out):
    return _middle(hyperfine_times(out)[0])


def median_of_perf(_stdout, stderr, _out):
    """`perf stat --table` prints one line per run, with the distance to the mean in brackets."""
    rows = [line.split() for line in stderr.splitlines() if "(+" in line or "(-" in line]
    return _middle([float(row[0]) for row in rows if row[0].replace(".", "").isdigit()])


def median_of_pyperf(_stdout, _stderr, out):
    runs = json.loads(out.read_text())["benchmarks"][0]["runs"]
    return _middle([value for run in runs for value in run.get("values", [])])


def _middle(values):
    values = sorted(values)
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def _hyperfine(program, *options):
    return lambda argv, runs, out: [
        program, *options, "--style", "none", "--runs", runs, "--export-json", out, shlex.join(argv),
    ]


def _perf(*options):
    return lambda argv, runs, _out: ["perf", "stat", "-r", runs, "--table", *options, *argv]


FLOOR = "C loop, posix_spawn"

TIMERS = [
    Timer(FLOOR, lambda argv, runs, _out: [BUILD / "floor", runs, *argv], median_of_lines),
    Timer("C loop, vfork by hand", lambda argv, runs, _out: [BUILD / "vfork", runs, *argv], median_of_lines),
    Timer(
        "assay",
        lambda argv, runs, out: [
            ASSAY, "run", "--runs", runs, "--warmup", "0", "--json", "--save", out, shlex.join(argv),
        ],
        median_of_assay,
    ),
    Timer(
        "assay --no-save",
        lambda argv, runs, _out: [
            ASSAY, "run", "--runs", runs, "--warmup", "0", "--json", "--no-save", shlex.join(argv),
        ],
        median_of_assay,
    ),
    Timer("hyperfine 2.0 (no shell)", _hyperfine(HYPERFINE_2), median_of_hyperfine, HYPERFINE_2),
    Timer("hyperfine 1.15 -N", _hyperfine(HYPERFINE_1, "-N"), median_of_hyperfine, HYPERFINE_1),
    Timer("hyperfine 2.0 -S (shell)", _hyperfine(HYPERFINE_2, "-S"), median_of_hyperfine, HYPERFINE_2),
    Timer("hyperfine 1.15 (shell)", _hyperfine(HYPERFINE_1), median_of_hyperfine, HYPERFINE_1),
    Timer("perf stat", _perf(), median_of_perf, Path("perf")),
    Timer("perf stat --null", _perf("--null"), median_of_perf, Path("perf")),
    Timer(
        "pyperf command",
        # Ten processes of three values; the remaining runs are loops.
        lambda argv, runs, out: [
            PYPERF, "-m", "pyperf", "command", "-q", "-p", "10", "-n", "3", "-w", "0",
            "-l", max(1, runs // 30), "-o", out, "--", *argv,
        ],
        median_of_pyperf,
        PYPERF,
        most=300,
    ),
]


def there(timer_or_path):
    """Returns whether its requirements are installed."""
    path = timer_or_path.needs if isinstance(timer_or_path, Timer) else timer_or_path
    return path is None or shutil.which(str(path)) is not None or str(path).endswith(".py") and Path(path).is_file()


def _of_debian(package, version):
    """Unpacks a Debian package into a separate directory: the system is not changed."""
    home = HOME / "debian"
    home.mkdir(parents=True, exist_ok=True)
    execute(["apt-get", "download", f"{package}={version}"], 120, cwd=home)
    execute(["dpkg-deb", "-x", str(next(home.glob(f"{package}_*.deb"))), str(home)], 60)


def _benchstat():
    package = "golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da"
    execute(["env", f"GOBIN={HOME / 'bin'}", "go", "install", package], 300)


def _new_hyperfine():
    execute(
        ["cargo", "install", "hyperfine", "--version", "2.0.0", "--locked", "--ignore-rust-version", "--root", str(HOME)],
        1800,
    )


def _pyperf():
    execute(["python3", "-m", "venv", str(HOME / "pyperf")], 120)
    execute([str(PYPERF), "-m", "pip", "install", "--quiet", "pyperf==2.10.0"], 300)


def _watchfiles():
    execute(["python3", "-m", "venv", str(HOME / "watchfiles")], 120)
    execute([str(WATCHFILES.with_name("python")), "-m", "pip", "install", "--quiet", "watchfiles==1.3.0"], 300)


def _pytest_watcher():
    execute(["python3", "-m", "venv", str(HOME / "pytest-watcher")], 120)
    packages = ["pytest==9.2.0", "pytest-watcher==0.6.3", "sqlalchemy==2.1.9"]
    execute([str(PYTEST_WATCHER.with_name("python")), "-m", "pip", "install", "--quiet", *packages], 300)


def _mutmut():
    execute(["python3", "-m", "venv", str(HOME / "mutmut")], 120)
    execute([str(MUTMUT.with_name("python")), "-m", "pip", "install", "--quiet", "pytest==9.2.0", "mutmut==3.8.1"], 300)


def _gremlins():
    execute(["python3", "-m", "venv", str(HOME / "gremlins")], 120)
    execute([str(GREMLINS.with_name("python")), "-m", "pip", "install", "--quiet", "pytest==9.2.0", "pytest-gremlins==1.12.2"], 300)


def _sources(name, version):
    """Returns the sources of a Python package, including its tests."""
    home = HOME / name
    home.mkdir(parents=True, exist_ok=True)
    execute(["python3", "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "-d", str(home), f"{name}=={version}"], 300)
    shutil.unpack_archive(home / f"{name}-{version}.tar.gz", home)


def _scipy():
    execute(["python3", "-m", "venv", str(HOME / "scipy")], 120)
    execute([str(SCIPY), "-m", "pip", "install", "--quiet", "numpy==2.4.6", "scipy==1.17.1"], 600)


def install_boot():
    """Installs R's bootstrap, which is separate from R; used only by long runs."""
    if there(RSCRIPT):
        try:
            execute([str(RSCRIPT), "-e", "library(boot)"], 60)
        except Failed:
            _by_apt("r-cran-boot")


def install_benchmark_ips():
    """Used by a single figure."""
    try:
        execute(["ruby", "-e", "require 'benchmark/ips'"], 60)
    except Failed:
        _by_apt("ruby-benchmark-ips")


# False: missing peers are not installed.
_installs = True


def only_installed():
    """From now on no peer is installed; missing ones are named."""
    global _installs
    _installs = False


def to_install():
    """Raises an error if peers must not be installed; called before installing one."""
    if not _installs:
        raise Failed("it is not installed")


def _by_apt(packages):
    to_install()
    if os.geteuid() != 0:
        raise Failed(f"only root can install {packages}")
    execute(["apt-get", "install", "--yes", "--no-install-recommends", *packages.split()], 600)


# A Go program contains the version of its module.
VERSION_OF_GO = """go version -m "$0" | awk '$1 == "mod" {print $2, $3}'"""

# The name of each peer, its program, its installation, and the command that prints its version.
PEERS = [
    ("hyperfine 1.15", HYPERFINE_1, lambda: _of_debian("hyperfine", "1.15.*"), [HYPERFINE_1, "--version"]),
    ("hyperfine 2.0", HYPERFINE_2, _new_hyperfine, [HYPERFINE_2, "--version"]),
    ("perf", Path("perf"), lambda: _by_apt("linux-perf"), ["perf", "--version"]),
    ("ministat", Path("ministat"), lambda: _by_apt("ministat"), ["dpkg-query", "--show", "--showformat", "${Package} ${Version}", "ministat"]),
    ("pyperf", PYPERF, _pyperf, [PYPERF, "-c", "import pyperf; print('pyperf', pyperf.__version__)"]),
    ("scipy", SCIPY, _scipy, [SCIPY, "-c", "import numpy, scipy; print('scipy', scipy.__version__, 'with numpy', numpy.__version__)"]),
    ("compare.py", COMPARE_PY, lambda: _of_debian("libbenchmark-tools", "1.7.1-*"), ["echo", "compare.py of libbenchmark-tools 1.7.1"]),
    ("benchstat", BENCHSTAT, _benchstat, ["sh", "-c", VERSION_OF_GO, BENCHSTAT]),
    ("R", RSCRIPT, lambda: _by_apt("r-base-core"), [RSCRIPT, "--version"]),
    ("watchfiles", WATCHFILES, _watchfiles, [WATCHFILES, "--version"]),
    ("entr", Path("entr"), lambda: _by_apt("entr"), ["dpkg-query", "-W", "-f", "entr ${Version}", "entr"]),
    ("inotify-tools", Path("inotifywait"), lambda: _by_apt("inotify-tools"), ["dpkg-query", "-W", "-f", "inotify-tools ${Version}", "inotify-tools"]),
    ("pytest-watcher", PYTEST_WATCHER, _pytest_watcher, [PYTEST_WATCHER, "--version"]),
    ("mutmut", MUTMUT, _mutmut, [MUTMUT.with_name("python"), "-c", "from importlib.metadata import version; print('mutmut', version('mutmut'))"]),
    ("pytest-gremlins", GREMLINS, _gremlins, [GREMLINS.with_name("python"), "-c", "from importlib.metadata import version; print('pytest-gremlins', version('pytest-gremlins'))"]),
    ("toolz", TOOLZ, lambda: _sources("toolz", "1.0.0"), ["echo", "toolz 1.0.0"]),
    ("cachetools", CACHETOOLS, lambda: _sources("cachetools", "5.5.2"), ["echo", "cachetools 5.5.2"]),
    ("guard", Path("guard"), lambda: _by_apt("ruby-guard ruby-guard-shell ruby-activerecord"), ["dpkg-query", "-W", "-f", "guard ${Version}", "ruby-guard"]),
    ("spring", Path("spring"), lambda: _by_apt("ruby-spring ruby-railties ruby-sqlite3"), ["dpkg-query", "-W", "-f", "spring ${Version}", "ruby-spring"]),
    ("GNU time", Path("/usr/bin/time"), lambda: _by_apt("time"), ["/usr/bin/time", "--version"]),
]


@functools.cache
def install():
    """Installs missing peers. Returns the versions by name, and the peers that are still missing,
    with the reason."""
    versions, missing = {}, {}
    for name, path, get, version in PEERS:
        if not there(path):
            try:
                to_install()
                say(f"installing {name}")
                get()
            except (Failed, StopIteration) as error:
                missing[name] = str(error) or "its package was not found"
                say(f"missing: {name}: {missing[name]}")
                continue
        found = version_of(version)
        if found is None:
            missing[name] = "it is installed but does not start"
        else:
            versions[name] = found
    return versions, missing
