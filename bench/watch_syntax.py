"""Measures the time from saving a source with a syntax error until it is reported; nothing runs in
this case. Ruby and Python, each with its own interpreter."""

import json
import queue
import subprocess
import threading
import time

from judge import median
from machine import ASSAY, Failed
from result import Bar, Result, milliseconds

# Command, test, source, and the syntax error.
PROJECTS = {
    "Ruby": (
        ["ruby", "-Ilib", "test_words.rb"],
        ("test_words.rb", 'require "minitest/autorun"\nrequire "words"\nclass T < Minitest::Test\n  def test_word = assert(WORD)\nend\n'),
        ("lib/words.rb", "WORD = {number}\n", "def word(\n# {number}\n"),
    ),
    "Python": (
        ["python3", "-m", "unittest"],
        ("test_words.py", "import unittest, words\nclass T(unittest.TestCase):\n    def test_word(self):\n        self.assertIsNotNone(words.WORD)\n"),
        ("words.py", "WORD = {number}\n", "def word(:\n# {number}\n"),
    ),
}


def lines_of(process):
    """Yields the output lines, each with the time at which it arrived."""
    lines = queue.Queue()

    def read():
        for line in process.stdout:
            lines.put((time.clock_gettime_ns(time.CLOCK_MONOTONIC), json.loads(line)))

    threading.Thread(target=read, daemon=True).start()
    return lines


def until(lines, state):
    """Returns the time of the next line of this state."""
    while True:
        try:
            at, run = lines.get(timeout=60)
        except queue.Empty:
            raise Failed(f"it never said `{state}`") from None
        if run["state"] == state:
            return at


def syntax(bench):
    saves = bench.size(60, 4, 30)
    result = Result(
        "watch-syntax",
        f"From the save of a source with a syntax error to the line that reports it: {saves} saves, each put right before the next one",
        ["language", "p50", "p99"],
    )
    for language, (command, test, (name, good, broken)) in PROJECTS.items():
        home = bench.scratch / language
        (home / "lib").mkdir(parents=True)
        (home / test[0]).write_text(test[1])
        (home / name).write_text(good.format(number=0))
        argv = [str(ASSAY), "watch", "--json", "--", *command]
        bench.commands[bench.shown(argv)] = True
        process = subprocess.Popen(argv, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            lines, took = lines_of(process), []
            until(lines, "green")
            for number in range(1, saves + 1):
                time.sleep(bench.random.uniform(0.3, 0.6))
                began = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
                (home / name).write_text(broken.format(number=number))
                took.append((until(lines, "broken") - began) / 1e9)
                (home / name).write_text(good.format(number=number))
                until(lines, "green")
        finally:
            process.terminate()
            process.wait(30)
        took.sort()
        p99 = took[min(len(took) - 1, int(len(took) * 0.99))]
        result.row(language, milliseconds(median(took)), milliseconds(p99))
        result.bar(Bar.at_most(f"{language}, p50", median(took), 0.050, milliseconds))
        result.raw[language] = took
    return [result]
