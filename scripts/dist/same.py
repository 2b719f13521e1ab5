#!/usr/bin/env python3
"""Checks whether building the programs in another directory and on another day results in the same
bytes.

    same.py [MACHINE...]     builds the last commit; an existing result of build.py is the first build

The second is built from a fresh checkout in a separate directory; the preprocessor's date macros
would also differ.
"""

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

import build
from shared import MACHINES, PROGRAMS, ROOT, Failed, ask


def sums(place):
    return {name: hashlib.sha256((place / name).read_bytes()).hexdigest() for name in PROGRAMS}


def main(names):
    if ask("git", "-C", ROOT, "status", "--porcelain", "--untracked-files=no"):
        raise Failed("there are changes that are not committed: what is built twice is a commit")
    machines = [MACHINES[name] for name in names or MACHINES]
    missing = [machine for machine in machines if not all((build.BUILT / machine.name / name).is_file() for name in PROGRAMS)]
    if missing:
        build.build(missing)
    differing = []
    with tempfile.TemporaryDirectory(prefix="assay-same-") as directory:
        other = Path(directory) / "elsewhere"
        ask("git", "-C", ROOT, "worktree", "add", "--detach", other, "HEAD")
        try:
            # The tools are the same; their environment cannot be moved.
            (other / "target").mkdir()
            (other / "target/dist-tools").symlink_to(build.ENVIRONMENT)
            command = [sys.executable, other / "scripts/dist/build.py", *(machine.name for machine in machines)]
            subprocess.run(command, check=True)
            for machine in machines:
                one, two = sums(build.BUILT / machine.name), sums(other / "target/handed-out" / machine.name)
                for name in PROGRAMS:
                    print(f"{machine.name} {name}: {'the same' if one[name] == two[name] else 'DIFFERS'}  {one[name]}")
                differing += [name for name in PROGRAMS if one[name] != two[name]]
        finally:
            ask("git", "-C", ROOT, "worktree", "remove", "--force", other)
    return 1 if differing else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Failed, subprocess.CalledProcessError) as failed:
        sys.exit(f"same.py: {failed}")
