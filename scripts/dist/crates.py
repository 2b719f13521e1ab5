"""The packages for crates.io: the crates that others may use, as packed by cargo.

The programs are not published there: they are built from the whole repository.
"""

import os

from shared import ask, epoch, fresh, metadata, write_whole, ROOT


def published():
    """Returns every publishable crate, by name."""
    return sorted(package["name"] for package in metadata("--no-deps")["packages"] if package["publish"] != [])


def make(work, to):
    """Writes all packages. Uncommitted changes are packed as well; a release checks that there are
    none."""
    place = fresh(work / "crates")
    options = ["--quiet", "--no-verify", "--allow-dirty", "--target-dir", place]
    ask("cargo", "package", "--locked", *options, *(word for name in published() for word in ("-p", name)), cwd=ROOT,
        env=os.environ | {"SOURCE_DATE_EPOCH": str(epoch())})
    return [write_whole(to / path.name, path.read_bytes()) for path in sorted((place / "package").glob("*.crate"))]
