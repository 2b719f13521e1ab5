"""The npm packages: one per machine with the programs, of which npm installs the suitable one, and
the main package, whose `assay` starts them."""

import json

from shared import HOME, MAINTAINER, MACHINES, PACKAGE, ROOT, SUMMARY, Entry, version, write_tar_gz


def name_of(machine):
    """Describes the package for one machine."""
    return f"{PACKAGE}-linux-{machine.npm}"


def make(contents, to):
    """Writes the package for one machine."""
    machine = contents.machine
    about = described(name_of(machine), f"The programs of {PACKAGE} for Linux on {machine.npm}") | {
        "os": ["linux"],
        "cpu": [machine.npm],
        "preferUnplugged": True,
    }
    entries = [Entry(f"package/bin/{program.name}", program, is_program=True) for program in contents.programs]
    entries += [Entry(f"package/{file.name}", file) for file in contents.licences]
    text = f"# {about['name']}\n\n{about['description']}. Install `{PACKAGE}`, which takes the package that fits.\n"
    return [write(to, about, [*entries, Entry("package/README.md", text.encode())])]


def make_main(to):
    """Writes the main package, which depends on the others at its own version."""
    about = described(PACKAGE, SUMMARY) | {
        "bin": {"assay": "bin/assay.js"},
        "engines": {"node": ">=18"},
        "keywords": ["benchmark", "performance", "statistics"],
        "optionalDependencies": {name_of(machine): version() for machine in MACHINES.values()},
    }
    entries = [Entry("package/bin/assay.js", ROOT / "packaging/npm/assay.js", is_program=True)]
    entries += [Entry(f"package/{name}", ROOT / name) for name in ("README.md", "LICENSE-MIT", "LICENSE-APACHE")]
    return [write(to, about, entries)]


def described(name, description):
    return {
        "name": name,
        "version": version(),
        "description": description,
        "homepage": HOME,
        "author": MAINTAINER,
        "license": "MIT OR Apache-2.0",
    }


def write(to, about, entries):
    text = json.dumps(about, indent=2) + "\n"
    return write_tar_gz(to / f"{about['name']}-{about['version']}.tgz", [Entry("package/package.json", text.encode()), *entries])
