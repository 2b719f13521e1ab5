"""Failures of installation: another processor, a download that is interrupted or was tampered with,
a system without /proc, a C library that is too old. Each trial raises Failed if the problem is not
reported clearly, or something was changed nevertheless. Also checks that the same programs are
packed to the same bytes.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import roots
from shared import PACKAGE, ROOT, Failed, fresh, version


class Skipped(Exception):
    """The trial is impossible here, for the reason in the message."""


def within(dist, pattern):
    """Returns the only file that matches a pattern."""
    found = list(dist.glob(pattern))
    if len(found) != 1:
        raise Skipped(f"{dist} has {len(found)} files {pattern}")
    return found[0]


def refused(kind, script, files, words, **system):
    """Checks that the script fails, and that its output contains all these words."""
    said = roots.enter(kind, script, files, **system)
    missing = [word for word in words if word not in said.text]
    if said.status == 0 or missing:
        raise Failed(f"it ended with status {said.status}, and said nothing of {missing}:\n{said.text}")
    return said.text


def fine(kind, script, files, words=(), **system):
    """Checks that the script succeeds, and that its output contains all these words."""
    said = roots.enter(kind, script, files, **system)
    missing = [word for word in words if word not in said.text]
    if said.status != 0 or missing:
        raise Failed(f"it ended with status {said.status}, and said nothing of {missing}:\n{said.text}")
    return said.text


# ---- Another processor. ----


def other_deb(dist, here, other):
    within(dist, f"{PACKAGE}_*_{other.deb}.deb")
    refused("bare", f"dpkg --install /handed-out/{PACKAGE}_*_{other.deb}.deb", dist, [f"({other.deb}) does not match system ({here.deb})"])
    return "dpkg refuses it"


def other_wheel(dist, here, other):
    wheel = within(dist, f"*-py3-none-*{other.name}.whl")
    refused("python", f"python3 -m venv /opt/p; /opt/p/bin/pip install --no-index /handed-out/{wheel.name}", dist, ["is not a supported wheel on this platform"])
    return "pip refuses it"


def other_npm(dist, here, other):
    within(dist, f"{PACKAGE}-linux-{other.npm}-*.tgz")
    refused("node", f"npm install --offline --global /handed-out/{PACKAGE}-linux-{other.npm}-*.tgz", dist, ["EBADPLATFORM"])
    return "npm refuses it"


def other_gem(dist, here, other):
    """RubyGems installs any file that it is given, for whatever platform; it does not start
    programs for another machine."""
    within(dist, f"{PACKAGE}-*-{other.gem}.gem")
    refused("ruby", f"gem install --local --no-document /handed-out/{PACKAGE}-*-{other.gem}.gem; assay --version", dist, [f"can't find gem {PACKAGE}"])
    return "RubyGems installs it, and finds nothing to start"


def npm_alone(dist, here, other):
    """The main npm package, without the one that has the program: its launcher reports which one is
    missing, or that there is none."""
    main = within(dist, f"{PACKAGE}-{version()}.tgz").name
    alone = f"npm install --silent --offline --omit=optional --no-audit --no-fund --global /handed-out/{main}\n"
    refused("node", f"{alone} assay --version", dist, [f"{PACKAGE}-linux-{here.npm} is not installed", f"npm install {PACKAGE}-linux-{here.npm}@"])
    # A machine without a build, according to Node.
    strange = "echo 'Object.defineProperty(process, \"arch\", {value: \"riscv64\"})' >/tmp/arch.cjs\nNODE_OPTIONS='--require /tmp/arch.cjs' assay --version"
    refused("node", f"{alone} {strange}", dist, ["there is no program for linux-riscv64", f"linux-{here.npm}"])
    return "the starter says what is missing"


def other_installer(dist, here, other):
    """The machine's type is read from uname, which is replaced by one with another answer."""
    for system, processor, words in (("Linux", "riscv64", "no program for the processor riscv64"), ("Darwin", "arm64", "no programs for Darwin")):
        fake = f"mkdir /tmp/b; printf '#!/bin/sh\\ncase $1 in -m) echo {processor};; *) echo {system};; esac\\n' >/tmp/b/uname; chmod +x /tmp/b/uname\n"
        untouched = 'test -z "$(find /usr/local -type f -o -name ".*")" || exit 9\n'
        refused("bare", f"{fake} PATH=/tmp/b:$PATH sh /handed-out/install.sh || {{ status=$?; {untouched} exit $status; }}", dist, [words])
    return "the installer says for which there are programs"


def other_program(dist, here, other):
    """Programs of the wrong tarball fail with the kernel's own message, which cannot be improved.
    Checks that nothing else goes wrong."""
    name = within(dist, f"{PACKAGE}-*-{other.name}-linux.tar.gz").name
    refused("bare", f"tar -xzf /handed-out/{name} -C /opt; /opt/{PACKAGE}-*/assay --version", dist, ["Exec format error"])
    return "Exec format error"


