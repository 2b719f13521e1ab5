"""Runs a small suite as a child process with the hooks that `assay tests` loads, and reads their
output."""

import json
import os
import pathlib
import subprocess
import sys

HOOKS = pathlib.Path(__file__).resolve().parents[2] / "crates/suites/src/hooks/python"
HOOKS_OF_JAVASCRIPT = HOOKS.with_name("javascript")


def written(file):
    """Includes the last lines of a killed process, which are in its tail."""
    tail = file.with_suffix(".tail")
    return file.read_text() + (tail.read_text()[20:].replace("\0", "") if tail.exists() else "")


class Seen:
    """The output of a suite, and the events of all its processes."""

    def __init__(self, done, folder):
        self.out = done.stdout
        self.status = done.returncode
        self.files = sorted(folder.glob("*.jsonl"))
        self.events = [json.loads(line) for file in self.files for line in written(file).splitlines()]

    def of(self, kind):
        return [event for event in self.events if kind in event]

    @property
    def tests(self):
        return self.of("test")

    @property
    def names(self):
        return [event["test"] for event in self.tests]

    @property
    def started(self):
        return [event["start"] for event in self.of("start")]

    @property
    def statuses(self):
        return {event["test"].rpartition("::")[2].rpartition(": ")[2]: event["status"] for event in self.tests}

    def test(self, name):
        return next(event for event in self.tests if event["test"].endswith(name))

    def causes(self, name):
        return self.test(name)["causes"]

    def spans(self, kind):
        return [event for event in self.of("span") if event["span"] == kind]


def watched(folder, sources, command, *, hooks=True, causes=False, only=None, order=None, **variables):
    """`sources` maps file names to texts; `command` follows `python` on the command line."""
    events, project = folder / f"events{len(list(folder.iterdir()))}", folder / "project"
    events.mkdir()
    project.mkdir(exist_ok=True)
    for name, source in sources.items():
        (project / name).write_text(source)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "PYTEST_"))}
    env.update(variables, PYTHONDONTWRITEBYTECODE="1", PYTEST_ADDOPTS="-p no:cacheprovider")
    if hooks:
        env.update(ASSAY_TESTS=f"path:{events}", PYTHONPATH=str(HOOKS), PYTEST_PLUGINS="assay_tests_hook")
    if causes:
        env["ASSAY_TESTS_CAUSES"] = "1"
    if only is not None:
        (folder / "only").write_text("\n".join(only))
        env["ASSAY_TESTS_ONLY"] = f"path:{folder / 'only'}"
    if order is not None:
        env["ASSAY_TESTS_ORDER"] = str(order)
    command = [sys.executable, *command]
    done = subprocess.run(
        command, cwd=project, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60
    )
    return Seen(done, events)
