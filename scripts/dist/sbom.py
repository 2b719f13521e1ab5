"""The bill of materials of the programs, as CycloneDX: every included crate, with its license,
checksum and dependencies.

It is derived only from Cargo.lock and the commit, without times or random numbers, so the same
sources result in the same bytes.
"""

import json
import re

from shared import FEATURES, PACKAGE, PROGRAMS, ROOT, metadata, version, write_whole


def make(machine, to):
    """Writes the list for one machine."""
    packages, needs, programs = graph(machine)
    parts = reached(programs, needs)
    sums = locked()
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "bom-ref": PACKAGE, "name": PACKAGE, "version": version()},
            "properties": [{"name": "target", "value": machine.target}],
        },
        "components": [component(packages[id], sums) for id in in_order(parts, packages)],
        "dependencies": [{"ref": PACKAGE, "dependsOn": refs(programs, packages)}]
        + [{"ref": ref(packages[id]), "dependsOn": refs(needs[id], packages)} for id in in_order(parts, packages)],
    }
    path = to / f"{PACKAGE}-{version()}-{machine.name}-linux.cdx.json"
    return [write_whole(path, (json.dumps(document, indent=1) + "\n").encode())]


def graph(machine):
    """Returns every crate by its id, the crates that each is linked with, and the ids of the
    programs."""
    known = metadata("--filter-platform", machine.target, "--features", FEATURES)
    packages = {package["id"]: package for package in known["packages"]}
    needs = {node["id"]: normal(node) for node in known["resolve"]["nodes"]}
    return packages, needs, [id for id in known["workspace_members"] if packages[id]["name"] in PROGRAMS]


def normal(node):
    """Returns the crates that are linked in, excluding those used only for building or testing."""
    return [need["pkg"] for need in node["deps"] if any(kind["kind"] is None for kind in need["dep_kinds"])]


def reached(begin, needs):
    found, open_ones = set(begin), list(begin)
    while open_ones:
        for id in needs[open_ones.pop()]:
            if id not in found:
                found.add(id)
                open_ones.append(id)
    return found


def in_order(ids, packages):
    return sorted(ids, key=lambda id: (packages[id]["name"], packages[id]["version"]))


def refs(ids, packages):
    return [ref(packages[id]) for id in in_order(set(ids), packages)]


def ref(package):
    """Crates of this repository are in no registry."""
    kind = "cargo" if package["source"] else "generic"
    return f"pkg:{kind}/{package['name']}@{package['version']}"


def component(package, sums):
    made = {
        "type": "application" if package["name"] in PROGRAMS else "library",
        "bom-ref": ref(package),
        "name": package["name"],
        "version": package["version"],
        "purl": ref(package),
    }
    if package["license"]:
        # The older syntax of an alternative.
        made["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    content = sums.get((package["name"], package["version"]))
    if content:
        made["hashes"] = [{"alg": "SHA-256", "content": content}]
    return made


def locked():
    """Returns the checksums of crates in Cargo.lock."""
    pattern = re.compile(r'^name = "(.*)"\nversion = "(.*)"\nsource = ".*"\nchecksum = "(.*)"$', re.M)
    return {(name, number): content for name, number, content in pattern.findall((ROOT / "Cargo.lock").read_text())}
