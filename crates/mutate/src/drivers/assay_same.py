"""Finds changed texts that Python's compiler translates to the same code: no program can
distinguish them, except by line numbers.

python assay_same.py FILE, where FILE holds [[original, changed], ...]; prints [true, false, ...].
The texts are not executed. Has no dependencies.
"""

import json
import sys
import types

# Attributes of a code object that do not affect its behavior: its location in the text.
PLACES = {"co_firstlineno", "co_lnotab", "co_linetable", "co_filename"}


def told(code):
    """Returns everything that distinguishes code objects, with the types of constants, since 1 ==
    True == 1.0."""
    names = [name for name in dir(code) if name.startswith("co_") and name not in PLACES]
    parts = [(name, known(getattr(code, name))) for name in names if not callable(getattr(code, name))]
    return parts


def known(value):
    if isinstance(value, types.CodeType):
        return told(value)
    if isinstance(value, (tuple, frozenset)):
        parts = [known(part) for part in value]
        return [type(value).__name__, parts if isinstance(value, tuple) else sorted(map(repr, parts))]
    return [type(value).__name__, repr(value)]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        pairs = json.load(file)
    same = []
    for original, changed in pairs:
        try:
            texts = [compile(text, "<text>", "exec", dont_inherit=True) for text in (original, changed)]
            same.append(told(texts[0]) == told(texts[1]))
        except (SyntaxError, ValueError, RecursionError):
            same.append(False)
    print(json.dumps(same))


main()
