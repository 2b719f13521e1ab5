"""The figure about the selection of tests: edits in functions of three real projects, each made in
a copy and undone. The failures of the whole suite are the truth, with which the tests run by `assay
tests --changed`, and their failures, are compared.
"""

import ast
import json
import re
import shutil
import tarfile
import urllib.request

from judge import exact_lower, median
from machine import ASSAY, Failed, execute, say
from result import Bar, Result, percent
from test_suites import framework, go_module, sdist

# Total number of edits.
EDITS = 1_000
RECALL, SELECTED = 0.99, 0.15
# A gem with its specs, as archived by Debian; installed gems have none.
HASHIE = "http://deb.debian.org/debian/pool/main/r/ruby-hashie/ruby-hashie_5.0.0.orig.tar.gz"
# Maximum number of missed tests per edit that are run alone.
ALONE = 20
# Time limit of a suite in seconds.
PATIENCE = 300

# Replacements by pattern; one of the patterns that match a line is chosen at random, and its first
# match replaced.
CHANGES = [
    (r"==", "!="), (r"!=", "=="), (r"<=", ">"), (r">=", "<"), (r" < ", " >= "), (r" > ", " <= "),
    (r"\b0\b", "1"), (r"\b1\b", "2"), (r"\b([2-9]|[1-9]\d+)\b", r"(\1 + 1)"),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"\bTrue\b", "False"), (r"\bFalse\b", "True"),
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + "), (r" && ", " || "), (r" \|\| ", " && "), (r" and ", " or "), (r" or ", " and "),
    (r'"([^"\\\s]+)"', r'"\1x"'), (r"'([^'\\\s]+)'", r"'\1x'"), (r"\bnot ", ""), (r"\bif (?!err)", "if not "), (r"\bunless ", "if "),
    (r"\breturn (?=[\w(])(?!nil\b|None\b)", "return not "),
]  # fmt: skip


class Project:
    """A project in its own directory, with the command that runs its tests."""

    def __init__(self, name, directory, words, sources, functions):
        self.name, self.directory, self.words = name, directory, [str(word) for word in words]
        self.sources = sorted(path for pattern in sources for path in directory.glob(pattern))
        self.functions = functions

    def lines(self):
        """Yields every line within a function, as its file and its index."""
        for path in self.sources:
            for index in sorted(self.functions(path.read_text())):
                yield path, index


def of_python(text):
    lines = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if isinstance(node.body[0], ast.Expr) else node.body
            for part in body:
                lines |= set(range(part.lineno - 1, part.end_lineno))
    return lines


def between(begins, ends):
    """Returns the lines between one that begins a function and the one that ends it, which has the
    same indentation."""

    def of(text):
        lines, indent = set(), None
        for index, line in enumerate(text.splitlines()):
            depth = len(line) - len(line.lstrip())
            if indent is None and re.match(begins, line):
                indent = depth
            elif indent is not None and depth == indent and re.match(ends, line):
                indent = None
            elif indent is not None and not re.match(r"\s*(#|//|$)", line):
                lines.add(index)
        return lines

    return of


of_ruby = between(r"\s*def (?!.*\bend$)", r"\s*end\b")
of_go = between(r"func .*\{$", r"\}")


# Words that do not occur in Go.
NOT_GO = {"True", "False", " and ", " or ", "", "if not ", "if ", "return not "}


def changed(line, is_go, random):
    """Returns a line with another meaning, or None."""
    fitting = [(pattern, new) for pattern, new in CHANGES if re.search(pattern, line) and not (is_go and new in NOT_GO)]
    if not fitting:
        return None
    pattern, new = random.choice(fitting)
    return re.sub(pattern, new, line, count=1)


