#!/usr/bin/env python3
"""Installs the packages made by pack.py in clean Debian systems, without a network or a compiler,
and uses them there; also tries what may go wrong.

    trial.py [--dist DIR] [TRIAL...]     [default: all trials]; --list lists them

A trial that is impossible here is reported with the reason. The last line is the result.
"""

import argparse
import platform
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import mishaps
import roots
from shared import MACHINES, PACKAGE, ROOT, Failed

HERE = MACHINES.get(platform.machine())
OTHER = next(machine for machine in MACHINES.values() if machine != HERE)
# From installation to the first verdict.
FIRST_VERDICT = """
cd /tmp
seq 100 110 >a.txt
seq 50 60 >b.txt
assay --version
assay compare a.txt b.txt
echo "first verdict after $(cut -d ' ' -f 1 /proc/uptime) s"
assay run --runs 6 --no-save true
assay help mutate >/dev/null
"""
EXPECTED = [r"^assay \d", r"48 % lower", r"^checks:"]


@dataclass(frozen=True)
class Channel:
    """Describes how a channel is installed, in which root, and further conditions to check."""

    root: str
    install: str
    files: tuple
    after: str = ""


def channels():
    """Returns all channels by name."""
    pip = "python3 -m venv /opt/python\nPATH=/opt/python/bin:$PATH\npip --quiet --disable-pip-version-check install --no-index --find-links /handed-out"
    return {
        "tarball": Channel("bare", "tar -xzf /handed-out/{name}-*-{machine}-linux.tar.gz -C /opt\nPATH=$(echo /opt/{name}-*):$PATH\n", ("{name}-*-{machine}-linux.tar.gz",)),
        "installer": Channel(
            "bare", "sh /handed-out/install.sh\n", ("install.sh", "{name}-*-{machine}-linux.tar.gz"),
            "test -f /usr/local/share/man/man1/assay.1\nsh /handed-out/install.sh --uninstall\ntest ! -e /usr/local/bin/assay\ntest -z \"$(find /usr/local -type f)\"\n",
        ),
        "deb": Channel(
            "bare", "dpkg --install /handed-out/{name}_*_{deb}.deb\n", ("{name}_*_{deb}.deb",),
            "dpkg --verify {name}\ndpkg --remove {name}\ntest ! -e /usr/bin/assay\n",
        ),
        "wheel": Channel("python", f"{pip} {{name}}\n", ("*-py3-none-*linux*_{machine}.whl",), "pip --quiet uninstall --yes {name}\ntest ! -e /opt/python/bin/assay\n"),
        "python": Channel(
            "python", f"{pip} assay-perf\n", ("assay_perf-*-py3-none-any.whl", "*-py3-none-*linux*_{machine}.whl"),
            "PATH=/usr/bin:/bin /opt/python/bin/python -c 'from assay import binary; print(binary.find()); binary.compare' | grep -x /opt/python/bin/assay\n"
            "/opt/python/bin/python -c 'import assay; print(assay.compare)'\n",
        ),
        "gem": Channel(
            "ruby", "gem install --local --no-document /handed-out/{name}-*-{gem}.gem\n", ("{name}-*-{gem}.gem",),
            "ruby -e 'require \"assay\"; puts Assay::Binary.path, Assay::MethodProfiler.recorder' >/tmp/said; grep libexec/assay /tmp/said; grep -x native /tmp/said\n",
        ),
        "gem-source": Channel(
            # Without a compiler it counts in Ruby, and uses the program on PATH.
            "ruby-make", "tar -xzf /handed-out/{name}-*-{machine}-linux.tar.gz -C /opt\nPATH=$(echo /opt/{name}-*):$PATH\ngem install --local --no-document $(ls /handed-out/{name}-*.gem | grep -v linux)\n",
            ("{name}-*.gem", "{name}-*-{machine}-linux.tar.gz"),
            "ruby -e 'require \"assay\"; puts Assay::Binary.path, Assay::MethodProfiler.recorder' >/tmp/said; grep -x ruby /tmp/said\n",
        ),
        "npm": Channel(
            "node", "npm install --silent --offline --no-audit --no-fund --global /handed-out/{name}-linux-{npm}-*.tgz $(ls /handed-out/{name}-*.tgz | grep -v linux)\n",
            ("{name}-linux-{npm}-*.tgz", "{name}-*.tgz"),
            # Status and signals are those of the program.
            "status=0; assay compare nothing-there 2>/dev/null || status=$?; test $status = 2\n"
            "status=0; timeout --signal=TERM 5 assay run --no-save 'sleep 60' >/dev/null 2>&1 || status=$?; test $status = 124\n",
        ),
    }


def filled(text):
    for key, value in {"name": PACKAGE, "machine": HERE.name, "deb": HERE.deb, "gem": HERE.gem, "npm": HERE.npm}.items():
        text = text.replace(f"{{{key}}}", value)
    return text


def install(channel, dist):
    """Tries one channel. Returns None and a remark on success, otherwise the fault. Missing files
    are also a fault."""
    missing = [filled(pattern) for pattern in channel.files if not list(dist.glob(filled(pattern)))]
    if missing:
        raise Failed(f"{dist} has no {', '.join(missing)}")
    if roots.compilers(channel.root):
        raise Failed(f"there are compilers in the root: {roots.compilers(channel.root)}")
    began = 'began=$(cut -d " " -f 1 /proc/uptime)\n'
    script = filled(began + channel.install + FIRST_VERDICT + channel.after) + "\necho began $began"
    said = roots.enter(channel.root, script, dist)
    if said.status != 0:
        raise Failed(f"ended with status {said.status}:\n{said.text}")
    for pattern in EXPECTED:
        if not re.search(pattern, said.text, re.M):
            raise Failed(f"nothing of what was said matches {pattern}:\n{said.text}")
    seconds = float(re.search(r"first verdict after ([\d.]+)", said.text)[1]) - float(re.search(r"^began ([\d.]+)", said.text, re.M)[1])
    if seconds > 30:
        return f"{seconds:.1f} s to the first verdict: more than the 30 s that we want on an idle machine"
    return f"{seconds:.1f} s to the first verdict"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--dist", type=Path, default=ROOT / "dist")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("trial", nargs="*")
    given = parser.parse_args()
    dist = given.dist.absolute()
    trials = {name: lambda channel=channel: install(channel, dist) for name, channel in channels().items()}
    trials |= {name: lambda trial=trial: trial(dist, HERE, OTHER) for name, trial in mishaps.TRIALS.items()}
    if given.list:
        print("\n".join(trials))
        return 0
    unknown = set(given.trial) - set(trials)
    if unknown:
        raise Failed(f"no trial is called {', '.join(sorted(unknown))}; --list names them")
    # Interrupting it must not leave a partial system behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    roots.need()
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for name in given.trial or trials:
        try:
            ending, remark = "passed", trials[name]()
        except mishaps.Skipped as reason:
            ending, remark = "skipped", str(reason)
        except (Failed, subprocess.TimeoutExpired) as failed:
            ending, remark = "failed", str(failed)
        counts[ending] += 1
        print(f"{ending:8} {name:18} {remark}", flush=True)
    print(", ".join(f"{count} {ending}" for ending, count in counts.items() if count or ending != "skipped"))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"trial.py: {failed}")
