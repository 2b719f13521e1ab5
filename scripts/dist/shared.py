"""Common code of all channels: the released programs and their machines, the version and the time
of the commit, the other packed files, and archives that always have the same bytes.

It contains nothing specific to a channel, and compiles nothing.
"""

import gzip
import io
import json
import os
import re
import shutil
import stat
import struct
import subprocess
import tarfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The programs, each built from the crate of the same name, as in the Makefile.
MAKEFILE = (ROOT / "Makefile").read_text()
PROGRAMS = re.findall(r"-p (\S+)", re.search(r"^PROGRAMS := (.*)$", MAKEFILE, re.M)[1])
FEATURES = re.search(r"^FEATURES := (.*)$", MAKEFILE, re.M)[1]
# The name in every registry; `assay` belongs to others on crates.io.
PACKAGE = "assay-bench"
# The Python package, which depends on the one with the program: installing only the program does
# not add a pytest plugin.
PYTHON_PACKAGE = "assay-perf"
# Trial packages need not be small; and level 9 takes two and a half times as long as 7, for a size
# reduction of 0.4 %.
IS_QUICK = os.environ.get("ASSAY_PACK_QUICKLY") == "1"
LEVEL = 1 if IS_QUICK else 7
SUMMARY = "Is it really faster, by how much, and how sure can I be?"
# Third-party material included as it is, in addition to crates (which the SBOM lists).
LICENCES = {
    "LICENSE-MIT": "LICENSE-MIT",
    "LICENSE-APACHE": "LICENSE-APACHE",
    "LICENSE-FONT-OFL.txt": "crates/report/fonts/OFL.txt",
    "LICENSE-uPlot.txt": "crates/report/assets/LICENSE-uPlot.txt",
}
# The licenses of all included crates, collected by `licences.py`.
NOTICES = "LICENSES-crates.txt"


@dataclass(frozen=True)
class Machine:
    """A kind of machine, with its name in each channel."""

    name: str
    target: str
    elf: int
    deb: str
    gem: str
    npm: str


MACHINES = {
    machine.name: machine
    for machine in (
        Machine("x86_64", "x86_64-unknown-linux-musl", 62, "amd64", "x86_64-linux", "x64"),
        Machine("aarch64", "aarch64-unknown-linux-musl", 183, "arm64", "aarch64-linux", "arm64"),
    )
}


class Failed(Exception):
    """Packing is impossible; the message says what to do."""


def of_workspace(pattern, what):
    """Returns the common settings of all crates in Cargo.toml."""
    found = re.search(rf"^\[workspace\.package\]$(?:\n(?!\[).*)*?\n{pattern}$", (ROOT / "Cargo.toml").read_text(), re.M)
    if not found:
        raise Failed(f"{ROOT / 'Cargo.toml'} has no {what} of the workspace")
    return found[1]


# The project's home page, and its maintainer.
HOME = of_workspace(r'homepage = "(.*)"', "homepage")
MAINTAINER = of_workspace(r'authors = \["(.* <.*>)"\]', "author with an address")
# Neither has a registered name.
IS_NOBODYS = ".example" in HOME + MAINTAINER


