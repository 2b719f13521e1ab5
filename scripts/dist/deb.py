"""The Debian package: programs, man pages, completions, copyright and changelog, packed by
dpkg-deb."""

import hashlib
import os
import textwrap
import time

from shared import HOME, IS_QUICK, LICENCES, MAINTAINER, NOTICES, PACKAGE, PROGRAMS, ROOT, SUMMARY, Entry, ask, epoch, fresh, gzipped, version, write_tree

# The package revision after the version.
REVISION = "1"
# A single thread, since the output of several depends on their number.
COMPRESSION = ["-Zgzip", "-z1"] if IS_QUICK else ["-Zxz", "--threads-max=1"]
COMPLETIONS = {
    "bash": "usr/share/bash-completion/completions/assay",
    "zsh": "usr/share/zsh/vendor-completions/_assay",
    "fish": "usr/share/fish/vendor_completions.d/assay.fish",
}
DESCRIPTION = """\
assay measures commands and reports what the measurements prove, and what they do not: it measures in blocks of random order, goes on
until the answer is clear, and says "faster", "slower", "no difference that matters" or "not known yet".

It also reads the results of other benchmark programs, compares revisions and suites, keeps a history, loads servers, and tells where
the time of programs and test suites goes."""
# Lintian tags, and the reason for overriding each.
OVERRIDES = [
    ("statically-linked-binary", "it is to run on whatever system there is"),
    ("hardening-no-pie", "a start of the program is measured, and one at a fixed address needs fifty pages less"),
    ("embedded-library", "it is to run on whatever system there is; SQLite stands in Cargo.lock, through the crate libsqlite3-sys"),
    ("initial-upload-closes-no-bugs", "it is no package of Debian's own archive"),
]


def make(contents, to):
    """Writes the package for one machine."""
    number = f"{version()}-{REVISION}"
    tree = fresh(contents.place.with_name(f"{contents.place.name}-deb"))
    entries = files(contents, number)
    size = sum(-(-len(entry.bytes) // 1024) for entry in entries)
    sums = "".join(f"{hashlib.md5(entry.bytes).hexdigest()}  {entry.name}\n" for entry in sorted(entries, key=lambda entry: entry.name))
    about = control(contents, number, size)
    write_tree(tree, [*entries, Entry("DEBIAN/control", about.encode()), Entry("DEBIAN/md5sums", sums.encode())])
    path = to / f"{PACKAGE}_{number}_{contents.machine.deb}.deb"
    ask("dpkg-deb", "--root-owner-group", *COMPRESSION, "--build", tree, path, env=os.environ | {"SOURCE_DATE_EPOCH": str(epoch())})
    return [path]


def files(contents, number):
    """Returns all installed files."""
    documents = f"usr/share/doc/{PACKAGE}"
    entries = [Entry(f"usr/bin/{program.name}", program, is_program=True) for program in contents.programs]
    entries += [Entry(f"usr/share/man/man1/{page.name}.gz", gzipped(page.read_bytes())) for page in contents.pages]
    entries += [Entry(path, contents.completions(shell)) for shell, path in COMPLETIONS.items()]
    entries += [
        Entry(f"{documents}/copyright", copyright_of_all().encode()),
        Entry(f"{documents}/changelog.gz", gzipped((ROOT / "CHANGELOG.md").read_bytes())),
        Entry(f"{documents}/changelog.Debian.gz", gzipped(changelog(number).encode())),
        Entry(f"{documents}/{NOTICES}.gz", gzipped((contents.place / NOTICES).read_bytes())),
        Entry(f"{documents}/README.md.gz", gzipped((ROOT / "README.md").read_bytes())),
    ]
    overrides = "".join(f"# {why}\n{PACKAGE}: {tag}\n" for tag, why in overrides_of(contents))
    return [*entries, Entry(f"usr/share/lintian/overrides/{PACKAGE}", overrides.encode())]


def overrides_of(contents):
    """Returns only the overrides that apply to this package, since lintian reports unused ones."""
    for tag, why in OVERRIDES:
        if tag in ("statically-linked-binary", "hardening-no-pie"):
            if contents.is_static or tag == "hardening-no-pie":
                yield from ((f"{tag} [usr/bin/{name}]", why) for name in PROGRAMS)
        elif tag == "embedded-library":
            yield f"{tag} sqlite3 [usr/bin/assay]", why
        else:
            yield tag, why


def control(contents, number, size):
    """Returns the control file. A program that is not static (as built by tests) requires a C
    library at least as new as that of this machine."""
    paragraphs = "\n .\n".join(textwrap.indent(textwrap.fill(text, 78), " ") for text in DESCRIPTION.split("\n\n"))
    needs = "" if contents.is_static else "Depends: libc6, libgcc-s1\n"
    return (
        f"Package: {PACKAGE}\nVersion: {number}\nArchitecture: {contents.machine.deb}\nMaintainer: {MAINTAINER}\n"
        f"Installed-Size: {size}\n{needs}Section: devel\nPriority: optional\nHomepage: {HOME}\n"
        f"Description: judges whether a program became faster\n{paragraphs}\n"
    )


def changelog(number):
    """Returns Debian's changelog, which is about the packaging; its date is that of the commit."""
    date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(epoch()))
    return f"{PACKAGE} ({number}) unstable; urgency=medium\n\n  * Version {version()}: /usr/share/doc/{PACKAGE}/changelog.gz has what is new.\n\n -- {MAINTAINER}  {date}\n"


def copyright_of_all():
    """Returns the copyright file in Debian's format, with the texts of the licenses."""
    text = {name: (ROOT / source).read_text() for name, source in LICENCES.items()}

    def licence(name, words):
        lines = [f" {line}".rstrip() if line.strip() else " ." for line in words.strip().splitlines()]
        return f"License: {name}\n" + "\n".join(lines) + "\n"

    holder = next(line for line in text["LICENSE-MIT"].splitlines() if line.startswith("Copyright"))
    return "\n".join(
        [
            f"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: assay\nSource: {HOME}\n"
            f"Comment: {SUMMARY} The crates that are built in have\n their licences in {NOTICES}.\n",
            f"Files: *\nCopyright: {holder.removeprefix('Copyright (c) ')}\nLicense: MIT or Apache-2.0\n",
            "Files: crates/report/fonts/*\nCopyright: The Inter Project Authors\nLicense: OFL-1.1\n",
            "Files: crates/report/assets/uplot.*\nCopyright: Leon Sorokin\nLicense: MIT-uPlot\n",
            licence("MIT", text["LICENSE-MIT"]),
            "License: Apache-2.0\n On Debian systems the text of this licence is in\n /usr/share/common-licenses/Apache-2.0.\n",
            licence("OFL-1.1", text["LICENSE-FONT-OFL.txt"]),
            licence("MIT-uPlot", text["LICENSE-uPlot.txt"]),
        ]
    )
