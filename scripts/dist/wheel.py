"""The packages for PyPI: a wheel with the programs for each machine (`assay-bench`), and the Python
package, which depends on it (`assay-perf`).

The Python package consists of its source, from which an installation compiles the accelerator, and
a pure Python wheel for installations without a compiler.
"""

import base64
import hashlib
import os
import re
import shutil
import sys
import tarfile
import zipfile

from shared import HOME, LICENCES, MAINTAINER, NOTICES, PACKAGE, ROOT, SUMMARY, Entry, ask, epoch, fresh, version, write_tar_gz, write_zip

# The files of python/ that belong to its package.
SOURCES = ["pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "csrc", "src"]


def make(contents, to):
    """Writes the wheel for one machine. A static program works with every C library, but installers
    on Debian do not accept a wheel for musl alone, so it has both tags."""
    machine = contents.machine.name
    tags = [f"manylinux2014_{machine}", f"musllinux_1_2_{machine}"] if contents.is_static else [f"linux_{machine}"]
    name = PACKAGE.replace("-", "_")
    stem = f"{name}-{version()}"
    about = f"{stem}.dist-info"
    entries = [Entry(f"{stem}.data/scripts/{program.name}", program, is_program=True) for program in contents.programs]
    entries += [Entry(f"{stem}.data/data/share/man/man1/{page.name}", page) for page in contents.pages]
    entries += [Entry(f"{about}/licenses/{file.name}", file) for file in contents.licences]
    entries += [Entry(f"{about}/METADATA", metadata().encode()), Entry(f"{about}/WHEEL", wheel(tags).encode())]
    return [write_zip(to / f"{stem}-py3-none-{'.'.join(tags)}.whl", [*entries, record(about, entries)])]


def metadata():
    """Returns the metadata. The registry's text is the README, in which links to files of the
    repository would be broken."""
    text = re.sub(r"\[([^]]+)\]\((?!https?:)([^)#]+)[^)]*\)", r"\1 (`\2` in the repository)", (ROOT / "README.md").read_text())
    author, address = re.fullmatch(r"(.*) <(.*)>", MAINTAINER).groups()
    licences = "".join(f"License-File: {name}\n" for name in [*LICENCES, NOTICES])
    return (
        f"Metadata-Version: 2.4\nName: {PACKAGE}\nVersion: {version()}\nSummary: {SUMMARY}\nAuthor: {author}\nAuthor-email: {address}\n"
        f"License-Expression: (MIT OR Apache-2.0) AND OFL-1.1\n{licences}Project-URL: Homepage, {HOME}\nRequires-Python: >=3.8\n"
        "Classifier: Environment :: Console\nClassifier: Operating System :: POSIX :: Linux\nClassifier: Programming Language :: Rust\n"
        f"Classifier: Topic :: System :: Benchmark\nDescription-Content-Type: text/markdown\n\n{text}"
    )


def wheel(tags):
    """Returns the WHEEL file, with the tags."""
    return "Wheel-Version: 1.0\nGenerator: assay\nRoot-Is-Purelib: false\n" + "".join(f"Tag: py3-none-{tag}\n" for tag in tags)


def record(about, entries):
    """Returns the list of all files with their checksums, without which the package cannot be
    uninstalled."""
    lines = []
    for entry in entries:
        digest = base64.urlsafe_b64encode(hashlib.sha256(entry.bytes).digest()).rstrip(b"=").decode()
        lines.append(f"{entry.name},sha256={digest},{len(entry.bytes)}\n")
    return Entry(f"{about}/RECORD", "".join([*lines, f"{about}/RECORD,,\n"]).encode())


# ---- The Python package. ----


def make_python_package(work, to, python=sys.executable):
    """Writes the source archive and the wheel of the Python package; `python` is an interpreter
    with setuptools, which builds both. Its archives have this machine's dates and order of files,
    so they are repacked."""
    place = fresh(work / "python-package")
    for name in SOURCES:
        source = ROOT / "python" / name
        if source.is_dir():
            shutil.copytree(source, place / name, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.egg-info"))
        else:
            shutil.copy(source, place / name)
    with open(place / "pyproject.toml", "a") as about:
        about.write(f'\n[project.urls]\nHomepage = "{HOME}"\n')
    code = "from setuptools import build_meta as b; b.build_sdist('out'); b.build_wheel('out')"
    pure = os.environ | {"ASSAY_PURE": "1", "SOURCE_DATE_EPOCH": str(epoch()), "PYTHONDONTWRITEBYTECODE": "1"}
    ask(python, "-c", code, cwd=place, env=pure)
    made = []
    for path in sorted((place / "out").iterdir()):
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as archive:
                made.append(write_zip(to / path.name, [Entry(name, archive.read(name)) for name in archive.namelist()]))
        else:
            with tarfile.open(path) as archive:
                files = [member for member in archive.getmembers() if member.isfile()]
                made.append(write_tar_gz(to / path.name, [Entry(file.name, archive.extractfile(file).read()) for file in files]))
    return made
