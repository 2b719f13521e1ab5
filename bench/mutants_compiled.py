"""The figure about mutants of compiled languages: how many are tried per second in a Rust crate
with its own tests, and in a small C project.

In Rust, cargo-mutants tries its own mutants of the same copy of the same crate, in the same run;
only a part of them, since all would take hours. In both languages, assay is also measured when it
builds each change separately. A mutant counts if a tool ran or built something for it, or found
that it cannot be built. The time is that of the whole process: copying, the tests without a change,
building, proving, trying.
"""

import json
import os
import re
import shutil
from pathlib import Path

from judge import median, spread
from machine import HERE, ROOT, Failed, execute
from ministat import once
from result import Bar, Result

MUTATE = ROOT / "target/release/assay-mutate"
PEERS = HERE / ".peers"
CARGO_MUTANTS = PEERS / "bin/cargo-mutants"
CARGO_MUTANTS_VERSION = "27.1.0"
STRSIM = "0.11.1"
# Results of mutants that were tried, not skipped.
TRIED = {"killed", "survived", "timed_out", "unviable"}


def rust(home):
    """Returns the crate as it was published, in its own directory."""
    found = sorted(Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo")).glob(f"registry/src/*/strsim-{STRSIM}"))
    if not found:
        (home / "asks/src").mkdir(parents=True)
        (home / "asks/src/lib.rs").write_text("")
        (home / "asks/Cargo.toml").write_text(f'[package]\nname = "asks"\nversion = "0.0.0"\n\n[dependencies]\nstrsim = "={STRSIM}"\n')
        execute(["cargo", "fetch"], 300, cwd=home / "asks")
        return rust(home)
    shutil.copytree(found[0], home / "strsim")
    # Separates the crate from the surrounding workspace.
    with (home / "strsim/Cargo.toml").open("a") as manifest:
        manifest.write("\n[workspace]\n")
    return home / "strsim", ["cargo", "test", "--offline"]


def c(home):
    shutil.copytree(HERE / "compiled", home / "compiled")
    return home / "compiled", ["make", "-s", "test"]


def ours(bench, project, command, *options):
    """Returns the mutants that were tried, the seconds that this took, and the fates."""
    out = bench.scratch / "answer.json"
    argv = [str(MUTATE), "--no-sandbox", "--again", "--json", *options, "--", *command]
    script = 'cd "$0" && out="$1" && shift && exec "$@" >"$out"'
    seconds = once(bench, ["env", f"XDG_CACHE_HOME={bench.scratch}/cache", "sh", "-c", script, str(project), str(out), *argv])[0]
    answer = json.loads(out.read_text())
    fates = {}
    for mutant in answer["mutants"]:
        fates[mutant["fate"]] = fates.get(mutant["fate"], 0) + 1
    if answer["notes"] and not options:
        raise Failed("; ".join(answer["notes"]))
    return sum(count for fate, count in fates.items() if fate in TRIED), seconds, fates


def install():
    if not CARGO_MUTANTS.exists():
        execute(["cargo", "install", "cargo-mutants", "--version", CARGO_MUTANTS_VERSION, "--locked", "--root", str(PEERS)], 3600)


def theirs(bench, project, shard):
    """Returns the same for cargo-mutants, which reports the number it tried."""
    jobs = str(os.cpu_count() or 1)
    out = bench.scratch / "mutants"
    shutil.rmtree(out, ignore_errors=True)
    argv = [str(CARGO_MUTANTS), "mutants", "--dir", str(project), "--output", str(out), "--jobs", jobs, "--shard", shard, "--no-times", "--colors", "never"]
    # 2: some were missed; 3: some timed out.
    done = bench.run(argv, 7200, (0, 2, 3))
    told = re.search(r"(\d+) mutants tested", done.stdout + done.stderr)
    if not told:
        raise Failed(f"cargo-mutants does not say how many: {done.stdout[-300:]}")
    return int(told[1]), done.seconds, {}


def compiled(bench):
    """Measures Rust and C, assay in both ways, and cargo-mutants."""
    if not MUTATE.exists():
        raise Failed(f"{MUTATE} is not built: cargo build --release -p assay-mutate")
    install()
    rounds = bench.size(3, 1, 1)
    result = Result(
        "mutate-compiled",
        f"Mutants tried in a second, in strsim {STRSIM} and in a C project of 8 functions: median of {rounds} runs",
        ["project", "tool", "tried", "wall", "mutants/s"],
    )
    rates = {}
    for name, make in {"strsim (Rust)": rust, "text (C)": c}.items():
        home = bench.scratch / name.split()[0]
        home.mkdir()
        project, command = make(home)
        tools = {"assay": lambda: ours(bench, project, command)}
        # These build once per mutant, so only a part of the functions, or of the mutants, is tried,
        # once.
        part = bench.size("1/4", "1/12", "1/8")
        tools["assay --separate-builds"] = lambda: ours(bench, project, command, "--separate-builds", "--shard", part)
        if make is rust:
            tools["cargo-mutants"] = lambda: theirs(bench, project, bench.size("0/4", "0/40", "0/8"))
        for tool, run in tools.items():
            taken = [run() for _ in range(rounds if tool == "assay" else 1)]
            per_second = [count / seconds for count, seconds, _ in taken]
            rates[name, tool] = median(per_second)
            walls = [seconds for _, seconds, _ in taken]
            low, high = spread(walls)
            shown = f"{median(walls):.1f} s" + (f" ({low:.1f} … {high:.1f})" if len(walls) > 1 else "")
            result.row(name, tool, taken[0][0], shown, f"{median(per_second):.2f}")
            result.raw[f"{name}, {tool}"] = taken
    peer = rates["strsim (Rust)", "cargo-mutants"]
    for name in ("strsim (Rust)", "text (C)"):
        result.bar(Bar.at_least(f"{name}: times as many as cargo-mutants in Rust", rates[name, "assay"] / peer, 20, lambda v: f"{v:.0f}"))
        result.bar(Bar.at_least(f"{name}: mutants a second", rates[name, "assay"], 3, lambda v: f"{v:.1f}"))
    result.note(f"cargo-mutants {CARGO_MUTANTS_VERSION} tried a part of its own mutants, as many at once as there are processors, as assay does.")
    result.note("Of assay: " + "; ".join(f"{key}: {', '.join(f'{n} {fate}' for fate, n in sorted(runs[0][2].items()))}" for key, runs in result.raw.items() if runs[0][2]) + ".")
    return [result]
