"""The figure about agreement: the mutants that both assay and a peer generate for a project, and
their fates according to each.

Two mutants are the same if they result in the same function: in Python by its syntax tree, in Rust
by its text without blanks. Whole bodies replaced by the empty value are the same, however that
value is written (`0`, `Default::default()`).

Each mutant with different fates is tried once more without any tool: the file is changed in a fresh
copy, and the tests run in a new process, which decides. The reasons for the differences were
determined by a person and are listed in `EXPLAINED`; a difference that is not listed is
unexplained.
"""

import ast
import functools
import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import mutants_compiled
from machine import ROOT, Failed, execute
from peers import CACHETOOLS, MUTMUT, TOOLZ, there
from result import Bar, Result

MUTATE = ROOT / "target/release/assay-mutate"
LONGEST = 7200
# The results of each tool that count as noticed or missed; mutants that cannot be built are
# neither.
NOTICED = {"killed", "timed_out", "timeout", "segfault", "CaughtMutant", "Timeout"}
MISSED = {"survived", "uncovered", "implied", "equivalent", "accepted", "no tests", "MissedMutant"}
# The default values of Rust types as written in sources.
NOTHING = {"0", "0.0", "()", "false", "None", "String::new()", "vec![]", "HashMap::new()", "Default::default()", ""}

# Explained differences: by project, function, and the results of assay and the peer. Each was
# examined by hand.
EARLY = "A decorator is called where the tests' classes are read, before mutmut lets a mutant in: what it made there is the original, so its mutants never run. assay loads such tests anew"
LOADED = "It is called while the module that it stands in is loaded, which mutmut does with the original, and at no other time that tests look at. assay loads such tests anew"
EXPLAINED = {
    ("strsim", "GrowingHashmapChar<ValueType>.lookup", "missed", "noticed"): "Nobody misses its whole body, so assay tries nothing finer of it and counts all as missed; with these a test fails, or never ends",
    ("toolz", "instanceproperty", "noticed", "missed"): LOADED,
    ("toolz", "InstanceProperty.__init__", "noticed", "missed"): LOADED,
    ("toolz", "curry.__init__", "noticed", "missed"): LOADED,
    ("cachetools", "cachedmethod", "noticed", "missed"): EARLY,
}


@dataclass
class Project:
    """A project that both tools are run on."""

    name: str
    peer: str
    files: list
    # The command that runs the tests.
    command: list
    # For the peer: maps the bench and the project's copy to each mutant's key, result and
    # description.
    theirs: Callable
    # Maps a file's path, its text, and the place of a change to the key of a mutant.
    key: Callable
    # For mutmut: additional files needed in its copy.
    also: tuple = ()


def agreement(bench):
    """Runs both tools on each project, and lists every difference."""
    if not MUTATE.exists():
        raise Failed(f"{MUTATE} is not built: cargo build --release -p assay-mutate")
    result = Result(
        "mutate-agreement",
        "Mutants that assay and a peer both make, and whether both say the same of them",
        ["project", "peer", "its mutants", "assay's", "the same", "both noticed", "both missed", "differ", "explained"],
    )
    unexplained = 0
    for project, home in projects(bench):
        own, others = ours(bench, project, home), project.theirs(bench, project, home)
        shared = sorted(own.keys() & others.keys(), key=lambda key: own[key]["where"])
        both = {key: (said(own[key]["fate"]), said(others[key][0])) for key in shared}
        differ = [key for key in shared if both[key][0] != both[key][1]]
        reasons = {}
        for key in differ:
            truth = settled(bench, project, home, own[key])
            why = explained(project, own[key], both[key])
            reasons.setdefault((why, *both[key], truth), []).append(own[key])
        count = sum(len(found) for (why, *_), found in reasons.items() if why)
        unexplained += len(differ) - count
        result.row(
            project.name,
            project.peer,
            f"{len(others):,}",
            f"{len(own):,}",
            len(shared),
            sum(pair == ("noticed", "noticed") for pair in both.values()),
            sum(pair == ("missed", "missed") for pair in both.values()),
            len(differ),
            count,
        )
        for (why, mine, yours, truth), found in sorted(reasons.items(), key=lambda own: own[1][0]["where"]):
            places = ", ".join(dict.fromkeys(f"`{mutant['function']}`, line {mutant['line']} ({mutant['words']})" for mutant in found))
            result.note(f"{project.name}, {len(found)} of them: assay says {mine}, {project.peer} {yours}, by hand {truth}: {places}. {why or 'Not explained.'}")
        result.raw[project.name] = [[own[key]["where"], own[key]["words"], own[key]["fate"], others[key][0]] for key in differ]
    result.bar(Bar.at_most("differences that nobody has explained", unexplained, 0, str))
    result.note("A mutant is missed if no test uses it, too, or if it was not tried because the whole body of its function is not missed.")
    return [result]


