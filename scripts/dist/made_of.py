#!/usr/bin/env python3
"""Shows what a program consists of: its bytes by section, and those of its functions and tables by
crate.

    made_of.py PROGRAM     with symbols: CARGO_PROFILE_DIST_STRIP=none scripts/dist/build.py

A generic function counts for the crate that defines it, not for the one that instantiates it.
"""

import re
import sys
from collections import Counter

from shared import Failed, ask

# C libraries by the prefix of their symbols; all other C symbols are grouped together.
OF_C = {"sqlite3": "SQLite", "ring_core": "ring", "tree_sitter": "tree-sitter"}
CRATE = re.compile(r"<?(?:&?(?:mut )?)*(?:dyn )?([a-z_][a-z0-9_]*)(?:\[[0-9a-f]+\])?::")


def crate(name):
    """Returns the crate of a symbol. For `<a::B as c::D>::e` it is that of the type."""
    found = CRATE.match(name)
    if found:
        return found[1]
    inner = re.match(r"<.*? as ([a-z_][a-z0-9_]*)", name)
    if inner:
        return inner[1]
    return next((told for begin, told in OF_C.items() if name.startswith(begin)), "C, and what has no crate")


def main(program):
    print(ask("size", "--format=sysv", "--radix=10", program))
    sizes, functions = Counter(), Counter()
    for line in ask("nm", "--print-size", "--demangle", program).splitlines():
        symbol = re.match(r"[0-9a-f]+ ([0-9a-f]+) [tTwWrRdDvV] (.*)", line)
        if symbol:
            size, name = int(symbol[1], 16), re.sub(r"::h[0-9a-f]{16}$", "", symbol[2])
            sizes[crate(name)] += size
            functions[name] += size
    if not sizes:
        raise Failed(f"{program} has no symbols")
    for title, counted, most in (("by crate", sizes, 40), ("largest", functions, 40)):
        print(f"{title}, of {sum(counted.values()):,} bytes:")
        for name, size in counted.most_common(most):
            print(f"{size:>12,}  {name[:120]}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        main(sys.argv[1])
    except Failed as failed:
        sys.exit(f"made_of.py: {failed}")
