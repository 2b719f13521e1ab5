#!/usr/bin/env python3
"""Packs built programs for every channel, into a directory with the checksums of all its files.

    pack.py [--out DIR] [--programs MACHINE=DIR]... [CHANNEL...]

Without --programs it packs the results of build.py. CHANNEL: tarball, deb, wheel, python, gem, npm,
crates, sbom, installer, recipes [default: all]. Programs that are not static are also packed, to
try the packages on this machine, but are marked as suitable only for it.
"""

import argparse
import hashlib
import os
import platform
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import build
import crates
import deb
import gem
import native
import licences
import npm
import recipes
import sbom
import tarball
import wheel
from shared import HOME, IS_NOBODYS, MACHINES, MAINTAINER, ROOT, Failed, fresh, gather, write_whole

CHANNELS = ["tarball", "deb", "wheel", "python", "gem", "npm", "crates", "sbom", "installer", "recipes"]

def pack(programs, channels, work, to):
    """Writes the requested packages and returns the files. `programs`: the directory of the
    programs for each machine's name."""
    made = []
    here = programs.get(platform.machine())
    has_programs = bool(set(channels) & {"tarball", "deb", "wheel", "gem", "npm"})
    if has_programs and not here:
        raise Failed(f"pages and completions come from the programs of this machine ({platform.machine()}), which are not among those to pack")

    def for_machine(name):
        machine, place = MACHINES[name], programs[name]
        contents = gather(place, machine, here, licences.of_crates(machine), work / name)
        files = [path for channel in (tarball, deb, wheel, npm) if channel.__name__ in channels for path in channel.make(contents, to)]
        if "gem" in channels:
            files += gem.make(contents, native.recorders(machine, work), work, to)
        return files

    if has_programs:
        # The time is mostly spent compressing, in other processes or with the interpreter's lock
        # released.
        with ThreadPoolExecutor() as threads:
            for files in threads.map(for_machine, programs):
                made += files
    if "sbom" in channels:
        made += [path for name in programs for path in sbom.make(MACHINES[name], to)]
    if "python" in channels:
        made += wheel.make_python_package(work, to, build.tools() / "python")
    if "gem" in channels:
        made += gem.make_source(work, to)
    if "npm" in channels:
        made += npm.make_main(to)
    if "crates" in channels:
        made += crates.make(work, to)
    if "installer" in channels:
        made.append(write_whole(to / "install.sh", (ROOT / "scripts/dist/install.sh").read_bytes()))
    if "recipes" in channels:
        made += recipes.make(to)
    lines = sorted(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made)
    made.append(write_whole(to / "SHA256SUMS", "".join(sorted(lines, key=lambda line: line.split()[1])).encode()))
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--work", type=Path, default=ROOT / "target/packing", help="where it is made")
    parser.add_argument("--programs", action="append", default=[], metavar="MACHINE=DIR")
    parser.add_argument("channel", nargs="*", metavar="CHANNEL", help=", ".join(CHANNELS))
    given = parser.parse_args()
    unknown = set(given.channel) - set(CHANNELS)
    if unknown:
        raise Failed(f"no channel is called {', '.join(sorted(unknown))}: {', '.join(CHANNELS)} are")
    named = dict(pair.partition("=")[::2] for pair in given.programs)
    if set(named) - set(MACHINES):
        raise Failed(f"--programs MACHINE=DIR: {', '.join(MACHINES)} are known")
    programs = {name: Path(place).absolute() for name, place in named.items()} or {name: build.BUILT / name for name in MACHINES}
    out = given.out.absolute()
    os.umask(0o022)
    work = fresh(given.work.absolute())
    for path in pack(programs, given.channel or CHANNELS, work, fresh(out)):
        print(f"{path.stat().st_size:>12,}  {path.name}")
    if IS_NOBODYS:
        print(f"not to be published as it is: it names {HOME} and {MAINTAINER}, who are nobody (Cargo.toml: homepage, authors)")


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        sys.exit(f"pack.py: {failed}")
