#!/usr/bin/env python3
"""Builds the released programs: static, with the C library musl, for each machine, on any of these
machines.

    build.py [MACHINE...]     [default: x86_64 and aarch64]; writes to target/handed-out/MACHINE

cargo-zigbuild compiles and links, with the compiler, linker and C library of zig; both are
installed from PyPI at fixed versions, in a separate environment below target/. The same sources
always result in the same bytes: the programs contain no paths of this machine, no dates and no
random numbers.
"""

import os
import shlex
import shutil
import sys
import time
from pathlib import Path

from shared import FEATURES, MACHINES, PROGRAMS, ROOT, Failed, ask, elf, epoch, fresh

# The versions of the compiler, of the builder for the Python package, and, below, of Rust.
TOOLS = ["cargo-zigbuild==0.24.1", "ziglang==0.17.1", "setuptools==80.9.0"]
ENVIRONMENT = ROOT / "target/dist-tools"
BUILT = ROOT / "target/handed-out"
# Features of SQLite that are not used here: full-text search, maps, JSON, loadable extensions.
SQLITE = ["-USQLITE_ENABLE_FTS3", "-USQLITE_ENABLE_FTS3_PARENTHESIS", "-USQLITE_ENABLE_FTS5", "-USQLITE_ENABLE_RTREE", "-USQLITE_ENABLE_DBSTAT_VTAB",
          "-USQLITE_SOUNDEX", "-USQLITE_ENABLE_LOAD_EXTENSION", "-DSQLITE_OMIT_LOAD_EXTENSION", "-DSQLITE_OMIT_JSON"]


def tools():
    """Returns the program directory of the environment with the tools, which is created if
    missing."""
    stamp = ENVIRONMENT / "installed.txt"
    wanted = "\n".join(TOOLS) + "\n"
    if not stamp.is_file() or stamp.read_text() != wanted:
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        try:
            ask(sys.executable, "-m", "venv", ENVIRONMENT)
        except Failed as failed:
            raise Failed(f"no environment of Python can be made (Debian: apt install python3-venv):\n{failed}") from failed
        ask(ENVIRONMENT / "bin/pip", "--disable-pip-version-check", "install", "--quiet", "--no-compile", *TOOLS)
        stamp.write_text(wanted)
    return ENVIRONMENT / "bin"


def settings(targets):
    """Returns the environment for cargo: without unwinding tables, which a program that aborts on
    panic never reads; at a fixed address (since startup is measured as well); and with every path
    of this machine replaced."""
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    paths = {str(ROOT): "/assay", str(home): "/cargo"}
    # The linker is started in the root; the path of the script must not depend on its location.
    rust = ["-Cforce-unwind-tables=no", "-Crelocation-model=static", "-Clink-arg=-Wl,-T,crates/assay/without-tables.ld"]
    rust += [f"--remap-path-prefix={path}={name}" for path, name in paths.items()]
    c = shlex.join(f"-ffile-prefix-map={path}={name}" for path, name in paths.items())
    environment = dict(os.environ)
    for unwanted in ("RUSTFLAGS", "CFLAGS", "CC", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"):
        environment.pop(unwanted, None)
    return environment | {
        "PATH": f"{tools()}:{environment['PATH']}",
        "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(rust),
        **{f"CFLAGS_{target.replace('-', '_')}": c for target in targets},
        "CARGO_ZIGBUILD_CACHE_DIR": str(ROOT / "target/zig"),
        "ZIG_GLOBAL_CACHE_DIR": str(ROOT / "target/zig/cache"),
        "ZIG_LOCAL_CACHE_DIR": str(ROOT / "target/zig/cache"),
        "LIBSQLITE3_FLAGS": " ".join(SQLITE),
        "SOURCE_DATE_EPOCH": str(epoch()),
        "CARGO_INCREMENTAL": "0",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
    }


def has_library(target):
    """Returns whether rustc has the standard library for a machine. Asking rustup would require a
    network."""
    place = Path(ask("rustc", "--print", "target-libdir", "--target", target, cwd=ROOT).strip())
    return any(place.glob("libstd-*.rlib"))


def build(machines):
    """Builds the programs for these machines together, so that long sequential steps, such as the
    last one of each program, overlap with others, and build scripts are compiled once."""
    targets = [machine.target for machine in machines]
    lacking = [target for target in targets if not has_library(target)]
    if lacking and shutil.which("rustup"):
        ask("rustup", "target", "add", *lacking, cwd=ROOT)
    words = [word for target in targets for word in ("--target", target)]
    words += [word for name in PROGRAMS for word in ("-p", name)] + ["--features", FEATURES]
    command = ["cargo", "zigbuild", "--profile", "dist", "--locked", *words]
    status = os.spawnvpe(os.P_WAIT, command[0], command, settings(targets))
    if status != 0:
        raise Failed(f"`{shlex.join(command)}` ended with status {status}")
    for machine in machines:
        place = fresh(BUILT / machine.name)
        for name in PROGRAMS:
            shutil.copy(ROOT / "target" / machine.target / "dist" / name, place / name)
            processor, needs_linker = elf(place / name)
            if processor != machine.elf or needs_linker:
                raise Failed(f"{place / name} is not static, or for another machine")


def main(names):
    os.chdir(ROOT)
    unknown = set(names) - set(MACHINES)
    if unknown:
        raise Failed(f"no machine is called {', '.join(sorted(unknown))}: {', '.join(MACHINES)} are")
    machines = [MACHINES[name] for name in names or MACHINES]
    began = time.monotonic()
    build(machines)
    print(f"built for {' and '.join(machine.name for machine in machines)} in {time.monotonic() - began:.0f} s: {BUILT}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failed as failed:
        sys.exit(f"build.py: {failed}")