def projects(bench):
    """Yields the projects whose peers are installed, each in its own copy."""
    found = []
    python = MUTMUT.with_name("python")
    if there(MUTMUT) and there(TOOLZ):
        names = bench.size(["dicttoolz", "functoolz", "itertoolz", "recipes", "utils"], ["recipes"])
        files = [f"toolz/{name}.py" for name in names]
        toolz = Project("toolz", "mutmut", files, [python, "-m", "pytest", "-q", "toolz/tests"], of_mutmut, of_python, ("tlz", "setup.py", "versioneer.py", "setup.cfg"))
        found.append((toolz, TOOLZ.parent.parent))
    if there(MUTMUT) and there(CACHETOOLS):
        names = bench.size(["__init__", "_decorators", "func", "keys"], ["keys"])
        files = [f"src/cachetools/{name}.py" for name in names]
        tools = Project("cachetools", "mutmut", files, [python, "-m", "pytest", "-q", "-o", "pythonpath=src", "tests"], of_mutmut, of_python)
        found.append((tools, CACHETOOLS.parents[2]))
    for project, source in found:
        home = bench.scratch / project.name
        shutil.copytree(source, home)
        yield project, home
    try:
        mutants_compiled.install()
    except Failed as error:
        if bench.quick:
            return
        raise error
    home = bench.scratch / "rust"
    home.mkdir()
    crate, command = mutants_compiled.rust(home)
    # Doctests would be recompiled for each mutant.
    yield Project("strsim", "cargo-mutants", ["src/lib.rs"], [*command, "--lib", "--tests"], of_cargo_mutants, of_rust), crate


def said(fate):
    return "noticed" if fate in NOTICED else "missed" if fate in MISSED else "not tried"


def explained(project, mutant, both):
    """Returns the explanation of a difference, if there is one, for this line of the function or
    for all of it."""
    place = (project.name, mutant["function"])
    return EXPLAINED.get((*place, mutant["words"], *both)) or EXPLAINED.get((*place, *both))


# --- assay


def ours(bench, project, home):
    """Returns all mutants by key. With a budget, each one is tried, even if it is milder than a
    survivor."""
    argv = [MUTATE, "--no-sandbox", "--again", "--json", "--budget", "100h", *project.files, "--", *project.command]
    argv = ["env", f"XDG_CACHE_HOME={bench.scratch}/cache", *map(str, argv)]
    bench.commands[bench.shown(argv)] = True
    answer = json.loads(execute(argv, LONGEST, cwd=home).stdout)
    texts = {own["path"]: (home / own["path"]).read_text() for own in answer["files"]}
    found = {}
    for mutant in answer["mutants"]:
        unit = answer["units"][mutant["unit"]]
        path = answer["files"][unit["file"]]["path"]
        begin, end = offset(texts[path], mutant["begin"]), offset(texts[path], mutant["end"])
        changed = texts[path][:begin] + mutant["replacement"] + texts[path][end:]
        removed = " ".join(texts[path][begin:end].split())
        own = {
            "where": f"{path}:{mutant['begin']['line']:05}:{mutant['begin']['column']:03}",
            "path": path,
            "line": mutant["begin"]["line"],
            "function": unit["name"],
            "fate": mutant["fate"],
            "words": f"`{shortened(removed)}` → `{shortened(mutant['replacement'])}`",
            "changed": changed,
        }
        is_body = mutant["operator"] == "body"
        key = project.key(path, texts[path], changed, mutant["begin"]["line"], is_body)
        if key is not None:
            found.setdefault(key, own)
    return found


def offset(text, place):
    """Changes a place in a text; columns count bytes."""
    lines = text.encode().splitlines(keepends=True)
    return len((b"".join(lines[: place["line"] - 1]) + lines[place["line"] - 1][: place["column"] - 1]).decode())


def shortened(text):
    text = " ".join(text.split()).replace("`", "'").replace("|", "¦")
    return text if len(text) <= 40 else f"{text[:37]} …"


def settled(bench, project, home, mutant):
    """Returns the tests' own result for a mutant: changed directly in a fresh copy."""
    copy = bench.scratch / "by-hand"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(home, copy, ignore=shutil.ignore_patterns("mutants", "__pycache__", ".pytest_cache", "target"))
    (copy / mutant["path"]).write_text(mutant["changed"])
    argv = ["env", "PYTHONDONTWRITEBYTECODE=1", f"CARGO_TARGET_DIR={bench.scratch}/by-hand-target", *map(str, project.command)]
    try:
        execute(argv, 600, cwd=copy)
    except Failed:
        return "noticed"
    return "missed"