def emulated(dist, here, other):
    """Runs the programs for arm64 under an emulator."""
    if other.name != "aarch64":
        raise Skipped(f"there is an emulator of arm64 alone, and this machine is {here.name}")
    tarball = within(dist, f"{PACKAGE}-*-{other.name}-linux.tar.gz")
    emulator = ["sh", ROOT / "scripts/emulated.sh"]
    able = subprocess.run([*emulator, "true"], capture_output=True, text=True, check=False)
    if able.returncode != 0:
        raise Skipped(f"nothing of arm64 can be run here: {able.stderr.strip()}")
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(["tar", "-xzf", tarball, "-C", directory, "--strip-components=1"], check=True)
        script = "seq 100 110 >a.txt; seq 50 60 >b.txt; assay --version --verbose; assay compare a.txt b.txt; assay run --runs 6 --no-save true; assay help mutate"
        clean = ["env", "-i", f"PATH={directory}:/usr/bin:/bin", f"HOME={directory}", "LC_ALL=C.UTF-8", "TERM=dumb"]
        done = subprocess.run([*emulator, *clean, "sh", "-euc", script], cwd=directory, capture_output=True, text=True, check=False, timeout=300)
    missing = [word for word in (other.target, "48 % lower", "checks:") if word not in done.stdout]
    if done.returncode != 0 or missing:
        raise Failed(f"it ended with status {done.returncode}, and said nothing of {missing}:\n{done.stdout}{done.stderr}")
    return "the programs for arm64 compare and measure, under an emulator"


# ---- Interrupted installations. ----

# Only the date of a directory shows that a file was in it and has been removed.
STATE = "find /usr/local '(' -type d -printf '%p %m\\n' ')' -o -printf '%p %m %s %T@ %l\\n' | sort | sha256sum"


def installer_sums(dist, here, other):
    """A tarball that does not match the checksums, and checksums that do not include one."""
    name = within(dist, f"{PACKAGE}-*-{here.name}-linux.tar.gz").name
    copied = f"cp -r /handed-out /tmp/d; cd /tmp/d\nprintf x | dd of={name} bs=1 seek=1000 conv=notrunc status=none\n"
    unchanged = f"before=$({STATE}); sh install.sh && exit 7; test \"$before\" = \"$({STATE})\" && echo nothing changed\n"
    fine("bare", copied + unchanged, dist, ["is not what SHA256SUMS says: nothing was installed", "nothing changed"])
    fine("bare", f"sh /handed-out/install.sh\n{copied}{unchanged}/usr/local/bin/assay --version", dist, ["nothing was installed", "nothing changed"])
    fine("bare", f"{copied}sed -i /tar.gz/d SHA256SUMS\n{unchanged}", dist, ["SHA256SUMS has no", "nothing changed"])
    fine("bare", f"{copied}rm SHA256SUMS\n{unchanged}", dist, ["it is not said where to install from", "nothing changed"])
    fine("bare", f"{copied}rm {name}\n{unchanged}", dist, ["there is no file", "nothing changed"])
    return "nothing changed, in five ways"


def installer_interrupted(dist, here, other):
    """The download hangs (the tarball is a pipe that nobody writes to), and the user interrupts
    it."""
    name = within(dist, f"{PACKAGE}-*-{here.name}-linux.tar.gz").name
    for signal in ("TERM", "HUP"):
        for before in ("", "sh /handed-out/install.sh >/dev/null\n"):
            script = f"""{before}
cp -r /handed-out /tmp/d; cd /tmp/d; rm {name}; mkfifo {name}
before=$({STATE})
setsid sh install.sh --from /tmp/d &
until ls -d /usr/local/.{PACKAGE}.*/SHA256SUMS >/dev/null 2>&1; do sleep 0.05; done
sleep 0.2
kill -{signal} -$!
status=0; wait $! || status=$?
test $status != 0
test -z "$(find /usr/local -name '.{PACKAGE}*')"
test "$before" = "$({STATE})"
{before and "/usr/local/bin/assay --version"}
echo nothing changed
"""
            fine("bare", script, dist, ["nothing changed"])
    return "nothing changed, by two signals, in a new place and over an older one"


def installer_noexec(dist, here, other):
    """A directory from which programs cannot be executed; and such a /tmp, which has no effect."""
    place = "mkdir /opt/p; mount -t tmpfs -o noexec none /opt/p\n"
    text = refused("bare", f"{place} sh /handed-out/install.sh --prefix /opt/p && exit 0; ls -A /opt/p; exit 1", dist, ["noexec", "nothing was installed"])
    if f".{PACKAGE}" in text.splitlines()[-1]:
        raise Failed(f"something is left:\n{text}")
    used = "cd /var/tmp; assay --version; seq 9 >a; assay compare a a; assay run --runs 3 --no-save true; assay run --runs 3 --no-save --alloc 'ls /'"
    fine("bare", f"sh /handed-out/install.sh; {used}", dist, ["allocations"], tmp="noexec")
    return "a place without programs is told, a /tmp without them does no harm"


