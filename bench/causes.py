"""The figure about `assay why`: pairs of programs, one of which takes longer because of a planted
cause, and whether that cause is named first."""

import json
import re
import shlex

from machine import ASSAY, HERE, Failed, execute
from result import Bar, Result, Share

# The planted cause; KIND of causes.c, or a script; what counts as the same cause: a kind of the JSON, with the name or part that it is about.
PLANTED = [
    ("a function computes more", 1, [("function", "inflate_block")]),
    ("a function, called three times", 2, [("function", "inflate_block")]),
    ("the same instructions beyond the caches", 3, [("function", "gather"), ("time_per_instruction", None)]),
    ("allocations", 4, [("count", "allocations"), ("function", "malloc"), ("function", "_int_malloc"), ("function", "free"), ("function", "_int_free")]),
    ("page faults", 5, [("count", "minor_faults")]),
    ("system calls", 6, [("part", "system")]),
    ("writing to files", 7, [("part", "system"), ("part", "waiting"), ("count", "block_out")]),
    ("waiting", 8, [("part", "waiting")]),
    ("switches between threads", 9, [("count", "voluntary_switches")]),
    ("more output", 10, [("output", None)]),
    ("a function of Python", "py", [("function", "parse")]),
    ("a function of Ruby", "rb", [("function", "parse")]),
]
PYTHON = "def parse(n):\n    total = 0\n    for i in range(n):\n        total += i * i % 7\n    return total\n\n\ndef load(n):\n    return sorted(str(i) for i in range(n))\n\n\nload(400000)\nparse({})\nprint('done')\n"
RUBY = "def parse(count)\n  total = 0\n  count.times { |i| total += i * i % 7 }\n  total\nend\n\ndef load_all(count)\n  (0...count).map(&:to_s).sort\nend\n\nload_all(30_000)\nparse({})\nputs 'done'\n"
RUNS = 25
# Sampled runs of each command.
SAMPLED = 8


def sides(directory, kind):
    """Returns the commands of both sides."""
    if isinstance(kind, int):
        for more in (0, 1):
            side = directory / ("new" if more else "old")
            execute(["cc", "-O2", "-g", f"-DKIND={kind}", f"-DMORE={more}", str(HERE / "causes.c"), "-o", str(side), "-lpthread"], 60)
        return "./old", "./new"
    text, interpreter = (PYTHON, "python3") if kind == "py" else (RUBY, "ruby")
    # py-spy takes some tenths of seconds to find a program.
    more = 5 if kind == "py" else 1
    for side, count in (("old", more * 1_000_000), ("new", more * 3_000_000)):
        (directory / f"{side}.{kind}").write_text(text.replace("{}", str(count)))
    return f"{interpreter} old.{kind}", f"{interpreter} new.{kind}"


def matches(cause, expected):
    """Returns whether a cause is one of those expected; names may have parameters, or a class
    before them."""
    about = {"function": cause["name"], "count": cause["name"], "part": cause["part"]}.get(cause["kind"])
    names = re.split(r"[.(#:]", about or "")
    return any(kind == cause["kind"] and (name is None or name in names) for kind, name in expected)


def causes(bench):
    result = Result(
        "why",
        f"Programs that differ by one planted cause, {RUNS} blocks each, and the first sentence of `assay why --measure`",
        ["planted", "named first", "sentence"],
    )
    first, certain, of = 0, 0, 0
    for name, kind, expected in PLANTED[:: bench.size(1, 6)]:
        directory = bench.scratch / f"why-{kind}"
        directory.mkdir()
        old, new = sides(directory, kind)
        measure = [str(word) for word in [ASSAY, "run", old, new, "-r", RUNS, "--alloc", "-q", "--save", "run.assay"]]
        ask = [str(word) for word in [ASSAY, "why", "run.assay", "--measure", "-r", SAMPLED, "--json"]]
        bench.commands[f"{bench.shown(measure)}; {shlex.join([bench.shown([ask[0]]), *ask[1:]])}"] = True
        try:
            execute(measure, 300, cwd=directory)
            told = json.loads(execute(ask, 300, (0, 3), cwd=directory).stdout)
        except Failed as error:
            result.note(f"Not measured: {name}: {str(error).split('error: ')[-1]}")
            continue
        of += 1
        is_first = bool(told["causes"]) and matches(told["causes"][0], expected)
        first += is_first
        # The share of a part of the time is computed, and is not a cause.
        named = bool(told["causes"]) and told["causes"][0]["kind"] != "part"
        certain += named and not is_first and "likely" not in told["sentence"]
        result.row(name, "yes" if is_first else "no", told["sentence"].replace("\n", " "))
    result.bar(Bar.at_least(f"planted causes named first, of {of}", first, 10 * of // 12, str))
    result.bar(Bar.at_most("wrong causes named as certain", certain, 0, str))
    result.raw = {"shares": str(Share(first, of))}
    return [result]
