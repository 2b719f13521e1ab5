"""What crates.io gets: the crates that others may build on, as cargo packs them.

The programs are no crates there: they are built from the whole repository.
"""

import os

from shared import ask, epoch, fresh, metadata, write_whole, ROOT


def published():
    """Every crate that may be published, by name."""
    return sorted(package["name"] for package in metadata("--no-deps")["packages"] if package["publish"] != [])


def make(work, to):
    """Writes them all. What is not committed is packed as it is: that nothing is left uncommitted, a release checks."""
    place = fresh(work / "crates")
    options = ["--quiet", "--no-verify", "--allow-dirty", "--target-dir", place]
    ask("cargo", "package", "--locked", *options, *(word for name in published() for word in ("-p", name)), cwd=ROOT,
        env=os.environ | {"SOURCE_DATE_EPOCH": str(epoch())})
    return [write_whole(to / path.name, path.read_bytes()) for path in sorted((place / "package").glob("*.crate"))]