# --- Python


def of_python(path, text, changed, line, _is_body):
    """Returns the resulting function, as its syntax tree: the outermost one around a line, as
    mutmut counts them."""
    place = next((found for found in functions(text) if found[1].lineno <= line <= found[1].end_lineno), None)
    if place is None:
        return None
    try:
        after = dict(outermost(ast.parse(changed)))
    except SyntaxError:
        return None
    return (path, place[0], tree(after[place[0]])) if place[0] in after else None


@functools.cache
def functions(text):
    return list(outermost(ast.parse(text)))


def outermost(module):
    """Returns the functions of a module, and the methods of its classes, by name."""
    for node in module.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{own.name}", own) for own in node.body if isinstance(own, (ast.FunctionDef, ast.AsyncFunctionDef)))


def tree(function):
    """Returns its arguments and body, without positions."""
    return ast.dump(function.args) + "".join(ast.dump(own) for own in function.body)


ASKED = """
[mutmut]
source_paths={source}
only_mutate=
    {files}
also_copy=
    {also}
tests_dir={tests}
"""


def of_mutmut(bench, project, home):
    """Runs mutmut in a copy. Its mutants are functions next to the original one, and their fates
    are in a file next to the source."""
    copy = bench.scratch / f"{project.name}-mutmut"
    shutil.copytree(home, copy)
    source = "src" if project.files[0].startswith("src/") else project.files[0].split("/")[0]
    asked = ASKED.format(source=source, files="\n    ".join(project.files), also="\n    ".join(project.also or ("tests",)), tests=project.command[-1])
    with open(copy / "setup.cfg", "a") as config:
        config.write(asked)
    argv = [str(MUTMUT), "run"]
    bench.commands[bench.shown(argv)] = True
    execute(argv, LONGEST, cwd=copy)
    words = {"killed": [1, 3], "survived": [0], "no tests": [5, 33], "timeout": [36, -24, 24, 152, 255], "segfault": [-11, -9]}
    fates = {code: name for name, codes in words.items() for code in codes}
    found = {}
    for path in project.files:
        meta = json.loads((copy / "mutants" / f"{path}.meta").read_text())["exit_code_by_key"]
        written = {name.rsplit(".", 1)[-1]: own for name, own in outermost(ast.parse((copy / "mutants" / path).read_text()))}
        for key, code in meta.items():
            name = key.rsplit(".", 1)[-1]
            # `x_NAME__mutmut_3`, or with its class between two separators.
            parts = name.split("__mutmut_")[0].split("ǁ")
            plain = parts[0][2:] if len(parts) == 1 else ".".join(parts[1:])
            found.setdefault((path, plain, tree(written[name])), (fates.get(code, f"status {code}"), name))
    return found


# --- Rust


def of_rust(path, _text, changed, line, is_body):
    """Returns the whole resulting text; for a removed body, its position."""
    return (path, "body", line) if is_body else (path, "text", re.sub(r"\s+", "", changed))


def of_cargo_mutants(bench, project, home):
    """Runs cargo-mutants; its mutants, with their positions and fates, are in one file."""
    out = bench.scratch / "mutants"
    shutil.rmtree(out, ignore_errors=True)
    jobs, share = str(os.cpu_count() or 1), bench.size([], ["--shard", "0/40"])
    argv = [str(mutants_compiled.CARGO_MUTANTS), "mutants", "--dir", str(home), "--output", str(out), "--jobs", jobs, "--no-times", "--colors", "never", *share, "--", "--lib", "--tests"]
    # 2: some were missed; 3: some timed out.
    bench.run(argv, LONGEST, (0, 2, 3))
    found = {}
    for outcome in json.loads((out / "mutants.out/outcomes.json").read_text())["outcomes"]:
        if not isinstance(outcome["scenario"], dict):
            continue
        mutant = outcome["scenario"]["Mutant"]
        path, text = mutant["file"], (home / mutant["file"]).read_text()
        begin, end = (offset(text, mutant["span"][side]) for side in ("start", "end"))
        if mutant["genre"] == "FnValue":
            key = (path, "body", mutant["span"]["start"]["line"]) if mutant["replacement"] in NOTHING else (path, "body", mutant["name"])
        else:
            key = of_rust(path, text, text[:begin] + mutant["replacement"] + text[end:], 0, False)
        found.setdefault(key, (outcome["summary"], mutant["name"]))
    return found
