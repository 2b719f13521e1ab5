"""Small Debian systems for trying packages. Each is created once with mmdebstrap; changes made
inside are discarded after each use. They have no network and no compiler.

Requires root, a kernel with overlays, and Debian's mirror for creating them.
"""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from shared import ROOT, Failed, ask

PLACE = ROOT / "target/dist-roots"
SUITE = "bookworm"
# Packages of each kind in addition to the minimal system.
KINDS = {
    "bare": [],
    "python": ["python3-venv"],
    "ruby": ["ruby"],
    # RubyGems calls make for every extension, even if there is nothing to build.
    "ruby-make": ["ruby", "make"],
    "node": ["nodejs", "npm"],
    "lintian": ["lintian"],
}


@dataclass(frozen=True)
class Said:
    """The result of a script: its status, its output, and its duration in seconds."""

    status: int
    text: str
    seconds: float


def need():
    """Raises Failed if no root can be created or entered."""
    if os.geteuid() != 0:
        raise Failed("roots are made and entered by root alone")
    if not shutil.which("mmdebstrap"):
        if not shutil.which("apt-get"):
            raise Failed("mmdebstrap is not there, which makes the roots")
        ask("apt-get", "update", "-qq")
        ask("apt-get", "install", "-y", "-qq", "--no-install-recommends", "mmdebstrap", env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"})


def root(kind):
    """Returns the directory of a root, created if missing. It appears complete or not at all."""
    place = PLACE / f"{SUITE}-{kind}"
    if not place.is_dir():
        PLACE.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(prefix=f".{kind}-", dir=PLACE))
        more = [f"--include={','.join(KINDS[kind])}"] if KINDS[kind] else []
        try:
            # Its mounts and processes end with it, however it ends.
            ask("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", *more, "--aptopt=Apt::Install-Recommends false",
                "--dpkgopt=path-exclude=/usr/share/locale/*", SUITE, making)
            making.chmod(0o755)
            making.rename(place)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    return place


def enter(kind, script, files, proc=True, tmp="rw"):
    """Runs a shell script inside, with the files of a directory in /handed-out. `proc`: whether
    /proc exists; `tmp`: mount options of /tmp."""
    lower = root(kind)
    inside = f"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM=dumb sh -eu -c {shlex.quote(script)}"
    outside = f"""
        mount --make-rprivate /
        work={shlex.quote(str(PLACE / ".inside"))}
        mkdir -p "$work"
        mount -t tmpfs none "$work"
        mkdir "$work/upper" "$work/work" "$work/root"
        mount -t overlay overlay -o lowerdir={shlex.quote(str(lower))},upperdir="$work/upper",workdir="$work/work" "$work/root"
        cd "$work/root"
        mkdir -p handed-out dev proc tmp
        mount --bind {shlex.quote(str(files))} handed-out
        mount -o remount,bind,ro handed-out
        mount -t tmpfs -o mode=755 none dev
        for name in null zero random urandom full; do touch dev/$name; mount --bind /dev/$name dev/$name; done
        ln -s /proc/self/fd dev/fd
        mkdir dev/shm
        mount -t tmpfs -o mode=1777,{tmp} none tmp
        {"mount -t proc proc proc" if proc else ":"}
        exec chroot . /usr/bin/env -i {inside}
    """
    began = time.monotonic()
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--net", "--ipc", "sh", "-eu", "-c", outside],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, timeout=600,
    )
    return Said(done.returncode, done.stdout, time.monotonic() - began)


def compilers(kind):
    """Returns the names of compilers in a root, which must have none."""
    directory = root(kind) / "usr/bin"
    return sorted(path.name for path in directory.iterdir() if re.fullmatch(r"(.*-)?(cc|gcc|g\+\+|c\+\+|clang|rustc|cargo|go)(-\d+)?", path.name))