def ask(*command, **options):
    """Returns the output of a command; raises Failed with the output if it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise Failed(f"`{' '.join(map(str, command))}` ended with status {done.returncode}:\n{done.stdout}{done.stderr}".rstrip())
    return done.stdout


def version():
    """Returns the version of the workspace."""
    return of_workspace(r'version = "(.*)"', "version")


def epoch():
    """Returns the time with which everything is dated: SOURCE_DATE_EPOCH, or otherwise that of the
    last commit."""
    said = os.environ.get("SOURCE_DATE_EPOCH")
    return int(said) if said else int(ask("git", "-C", ROOT, "log", "-1", "--format=%ct"))


# ---- Contents of packages. ----


@dataclass(frozen=True)
class Contents:
    """The input of a channel for one machine: directories with programs, man pages, completions and
    licenses."""

    machine: Machine
    place: Path
    is_static: bool

    @property
    def programs(self):
        return [self.place / "bin" / name for name in PROGRAMS]

    @property
    def pages(self):
        return sorted((self.place / "man").iterdir())

    def completions(self, shell):
        return self.place / "completions" / f"assay.{shell}"

    @property
    def licences(self):
        return [self.place / name for name in [*LICENCES, NOTICES]]


def gather(programs, machine, speaker, notices, place):
    """Creates the files to be packed for a machine below `place`. `programs` is the directory of
    the programs, `speaker` one with programs that run on this machine, which generate the man pages
    and completions (the same on all machines). `notices`: the text of NOTICES."""
    fresh(place)
    (place / "bin").mkdir()
    for name in PROGRAMS:
        source = Path(programs) / name
        if not source.is_file():
            raise Failed(f"{source} is not there: build it first")
        shutil.copyfile(source, place / "bin" / name)
        (place / "bin" / name).chmod(0o755)
    kinds = {name: elf(place / "bin" / name) for name in PROGRAMS}
    for name, (processor, _) in kinds.items():
        if processor != machine.elf:
            raise Failed(f"{Path(programs) / name} is not for {machine.name}, but for another machine (number {processor} of ELF)")
    # Completions also include subcommands from programs on PATH: only those of this project must be
    # included.
    asked = {"cwd": place, "env": {"PATH": "/nowhere", "HOME": str(place), "LC_ALL": "C.UTF-8"}}
    assay = Path(speaker).resolve() / "assay"
    ask(assay, "man", "--out", place / "man", **asked)
    (place / "completions").mkdir()
    for shell in ("bash", "zsh", "fish"):
        (place / "completions" / f"assay.{shell}").write_text(ask(assay, "completions", shell, **asked))
    for name, source in LICENCES.items():
        shutil.copyfile(ROOT / source, place / name)
    (place / NOTICES).write_text(notices)
    shutil.copyfile(ROOT / "README.md", place / "README.md")
    return Contents(machine, place, not any(needs for _, needs in kinds.values()))


def elf(path):
    """Returns the processor of a program (its number in ELF), and whether it needs a dynamic
    linker."""
    with open(path, "rb") as file:
        head = file.read(64)
        if head[:6] != b"\x7fELF\x02\x01":
            raise Failed(f"{path} is no program for 64 bits of Linux")
        (processor,) = struct.unpack_from("<H", head, 18)
        (table,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        file.seek(table)
        kinds = [struct.unpack_from("<I", file.read(size))[0] for _ in range(count)]
    return processor, 3 in kinds


def fresh(place):
    """Creates an empty directory in place of anything that exists there."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    return place


# ---- Archives: sorted names, modes independent of the umask, one owner, one date. ----


@dataclass(frozen=True)
class Entry:
    """A file of an archive; the content is bytes, or the path of a file."""

    name: str
    content: object
    is_program: bool = False

    @property
    def mode(self):
        return 0o755 if self.is_program else 0o644

    @property
    def bytes(self):
        return self.content.read_bytes() if isinstance(self.content, Path) else self.content


def write_tar_gz(path, entries):
    """Returns a compressed tar archive of the entries and their directories."""
    date = epoch()
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for entry in sorted(entries, key=lambda entry: entry.name):
            content = entry.bytes
            head = tarfile.TarInfo(entry.name)
            head.size, head.mode, head.mtime = len(content), entry.mode, date
            head.uname = head.gname = "root"
            archive.addfile(head, io.BytesIO(content))
    write_whole(path, gzipped(plain.getvalue(), LEVEL))
    return path


def gzipped(content, level=9):
    """Compresses without name and date, at the maximum level, as required by Debian."""
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=level, fileobj=packed, mtime=0) as file:
        file.write(content)
    return packed.getvalue()


def write_zip(path, entries):
    """Returns a zip archive of the entries in the given order."""
    date = time.gmtime(max(epoch(), 315532800))[:6]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for entry in entries:
            head = zipfile.ZipInfo(entry.name, date)
            head.create_system = 3
            head.external_attr = (stat.S_IFREG | entry.mode) << 16
            head.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(head, entry.bytes, compresslevel=LEVEL)
    write_whole(path, packed.getvalue())
    return path


def write_whole(path, content):
    """Writes a file, which appears complete or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    hidden = path.with_name(f".{path.name}")
    hidden.write_bytes(content)
    hidden.replace(path)
    return path


def write_tree(place, entries):
    """Writes the entries as files below a directory, for tools that pack directories; sets all
    modes and dates."""
    date = epoch()
    for entry in entries:
        path = place / entry.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(entry.bytes)
        path.chmod(entry.mode)
    for path in [place, *place.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)
        os.utime(path, (date, date), follow_symlinks=False)


def metadata(*options):
    """Returns cargo's metadata of the workspace."""
    return json.loads(ask("cargo", "metadata", "--locked", "--format-version", "1", *options, cwd=ROOT))
