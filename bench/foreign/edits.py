"""Edits projects, and checks whether `assay tests --changed` runs all tests that the edits break:
their number is that in the framework's own report on the whole suite."""

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from own import REPORTS, ended

sys.path.insert(0, str(Path(__file__).parent.parent))
from change_recall import changed  # noqa: E402

# Number of edits that break a test, and maximum number of edits tried.
WANTED, TRIED = 10, 60
# A test that depends on the clock because of an edit fails only sometimes, whereas a wrongly
# omitted test is omitted every time. An edit counts as missed if none of this many runs finds all
# failures.
AGAIN = 3
# An edit may cause an endless loop: a suite is stopped after this multiple of its usual time plus
# this many seconds.
PATIENCE, MORE = 4, 20
# A line that does not affect the program.
COMMENT = re.compile(r"\s*(#|//|\*|/\*|\"\"\"|'''|$)")
NOT_PYTHON_OR_RUBY = {".go", ".rs", ".js", ".ts", ".java", ".c"}


class Found:
    """Returns the results of the edits of a project."""

    def __init__(self):
        self.edits, self.broken, self.shares, self.missed = 0, 0, [], []


def lines(project, directory):
    """Yields every line of a project's sources, as its file and its index."""
    paths = sorted({path for pattern in project["sources"] for path in directory.glob(pattern) if not re.search(r"(_test\.go|\.test\.ts|/tests\.rs)$", str(path))})
    return [(path, index) for path in paths for index, line in enumerate(path.read_text().splitlines()) if not COMMENT.match(line)]


def edited(project, directory):
    """Yields edits in an order that is the same every time: a file, its line, and the text with
    another line."""
    drawn = random.Random(project["name"])
    places = lines(project, directory)
    drawn.shuffle(places)
    for path, index in places:
        text = path.read_text().splitlines(keepends=True)
        line = changed(text[index], path.suffix in NOT_PYTHON_OR_RUBY, drawn)
        if line is not None and line != text[index]:
            text[index] = line
            yield path, index, "".join(text)


def looked_at(measure, project, directory, env, own):
    """Makes edits until the required number has broken something. `measure` runs `assay tests` with
    options, and returns the same values as `foreign.named`.

    A failing test that did not run was wrongly omitted. One that ran and passed depends on earlier
    tests; the edit is then compared with the names of the tests that fail when assay runs the whole
    suite."""
    found = Found()
    with tempfile.TemporaryDirectory() as room:
        base, cache = Path(room) / "base", Path(room) / "cache"
        env = {**env, "XDG_CACHE_HOME": str(cache), **kept(env)}
        began = time.monotonic()
        measure(["--changed"], env)
        limit = PATIENCE * (time.monotonic() - began) + MORE
        if cache.exists():
            shutil.copytree(cache, base)
        for tried, (path, index, text) in enumerate(edited(project, directory)):
            if found.edits == WANTED or tried == TRIED:
                break
            before = path.read_bytes()
            try:
                path.write_text(text)
                try:
                    for words in project.get("rebuild", []):
                        ended(words, directory, env, limit)
                    truth = REPORTS[project["report"]](project["command"], directory, env, limit)
                except (ValueError, OSError, subprocess.TimeoutExpired, SyntaxError):
                    continue
                # If fewer tests ran, the edit broke the suite as a whole, and the comparison is
                # meaningless.
                if truth.tests != own.tests or truth.failed <= own.failed:
                    continue
                for _ in range(AGAIN):
                    shutil.rmtree(cache, ignore_errors=True)
                    if base.exists():
                        shutil.copytree(base, cache)
                    chosen, _, _, names, _ = measure(["--changed"], env)
                    ran, failed = (chosen.tests - chosen.skipped, chosen.failed) if chosen else (0, 0)
                    if failed >= truth.failed:
                        break
                else:
                    whole, *_, failing = measure([], env)
                    if whole is not None and len(failing) >= truth.failed and failing <= names:
                        failed = truth.failed
            finally:
                path.write_bytes(before)
            found.edits += 1
            found.broken += truth.failed
            found.shares.append(min(1, ran / max(1, own.tests - own.skipped)))
            if failed < truth.failed:
                found.missed.append(f"{path.relative_to(directory)}:{index + 1}: {failed} of {truth.failed} failing tests ran")
    return found


def kept(env):
    """Returns variables that keep the user's compiler caches in use."""
    home = Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return {"GOCACHE": os.environ.get("GOCACHE") or str(home / "go-build")}
