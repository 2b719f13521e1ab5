"""The licenses of everything included in the programs besides our own code: every crate, by name,
with the texts that its authors require to be included.

If a crate is available under the MIT license, that one is used, since its text is short and names
the authors.
"""

import re
from functools import cache
from pathlib import Path

import sbom
from shared import Failed

TEXTS = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.I)
# The license of the C library in static programs; its full text is in the sources of zig.
STATIC = """\
Programs that are static hold musl, the C library, under the licence of MIT: Copyright (c) 2005-2020 Rich Felker, et al.
All programs hold the standard library of Rust, under the licence of MIT: Copyright (c) The Rust Project Contributors.
"""


@cache
def of_crates(machine):
    """Returns the text for one machine."""
    packages, needs, programs = sbom.graph(machine)
    parts = [packages[id] for id in sbom.in_order(sbom.reached(programs, needs), packages)]
    by_text = {}
    for package in parts:
        if package["source"]:
            by_text.setdefault(text_of(package), []).append(f"{package['name']} {package['version']} ({package['license']})")
    blocks = [f"{STATIC}The text of that licence is in LICENSE-MIT, with our own names.\n"]
    blocks += ["\n".join([*names, "", text]) for text, names in sorted(by_text.items(), key=lambda pair: pair[1])]
    return f"\n{'-' * 100}\n\n".join(blocks)


def text_of(package):
    place = Path(package["manifest_path"]).parent
    files = sorted(path for path in place.iterdir() if path.is_file() and TEXTS.match(path.name))
    by_mit = [path for path in files if "mit" in path.name.lower()]
    if by_mit and re.search(r"\bMIT\b", package["license"] or ""):
        files = by_mit + [path for path in files if path.name.lower().startswith("notice")]
    texts = [path.read_text(errors="replace").strip() + "\n" for path in files]
    if not texts and not package["license"]:
        raise Failed(f"{place} has no licence: can the crate be handed out?")
    return "\n".join(texts) or f"(no text comes with it; its licence: {package['license']})\n"
