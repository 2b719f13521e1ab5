"""The figure about which benchmarks execute code that changed: programs of five harnesses, each made of functions that call each other
directly, through a table, or under a condition that never holds, with a change of one function that some benchmarks execute.

What each benchmark executes is known from the construction of its program. `assay bench` reports
how many execute changed code: up to the true number they count as found, any others as reported
wrongly.
"""

import json

from machine import ASSAY, execute
from result import Bar, Result, Share

FUNCTIONS, BENCHMARKS = 14, 6
# How one function calls another. A call under a condition never happens.
DIRECT, TABLE, NEVER = "direct", "table", "never"


class Program:
    """Returns the functions by number, each with its calls of later ones, and the function that
    each benchmark calls."""

    def __init__(self, random):
        self.calls = {
            number: [(other, random.choice([DIRECT, DIRECT, TABLE, NEVER])) for other in random.sample(range(number + 1, FUNCTIONS), min(2, FUNCTIONS - number - 1))]
            for number in range(FUNCTIONS)
        }
        self.starts = [random.randrange(FUNCTIONS - 2) for _ in range(BENCHMARKS)]
        reached = [number for number in range(FUNCTIONS) if any(number in self.executed(start) for start in self.starts)]
        self.changed = random.choice(reached)

    def executed(self, number):
        below = [self.executed(other) for other, how in self.calls[number] if how != NEVER]
        return {number}.union(*below)

    def truth(self):
        """Returns the benchmarks that execute the changed function."""
        return [start for start in self.starts if self.changed in self.executed(start)]


def factor(program, number, side):
    """Returns the number by which a function multiplies: a different one on the new side, in the
    changed function."""
    return 5 if side == "new" and number == program.changed else 3


def python(program, side, call):
    lines = ["def never():", "    return False", ""]
    for number, calls in program.calls.items():
        lines += [f"def f{number}(x):", f"    y = x * {factor(program, number, side)} % 1000003"]
        for other, how in calls:
            if how == NEVER:
                lines += ["    if never():", f"        y += f{other}(y)"]
            else:
                lines.append(f"    y += {f'TABLE[{other}]' if how == TABLE else f'f{other}'}(y)")
        lines += ["    return y", ""]
    lines += [f"TABLE = {{{', '.join(f'{n}: f{n}' for n in program.calls)}}}", ""]
    return {"of.py": "\n".join(lines) + "\n", **call(program)}


def pytest(program):
    cases = [f"def test_b{index}(benchmark):\n    benchmark(of.f{start}, 7)\n" for index, start in enumerate(program.starts)]
    return {"test_of.py": "import of\n\n" + "\n".join(cases)}


def pyperf(program):
    cases = [f"runner.bench_func('b{index}', of.f{start}, 7)" for index, start in enumerate(program.starts)]
    return {"run.py": "import pyperf\nimport of\n\nrunner = pyperf.Runner()\n" + "\n".join(cases) + "\n"}


def ruby(program, side):
    lines = ["def never", "  false", "end", ""]
    for number, calls in program.calls.items():
        lines += [f"def f{number}(x)", f"  y = x * {factor(program, number, side)} % 1000003"]
        for other, how in calls:
            call = f"send(:f{other}, y)" if how == TABLE else f"f{other}(y)"
            lines.append(f"  y += {call}{' if never' if how == NEVER else ''}")
        lines += ["  y", "end", ""]
    cases = [f"  x.report('b{index}') {{ f{start}(7) }}" for index, start in enumerate(program.starts)]
    script = ["require 'benchmark/ips'", "require_relative 'of'", "", "Benchmark.ips do |x|", *cases, "end"]
    return {"of.rb": "\n".join(lines), "run.rb": "\n".join(script) + "\n"}


def go(program, side):
    lines = ["package of", "", "var Never = false", "", f"var table [{FUNCTIONS}]func(int) int", "", "func init() {"]
    lines += [f"\ttable[{number}] = F{number}" for number in program.calls]
    lines += ["}", ""]
    for number, calls in program.calls.items():
        lines += [f"func F{number}(x int) int {{", f"\ty := x * {factor(program, number, side)} % 1000003"]
        for other, how in calls:
            if how == NEVER:
                lines += ["\tif Never {", f"\t\ty += F{other}(y)", "\t}"]
            else:
                lines.append(f"\ty += {f'table[{other}]' if how == TABLE else f'F{other}'}(y)")
        lines += ["\treturn y", "}", ""]
    cases = [
        f"func BenchmarkB{index}(b *testing.B) {{\n\tfor i := 0; i < b.N; i++ {{\n\t\tsink += F{start}(i)\n\t}}\n}}\n" for index, start in enumerate(program.starts)
    ]
    tests = "package of\n\nimport \"testing\"\n\nvar sink int\n\n" + "\n".join(cases)
    return {"go.mod": "module example.com/of\n\ngo 1.20\n", "of.go": "\n".join(lines), "of_test.go": tests}


