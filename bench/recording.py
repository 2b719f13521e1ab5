"""The figure about the cost of recording which code each test executes: real suites alone, while a
map of what their tests use is recorded, and under coverage.py, which also records by test.
"""

import json
import os
import shlex
import shutil
import subprocess

from change_recall import Project, projects
from judge import median
from machine import ASSAY, Failed, execute
from result import Bar, Result, ratio

# Allowed ratio to the time without recording: if the interpreter itself reports lines, and if a
# tracer is needed.
BAR, TRACED = 1.25, 2.0
# Candidates; the first one that works is used.
NEWER = ["python3.13", "python3.12"]
CONFIGURATION = "[run]\ndynamic_context = test_function\nbranch = False\n"


def with_coverage(project, python):
    """Returns the same project with an interpreter that has coverage.py."""
    execute([str(python), "-m", "pip", "install", "--quiet", "coverage"], 600)
    return Project(project.name, project.directory, [python, *project.words[1:]], [], project.functions)


def again(project, home):
    """Returns the same Python project with a newer interpreter."""
    for program in NEWER:
        # If a version manager is installed, unselected versions exist by name but do not run.
        versions = subprocess.run(["pyenv", "versions", "--bare"], capture_output=True, text=True).stdout.split() if shutil.which("pyenv") else []
        chosen = [version for version in versions if version.startswith(program.removeprefix("python"))]
        environment = {**os.environ, **({"PYENV_VERSION": chosen[-1]} if chosen else {})}
        try:
            found = subprocess.run([program, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True, env=environment)
        except FileNotFoundError:
            continue
        if found.returncode == 0:
            place = home / "newer"
            execute([found.stdout.strip(), "-m", "venv", str(place)], 120)
            return with_coverage(project, place / "bin/python")
    raise Failed("not there")


def version_of(python):
    return execute([python, "-c", "import platform; print(platform.python_version())"], 60).stdout.strip()


def recording(bench):
    found, missing = projects(bench)
    rounds = bench.size(11, 2, 4)
    home = bench.scratch / "recording"
    home.mkdir()
    (home / "coveragerc").write_text(CONFIGURATION)
    rows = {}
    for project in found:
        is_python = "more-itertools" in project.name
        if not is_python:
            rows[project.name] = (project, BAR)
            continue
        try:
            newer = again(project, home)
            rows[f"{project.name}, Python {version_of(newer.words[0])}"] = (newer, BAR)
        except Failed as error:
            missing[" or ".join(NEWER)] = str(error)
        rows[f"{project.name}, Python {version_of(project.words[0])}"] = (with_coverage(project, project.words[0]), TRACED)
    result = Result(
        "watch-recording",
        f"Suites while it is noted what each test executes, against themselves alone: medians of the ratios of interleaved rounds",
        ["suite", "rounds", "alone", "assay tests --changed, nothing known yet", "coverage.py, by test"],
    )
    for name, (project, bar) in rows.items():
        ways = {"alone": [], "recording": []}
        if project.words[0].endswith("python"):
            ways["coverage"] = []
        cache = home / "cache"

        def alone(words, project=project):
            argv = [str(word) for word in [ASSAY, "run", "--json", "-q", "--no-save", "--runs", 1, "--warmup", 0]]
            done = execute([*argv, shlex.join(words)], 1800, (0, 1, 3), cwd=project.directory)
            return json.loads(done.stdout)["descriptions"][0]["metrics"]["wall"]["median"]

        def step(_number, way, project=project, ways=ways, cache=cache, alone=alone):
            if way == "alone":
                ways[way].append(alone(project.words))
            elif way == "coverage":
                python, rest = project.words[0], project.words[2:]
                words = [python, "-m", "coverage", "run", f"--rcfile={home}/coveragerc", f"--data-file={home}/data", "-m", *rest]
                bench.commands[bench.shown(words)] = True
                ways[way].append(alone(words))
            else:
                shutil.rmtree(cache, ignore_errors=True)
                argv = [str(word) for word in [ASSAY, "tests", "--json", "-q", "--no-save", "--changed", "--", *project.words]]
                bench.commands[f"cd {project.directory.name}; {bench.shown(argv)}"] = True
                done = execute(["env", f"XDG_CACHE_HOME={cache}", *argv], 1800, (0, 4), cwd=project.directory)
                ways[way].append(json.loads(done.stdout)["suites"][0]["wall"])

        # A process for each test: measurements that take a minute need few rounds.
        is_go = "go test" in name
        taken_rounds = min(rounds, 3) if is_go else rounds
        bench.rounds(taken_rounds, list(ways), step)
        over = {way: median([a / b for a, b in zip(taken, ways["alone"])]) for way, taken in ways.items()}
        result.row(name, taken_rounds, f"{median(ways['alone']):.2f} s", ratio(over["recording"]), ratio(over["coverage"]) if "coverage" in over else "-")
        if not is_go:
            result.bar(Bar.at_most(name, over["recording"], bar, ratio))
    result.note("The wall of the suite's command is what is compared. A map is made once; later runs note only what they run.")
    result.note("Go tells what a test executed only in a process of its own for each test: there the bar does not hold, and it is shown what it is.")
    for name, why in missing.items():
        result.note(f"Missing: {name}: {why}.")
    return [result]