def no_proc(dist, here, other):
    """Comparing files works as usual; a run either works or reports its requirements."""
    begin = "sh /handed-out/install.sh; cd /tmp; seq 9 >a; assay --version; assay compare a a >/dev/null; echo compared\n"
    said = roots.enter("bare", f"{begin}status=0; assay run --runs 3 --no-save true || status=$?; echo status $status", dist, proc=False)
    if said.status != 0 or "compared" not in said.text or "panicked" in said.text:
        raise Failed(said.text)
    if "status 0" in said.text:
        return "everything works"
    if "/proc" not in said.text:
        raise Failed(f"it is not said that /proc is missing:\n{said.text}")
    return "files are compared, and a run says that it needs /proc"


# ---- An older C library. ----


def old_glibc(dist, here, other):
    """The gem's recorder requires a nonexistent version of the C library: a version name in it is
    changed."""
    within(dist, f"{PACKAGE}-*-{here.gem}.gem")
    script = f"""
gem install --local --no-document /handed-out/{PACKAGE}-*-{here.gem}.gem >/dev/null
cd "$(gem contents {PACKAGE} | grep 'native.so$' | xargs dirname)"
grep -q GLIBC_2 native.so
sed -i 's/GLIBC_2/GLIBC_9/g' native.so
ruby -e 'begin; require "./native.so"; rescue LoadError; puts $!.message; end'
ruby -e 'require "assay"; puts Assay::MethodProfiler.recorder; Assay::MethodProfiler.patch(String, :upcase, :up); p Assay::MethodProfiler.profile {{ "a".upcase }}[:up][:calls]'
"""
    fine("ruby", script, dist, ["GLIBC_9", "ruby\n1\n"])
    return "the gem counts in Ruby"


# ---- Lintian. ----


def lintian(dist, here, other):
    """Errors and warnings fail; each override has its reason in the package."""
    within(dist, f"{PACKAGE}_*_{here.deb}.deb")
    text = fine("lintian", "cd /tmp; lintian --allow-root --fail-on error,warning --tag-display-limit 0 /handed-out/*.deb", dist)
    if re.search(r"^[EW]:", text, re.M):
        raise Failed(text)
    return "no errors, no warnings"


# ---- The same bytes. ----


def twice(dist, here, other):
    """Packs the same programs again in another directory, at another time, by a user with other
    settings."""
    sums = dist / "SHA256SUMS"
    if not sums.is_file():
        raise Failed(f"{sums} is not there")
    channels = {"tarball": ".tar.gz", "deb": ".deb", "wheel": ".whl", "npm": ".tgz", "gem": ".gem"}
    names = {line.split()[1] for line in sums.read_text().splitlines()}
    packed = [channel for channel, ending in channels.items() if any(name.endswith(ending) for name in names)]
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        programs = []
        for machine in (here, other):
            if (dist / f"{PACKAGE}-{version()}-{machine.name}-linux.tar.gz").is_file():
                unpacked = fresh(place / f"programs of {machine.name}")
                subprocess.run(["tar", "-xzf", dist / f"{PACKAGE}-{version()}-{machine.name}-linux.tar.gz", "-C", unpacked, "--strip-components=1", "--touch"], check=True)
                programs.append(f"--programs={machine.name}={unpacked}")
        with tarfile.open(next(dist.glob(f"{PACKAGE}-*-linux.tar.gz"))) as archive:
            # Later commits have another date.
            date = str(archive.next().mtime)
        clock = ["faketime", "2031-05-06 07:08:09"] if shutil.which("faketime") else []
        home = Path.home()
        tools = {"CARGO_HOME": str(home / ".cargo"), "RUSTUP_HOME": str(home / ".rustup")}
        habits = tools | os.environ | {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "HOME": directory, "PYTHONHASHSEED": "7", "SOURCE_DATE_EPOCH": date}
        command = [*clock, sys.executable, ROOT / "scripts/dist/pack.py", "--work", place / "work", "--out", place / "out", *programs, *packed]
        done = subprocess.run(command, env=habits, umask=0o077, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(done.stdout + done.stderr)
        again = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (place / "out").iterdir()}
    before = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in dist.iterdir() if path.is_file()}
    common = sorted((set(again) & set(before)) - {"SHA256SUMS"})
    differing = [name for name in common if again[name] != before[name]]
    if differing or len(common) < len(packed):
        raise Failed(f"of {common} these differ: {differing}")
    return f"{len(common)} files of {', '.join(packed)}" + ("" if clock else " (faketime is not here: on the same date)")


TRIALS = {
    "lintian": lintian,
    "same-bytes": twice,
    "other-deb": other_deb,
    "other-wheel": other_wheel,
    "other-npm": other_npm,
    "other-gem": other_gem,
    "npm-alone": npm_alone,
    "other-installer": other_installer,
    "other-program": other_program,
    "emulated": emulated,
    "installer-sums": installer_sums,
    "installer-interrupted": installer_interrupted,
    "installer-noexec": installer_noexec,
    "no-proc": no_proc,
    "old-glibc": old_glibc,
}