def projects(bench):
    """Returns the three projects, each in its own directory, and those that could not be
    obtained."""
    home = bench.scratch / "projects"
    home.mkdir()

    def gem():
        packed = home / "hashie.tar.gz"
        with urllib.request.urlopen(HASHIE, timeout=60) as answer:
            packed.write_bytes(answer.read())
        with tarfile.open(packed) as archive:
            archive.extractall(home, filter="data")
        own = home / "hashie-5.0.0"
        # The gem for skipping tests on old versions of Ruby is not packaged anywhere.
        helper = own / "spec/spec_helper.rb"
        helper.write_text(helper.read_text().replace("require 'rspec/pending_for'", "def pending_for(*) = nil"))
        return Project("rspec: hashie", own, ["rspec"], ["lib/**/*.rb"], of_ruby)

    def package():
        # The tests run on the directory itself, not on an installed copy.
        directory, words = sdist(home, "more-itertools", "10.5.0", [], ["unittest", "-q"], installed=False)
        return Project("unittest: more-itertools", directory, words, ["more_itertools/*.py"], of_python)

    def module():
        directory, _ = go_module(home, "github.com/spf13/pflag", "v1.0.5")
        # Its tests have a line that newer versions of vet reject.
        words = ["go", "test", "-vet=off", "./..."]
        own = [path for path in directory.glob("*.go") if not path.name.endswith("_test.go")]
        return Project("go test: pflag", directory, words, [path.name for path in own], of_go)

    found, missing = [], {}
    for name, make in [("hashie", gem), ("more-itertools", package), ("pflag", module)]:
        try:
            found.append(make())
        except (Failed, OSError, IndexError) as error:
            missing[name] = str(error).strip()[-200:]
    return found, missing


class Suite:
    """Runs a project's tests with `assay`, with a map of what they use that is the same before
    every edit."""

    def __init__(self, bench, project):
        self.bench, self.project = bench, project
        self.base, self.cache = bench.scratch / f"{project.directory.name}-map", bench.scratch / f"{project.directory.name}-cache"
        self.asked("--changed")
        if self.cache.exists():
            shutil.copytree(self.cache, self.base)
        whole = self.asked()
        self.known, self.failing = whole if whole else (set(), set())
        if not self.known:
            raise Failed(f"{project.name}: its tests do not run")
        # A first run that was interrupted leaves no map; then everything would be chosen, and
        # nothing missed.
        again = self.asked("--changed")
        if again is None or len(again[0]) > len(self.known) / 2:
            raise Failed(f"{project.name}: what its tests use was not kept")

    def asked(self, *options):
        """Returns the names of the tests that ran, and of those that failed; None if the suite
        broke as a whole."""
        argv = [ASSAY, "tests", "--json", "--no-save", "-n", "0", "--timeout", "120s", *options, *framework(self.project.name), "--", *self.project.words]
        argv = [str(word) for word in argv]
        self.bench.commands[f"cd {self.project.directory.name}; {self.bench.shown(argv)}"] = True
        done = execute(["env", f"XDG_CACHE_HOME={self.cache}", "PYTHONDONTWRITEBYTECODE=1", *argv], PATIENCE, (0, 1, 2, 3, 4), cwd=self.project.directory)
        if not done.stdout.strip():
            return (set(), set()) if "no test runs" in done.stderr else None
        suite = json.loads(done.stdout)["suites"][0]
        return {test["name"] for test in suite["tests"]}, {test["name"] for test in suite["failing"]}

    def fails_alone(self, test):
        """Tests that fail only after others, whose remains they depend on, failed because of
        those."""
        own = self.asked("--only", test)
        return own is None or test in own[1]

    def after(self, path, text):
        """For a changed text in a file, returns the failures of all tests, the tests that ran and
        failed among the chosen ones, and the missed tests that also fail alone."""
        before = path.read_bytes()
        try:
            path.write_text(text)
            truth = self.asked()
            if truth is None or not truth[1] - self.failing:
                return truth, None, set()
            if self.cache.exists():
                shutil.rmtree(self.cache)
            shutil.copytree(self.base, self.cache)
            chosen = self.asked("--changed")
            lost = truth[1] - self.failing - (chosen[1] if chosen else set())
            return truth, chosen, {test for test in sorted(lost)[:ALONE] if self.fails_alone(test)}
        finally:
            path.write_bytes(before)


# Counts for the edits of a project.
SUMS = ("edits", "complete", "failing", "found", "silent", "broken", "behind")


