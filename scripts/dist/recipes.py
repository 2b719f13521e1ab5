"""The recipes of packaging/, with the version and checksums of the packed files filled in."""

import hashlib
import re

from shared import HOME, MACHINES, MAINTAINER, PACKAGE, ROOT, Failed, version, write_whole

FILES = [
    "README.md",
    "homebrew/assay-bench.rb",
    "nix/default.nix",
    "conda-forge/recipe.yaml",
    "aur/PKGBUILD",
    "docker/Dockerfile",
    "gitlab/assay.yml",
]


def make(to):
    """Writes them to `recipes`, next to the tarballs, which must exist for all machines."""
    values = {"VERSION": version(), "HOME": HOME, "MAINTAINER": MAINTAINER}
    for machine in MACHINES.values():
        tarball = to / f"{PACKAGE}-{version()}-{machine.name}-linux.tar.gz"
        if not tarball.is_file():
            raise Failed(f"recipes have the sum of {tarball}, which is not there")
        values[f"SHA256_{machine.name}"] = hashlib.sha256(tarball.read_bytes()).hexdigest()
    for name in FILES:
        text = (ROOT / "packaging" / name).read_text()
        if name != "README.md":
            text = re.sub(r"@([A-Z][A-Za-z0-9_]*)@", lambda found: values[found[1]], text)
        write_whole(to / "recipes" / name, text.encode())
    # They are not files of the release.
    return []