def cpp(program, side):
    lines = ["#include <benchmark/benchmark.h>", "volatile bool never = false;"]
    for number in reversed(range(FUNCTIONS)):
        lines += [f"__attribute__((noinline)) long f{number}(long x) {{", f"    long y = x * {factor(program, number, side)} % 1000003;"]
        for other, how in program.calls[number]:
            if how == TABLE:
                lines.append(f"    long (*volatile t{other})(long) = f{other}; y += t{other}(y);")
            else:
                lines.append(f"    {'if (never) ' if how == NEVER else ''}y += f{other}(y);")
        lines += ["    return y;", "}"]
    lines += [
        f"void b{index}(benchmark::State& state) {{ for (auto _ : state) benchmark::DoNotOptimize(f{start}(7)); }}\nBENCHMARK(b{index});" for index, start in enumerate(program.starts)
    ]
    return {"bm.cc": "\n".join([*lines, "BENCHMARK_MAIN();"]) + "\n"}


HARNESSES = {
    "go test -bench": (go, ["--build", "go test -c -o build/x.test .", "--program", "build/x.test"]),
    "pytest-benchmark": (lambda program, side: python(program, side, pytest), ["--build", ":", "--program", "{python} -m pytest test_of.py"]),
    "pyperf": (lambda program, side: python(program, side, pyperf), ["--build", ":", "--program", "{python} run.py"]),
    "benchmark-ips": (ruby, ["--build", ":", "--program", "ruby run.rb"]),
    "Google Benchmark": (cpp, ["--build", "mkdir -p build && c++ -O2 bm.cc -o build/bm -lbenchmark -lpthread", "--program", "build/bm"]),
}


def named(answer):
    """Returns the reported number of benchmarks that execute changed code; `None` if nothing is
    reported."""
    own = [finding for finding in json.loads(answer)["findings"] if finding["code"] == "CODE_CHANGED"]
    return int(own[0]["evidence"]["benchmarks"]) if own and own[0]["evidence"]["of"] == BENCHMARKS else None


def made(directory, program, files):
    """Creates a repository with the two revisions."""
    directory.mkdir(parents=True)
    (directory / ".gitignore").write_text("build/\n__pycache__/\n.pytest_cache/\n.benchmarks/\n")
    git = ["git", "-c", "user.name=of", "-c", "user.email=of@localhost", "-C", directory]
    execute([*git[:5], "init", "-q", directory], 60)
    for side in ("old", "new"):
        for name, text in files(program, side).items():
            (directory / name).write_text(text)
        execute([*git, "add", "."], 60)
        execute([*git, "commit", "-qm", side], 60)
        execute([*git, "tag", side], 60)


def reach(bench):
    programs = bench.size(12, 1, 4)
    interpreter = bench.scratch / "python"
    execute(["python3", "-m", "venv", interpreter], 300)
    execute([interpreter / "bin/pip", "install", "--quiet", "pytest-benchmark", "pyperf"], 600)
    result = Result(
        "reach",
        f"Programs in which one function changed, {programs} per harness, each with {BENCHMARKS} benchmarks: those that execute it, and those that don't",
        ["harness", "execute it: named", "do not: named", "unknown"],
    )
    found = {}
    for harness, (files, words) in HARNESSES.items():
        hits, wrong, unknown = [0, 0], [0, 0], 0
        words = [word.replace("{python}", str(interpreter / "bin/python")) for word in words]
        for number in range(programs):
            program = Program(bench.random)
            directory = bench.scratch / f"reach-{harness.replace(' ', '-')}-{number}"
            made(directory, program, files)
            argv = [str(part) for part in [ASSAY, "bench", "--rev", "old", "--rev", "new", *words, "-r", 2, "--run-time", "1ms", "-q", "--no-save", "--json"]]
            if number == 0:
                bench.commands[f"cd {bench.shown([str(directory)])}; {bench.shown(argv)}"] = True
            own, truth = named(execute(argv, 300, (0, 3), cwd=directory).stdout), len(program.truth())
            if own is None:
                unknown += 1
                continue
            hits[0] += min(own, truth)
            hits[1] += truth
            wrong[0] += max(own - truth, 0)
            wrong[1] += BENCHMARKS - truth
        found[harness] = (hits, wrong)
        result.row(harness, Share(*hits), Share(*wrong), unknown)
    hits, wrong = ([sum(own[which][i] for own in found.values()) for i in (0, 1)] for which in (0, 1))
    result.bar(Bar.share_at_least("benchmarks that execute changed code: named", Share(*hits), 0.99))
    result.bar(Bar.share_at_most("benchmarks that don't: named", Share(*wrong), 0.05))
    result.note("Google Benchmark's programs are compared by the machine code that a benchmark may call, which includes calls that never happen.")
    return [result]