def change_recall(bench):
    """Edits all projects alternately, until there is the required number of edits that make a test
    fail."""
    found, missing = projects(bench)
    wanted = bench.count or bench.size(EDITS, 6, 300)
    rows, misses = {}, []
    for project in found:
        try:
            suite = Suite(bench, project)
        except Failed as error:
            missing[project.name] = str(error)
            continue
        lines = list(project.lines())
        own = rows[project.name] = {"tests": len(suite.known), **dict.fromkeys(SUMS, 0), "shares": []}
        each = -(-wanted // len(found))
        for _ in range(each * 20):
            if own["edits"] == each:
                break
            path, index = bench.random.choice(lines)
            text = path.read_text().splitlines(keepends=True)
            line = changed(text[index], path.suffix == ".go", bench.random)
            if line is None or line == text[index]:
                continue
            old, text[index] = text[index].strip(), line
            truth, chosen, alone = suite.after(path, "".join(text))
            if truth is None:
                own["broken"] += 1
                continue
            failing = truth[1] - suite.failing
            if not failing:
                own["silent"] += 1
                continue
            # The chosen tests may fail as a whole; then nothing was found.
            ran, failed = chosen if chosen else (suite.known, set())
            lost = failing - failed
            own["edits"] += 1
            own["complete"] += not lost
            own["failing"] += len(failing)
            own["found"] += len(failing) - len(lost)
            own["shares"].append(len(ran) / len(suite.known))
            if lost:
                where = f"{path.relative_to(project.directory)}:{index + 1}"
                say(f"\n  missed at {where}: {', '.join(sorted(lost))}")
                own["behind"] += not alone
                misses.append(
                    {"project": project.name, "where": where, "from": old, "to": line.strip(), "lost": sorted(lost), "alone": sorted(alone), "ran": sorted(lost & ran)}
                )
            say(f"\r  {project.name}: {own['edits']} of {each}, {len(misses)} with a test missed ", end="")
        say("")
    seeds = {earlier["about"]["seed"] for earlier in bench.beside}
    if len(seeds) < len(bench.beside):
        raise Failed("runs of one seed make the same edits")
    for earlier in bench.beside:
        if earlier["name"] != "change-recall" or earlier["about"]["quick"]:
            raise Failed(f"{earlier['name']}{' (quick)' if earlier['about']['quick'] else ''} can't be counted with this")
        misses += earlier["raw"]["misses"]
        for name, theirs in earlier["raw"]["projects"].items():
            own = rows.setdefault(name, {**theirs, **dict.fromkeys(SUMS, 0), "shares": []})
            own["shares"] += theirs["shares"]
            for key in SUMS:
                own[key] += theirs[key]
    result = table(rows, misses, missing)
    if seeds:
        about = "; ".join(f"seed {earlier['about']['seed']}, {earlier['about']['when']}, assay {earlier['about']['versions']['assay']}" for earlier in bench.beside)
        result.note(f"Counted together with earlier runs, of other edits: {about}.")
    return [result]


def table(rows, misses, missing):
    result = Result(
        "change-recall",
        f"Tests that an edit of one function breaks, found by `assay tests --changed`: {sum(own['edits'] for own in rows.values())} edits of which some test fails",
        ["suite", "tests", "edits", "failing tests found", "edits of which all were", "of the suite run, median"],
    )
    sums = {key: sum(own[key] for own in rows.values()) for key in SUMS}
    shares = [share for own in rows.values() for share in own["shares"]]
    for name, own in rows.items():
        selected = percent(median(own["shares"])) if own["shares"] else "-"
        result.row(name, own["tests"], own["edits"], f"{own['found']} of {own['failing']}", own["complete"], selected)
    result.row("all", "", sums["edits"], f"{sums['found']} of {sums['failing']}", sums["complete"], percent(median(shares)))
    strict, bound = (exact_lower(sums["complete"] + more, sums["edits"]) for more in (0, sums["behind"]))
    result.bar(Bar.at_least("failing tests found, 95 % lower bound", strict, RECALL, percent))
    result.bar(Bar.at_least("the same of tests that fail alone, too", bound, RECALL, percent))
    result.bar(Bar.at_most("of the suite run, median", median(shares), SELECTED, percent))
    result.note(
        "Tests that one edit breaks are no independent cases. So the bound is that of the share of edits of which every failing test was found (exact, "
        "Clopper and Pearson, one-sided): an edit's share of found tests is 1 there and at least 0 elsewhere, so that their mean is no smaller. "
        f"With none missed it takes {299} edits to reach {percent(RECALL)}."
    )
    result.note(f"Left out: {sums['silent']} edits of which no test failed, {sums['broken']} with which no test ran (errors of syntax and types, endless loops).")
    result.note(
        f"Of {sums['behind']} edits the tests that were missed pass when they run alone: they fail in the whole suite since another test, which the edit breaks, "
        "leaves something behind. They count as missed in the first figure, and not in the second."
    )
    for miss in misses:
        result.note(f"Missed in {miss['project']}: {miss['where']}, `{miss['from']}` → `{miss['to']}`: {', '.join(miss['lost'][:5])}.")
    for name, why in missing.items():
        result.note(f"Missing: {name}: {why}.")
    result.raw = {"projects": rows, "misses": misses}
    return result
