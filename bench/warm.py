"""How long from a save to the first assertion of the test that it touches, in a small project of Ruby and one of Python: with a preloaded process,
without one, and with the peers. The same project and the same saves for each; the test itself says when it began.
"""

import os
import time

from judge import median
from machine import ASSAY, Failed
from peers import GEMS, PYTEST_WATCHER, there
from result import Bar, Result, milliseconds
from watch import last_is, stamps, until, watched

# What is loaded before the test: a library of the usual size in each language.
RUBY_LIB = """require "active_record"
module Words
  WORD = "%s"
end
"""
RUBY_SPEC = """require_relative "../lib/words"
RSpec.describe Words do
  it "is the word that was saved" do
    File.write(ENV.fetch("STAMPS"), "#{Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)} #{Words::WORD}\\n", mode: "a")
    expect(Words::WORD).not_to be_empty
  end
end
"""
PYTHON_LIB = """import sqlalchemy
WORD = "%s"
"""
PYTHON_TEST = """import os
import time
import words

def test_word():
    with open(os.environ["STAMPS"], "a") as log:
        log.write(f"{time.clock_gettime_ns(time.CLOCK_MONOTONIC)} {words.WORD}\\n")
    assert words.WORD
"""
GUARDFILE = """guard :rspec, cmd: "rspec", failed_mode: :none do
  watch(%r{^lib/.+\\.rb$}) { "spec" }
end
"""


def ruby(home):
    """A project with a library and its spec; the file that is saved, and what is written into it."""
    for directory in ("lib", "spec"):
        (home / directory).mkdir(parents=True)
    (home / "spec/words_spec.rb").write_text(RUBY_SPEC)
    (home / "Guardfile").write_text(GUARDFILE)
    return home / "lib/words.rb", RUBY_LIB, ["rspec"]


def python(home):
    (home / "tests").mkdir(parents=True)
    (home / "tests/test_words.py").write_text(PYTHON_TEST)
    (home / "conftest.py").write_text("")
    return home / "words.py", PYTHON_LIB, [str(PYTEST_WATCHER.with_name("python")), "-m", "pytest", "-q"]


LANGUAGES = {"Ruby": ruby, "Python": python}


def tools(language, command):
    own = {
        "assay watch": [str(ASSAY), "watch", "--quiet", "--", *command],
        "assay watch --cold": [str(ASSAY), "watch", "--cold", "--quiet", "--", *command],
    }
    peers = {
        "Ruby": {"guard-rspec": [str(GEMS / "bin/guard"), "--no-interactions", "--no-bundler-warning"]},
        "Python": {"pytest-watcher": [str(PYTEST_WATCHER), ".", "--now", "--delay", "0", "--runner", command[0], "-m", "pytest", "-q"]},
    }
    return own | {name: argv for name, argv in peers[language].items() if there(argv[0])}


def environment(log):
    """Gems that are installed for this, and where tests say when they began."""
    paths = [str(GEMS), *filter(None, [os.environ.get("GEM_PATH")]), "/usr/share/rubygems-integration/all", "/var/lib/gems/3.1.0"]
    return {
        **os.environ,
        "GEM_PATH": os.pathsep.join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
        "STAMPS": str(log),
    }


def measured(bench, language, name, saves):
    """Nanoseconds from each save to the test's first line, in the order of the saves."""
    home = bench.scratch / f"{language}-{name}".replace(" ", "-")
    log = home / "log"
    file, text, command = LANGUAGES[language](home / "project")
    file.write_text(text % "begin")
    argv = tools(language, command)[name]
    took, missed = [], 0
    with watched(bench, argv, home / "project", environment(log)):
        if not until(lambda: last_is(log, "begin"), 60):
            raise Failed(f"{name} ran nothing in a minute")
        # What follows the first run (all again, a process that is preloaded) is over then.
        time.sleep(5)
        for number in range(saves):
            word = f"save{number}"
            began = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            file.write_text(text % word)
            if until(lambda: last_is(log, word)):
                took.append(next(at for at, own in stamps(log) if own == word) - began)
            else:
                missed += 1
            # A reader looks at the result before the next save; what is made ready meanwhile is part of the tool.
            time.sleep(bench.random.uniform(1.5, 2.5))
    return took, missed


def warm(bench):
    saves = bench.size(40, 3)
    result = Result(
        "watch-warm",
        f"From a save of a library to the first line of the test that it touches: {saves} saves, two seconds between them",
        ["language", "tool", "p50", "of cold", "not run within 10 s"],
    )
    for language in LANGUAGES:
        command = LANGUAGES[language](bench.scratch / f"{language}-names")[2]
        found = {}
        for name in tools(language, command):
            try:
                took, missed = measured(bench, language, name, saves)
            except Failed as error:
                result.note(f"{language}: {error}.")
                continue
            if not took:
                result.note(f"{language}: {name} saw no save.")
                continue
            found[name] = {"p50": median(took) / 1e9, "all": took, "missed": missed}
        cold = found.get("assay watch --cold")
        for name, own in found.items():
            share = f"{own['p50'] / cold['p50']:.3f}" if cold else "-"
            result.row(language, name, milliseconds(own["p50"]), share, own["missed"])
        own = found.get("assay watch")
        if own and cold:
            result.bar(Bar.at_most(f"{language}: warm, of cold", own["p50"] / cold["p50"], 0.15, lambda share: f"{share:.3f}"))
            result.bar(Bar.at_most(f"{language}: warm, p50", own["p50"], 0.060, milliseconds))
        result.raw[language] = found
    return [result]
