"""The tarball: the programs, their man pages, completions and licenses, to be unpacked anywhere.
`install.sh` installs it."""

from shared import PACKAGE, Entry, version, write_tar_gz


def make(contents, to):
    """Writes the tarball for one machine."""
    name = f"{PACKAGE}-{version()}-{contents.machine.name}-linux"
    entries = [Entry(f"{name}/{program.name}", program, is_program=True) for program in contents.programs]
    entries += [Entry(f"{name}/man/man1/{page.name}", page) for page in contents.pages]
    entries += [Entry(f"{name}/completions/assay.{shell}", contents.completions(shell)) for shell in ("bash", "zsh", "fish")]
    entries += [Entry(f"{name}/{file.name}", file) for file in [*contents.licences, contents.place / "README.md"]]
    return [write_tar_gz(to / f"{name}.tar.gz", entries)]
