"""Measures the time from a save to the first assertion of the affected test, in small projects of
Ruby, Rails and Python: with a preloaded process, without one, and with the peers. Each uses the
same project and the same saves; the test itself records when it began.
"""

import contextlib
import os
import subprocess
import time

from forks import forks
from judge import median
from machine import ASSAY, Failed
from peers import PYTEST_WATCHER, there
from result import Bar, Result, milliseconds
from watch import last_is, stamps, until, watched

# Code loaded before the test: a library of typical size in each language.
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
GUARDFILE = """guard :shell do
  watch(%r{^lib/.+\\.rb$}) { system("rspec") }
end
"""
# Its own executable requires a library that is missing from Debian's package.
GUARD = ["ruby", "-e", 'require "guard"; require "guard/cli"; Guard::CLI.start(ARGV)', "start", "--no-interactions", "--no-bundler-warning"]
RAILS = {
    # spring uses Bundler to locate everything it loads.
    "Gemfile": """source "https://rubygems.org"
gem "actionpack"
gem "activerecord"
gem "railties"
gem "spring"
gem "sqlite3"
""",
    "Rakefile": 'require_relative "config/application"\nRails.application.load_tasks\n',
    "bin/rails": '#!/usr/bin/env ruby\nAPP_PATH = File.expand_path("../config/application", __dir__)\nrequire_relative "../config/boot"\nrequire "rails/commands"\n',
    "config/boot.rb": 'require "pathname"\n',
    "config/application.rb": """require "rails"
require "active_record/railtie"
require "action_controller/railtie"
require "rails/test_unit/railtie"

class Application < Rails::Application
  config.load_defaults 6.1
  config.eager_load = false
  config.cache_classes = false
  config.logger = Logger.new(nil)
  config.secret_key_base = "none"
end
""",
    "config/environment.rb": 'require_relative "application"\nRails.application.initialize!\n',
    "config/database.yml": "test:\n  adapter: sqlite3\n  database: db/test.sqlite3\n",
    "config/routes.rb": "Rails.application.routes.draw {}\n",
    "test/test_helper.rb": 'require_relative "../config/environment"\nrequire "rails/test_help"\n',
    "test/words_test.rb": """require "test_helper"
class WordsTest < ActiveSupport::TestCase
  test "the word" do
    File.write(ENV.fetch("STAMPS"), "#{Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)} #{Words::WORD}\\n", mode: "a")
    assert Words::WORD
  end
end
""",
}
RAILS_LIB = """module Words
  WORD = "%s"
end
"""
# The loop that runs spring at each save.
SPRING = """spring rails test
while inotifywait -qq -r -e close_write -e moved_to app; do spring rails test; done
"""


def ruby(home):
    """A project with a library and its spec; the file that is saved, and the text that is written
    to it."""
    for directory in ("lib", "spec"):
        (home / directory).mkdir(parents=True)
    (home / "spec/words_spec.rb").write_text(RUBY_SPEC)
    (home / "Guardfile").write_text(GUARDFILE)
    return home / "lib/words.rb", RUBY_LIB, ["rspec"]


def rails(home):
    for name, text in RAILS.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    (home / "bin/rails").chmod(0o755)
    for directory in ("app/models", "db", "log", "tmp"):
        (home / directory).mkdir(parents=True)
    return home / "app/models/words.rb", RAILS_LIB, ["bin/rails", "test"]


def python(home):
    (home / "tests").mkdir(parents=True)
    (home / "tests/test_words.py").write_text(PYTHON_TEST)
    (home / "conftest.py").write_text("")
    return home / "words.py", PYTHON_LIB, [str(PYTEST_WATCHER.with_name("python")), "-m", "pytest", "-q"]


PROJECTS = {"Ruby": ruby, "Rails": rails, "Python": python}


def tools(project, command):
    own = {
        "assay watch": [str(ASSAY), "watch", "--quiet", "--", *command],
        "assay watch --cold": [str(ASSAY), "watch", "--cold", "--quiet", "--", *command],
    }
    peers = {
        "Ruby": {"guard": GUARD} if there("guard") else {},
        "Rails": {"inotifywait and spring": ["sh", "-c", SPRING]} if there("spring") and there("inotifywait") else {},
        "Python": {"pytest-watcher": [str(PYTEST_WATCHER), ".", "--now", "--delay", "0", "--runner", command[0], "-m", "pytest", "-q"]},
    }
    return own | {name: argv for name, argv in peers[project].items() if there(argv[0])}


def environment(home, log):
    """The file in which tests record when they began, and spring's socket, since spring ends when
    its file is removed."""
    own = {"PYTHONDONTWRITEBYTECODE": "1", "RAILS_ENV": "test", "STAMPS": str(log), "SPRING_TMP_PATH": str(home)}
    return os.environ | own


def measured(bench, project, name, saves):
    """Returns the nanoseconds from each save to the test's first line, in the order of the
    saves."""
    home = bench.scratch / f"{project}-{name}".replace(" ", "-")
    log = home / "log"
    file, text, command = PROJECTS[project](home / "project")
    file.write_text(text % "begin")
    argv = tools(project, command)[name]
    took, missed = [], 0
    env = environment(home, log)
    with contextlib.ExitStack() as at_end:
        if "spring" in name:
            # spring's server outlives its client.
            at_end.callback(subprocess.run, ["spring", "stop"], cwd=home / "project", env=env, stdout=subprocess.DEVNULL, timeout=30)
        at_end.enter_context(watched(bench, argv, home / "project", env))
        # Some run nothing before the first save.
        for _ in range(8):
            if until(lambda: last_is(log, "begin"), 8):
                break
            file.write_text(text % "begin")
        else:
            raise Failed(f"{name} ran nothing in a minute")
        # By then the activities after the first run (another full run, preloading a process) are
        # over.
        time.sleep(5)
        for number in range(saves):
            word = f"save{number}"
            began = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            file.write_text(text % word)
            if until(lambda: last_is(log, word)):
                took.append(next(at for at, own in stamps(log) if own == word) - began)
            else:
                missed += 1
            # A reader looks at the result before the next save; preparations in the meantime are
            # part of the tool.
            time.sleep(bench.random.uniform(1.5, 2.5))
    return took, missed


def warm(bench):
    saves = bench.size(16, 3, 6)
    result = Result(
        "watch-warm",
        f"From a save of a library to the first line of the test that it touches: {saves} saves, two seconds between them",
        ["project", "tool", "p50", "of cold", "not run within 10 s"],
    )
    for project in PROJECTS:
        command = PROJECTS[project](bench.scratch / f"{project}-names")[2]
        found = {}
        for name in tools(project, command):
            try:
                took, missed = measured(bench, project, name, saves)
            except Failed as error:
                result.note(f"{project}: {error}.")
                continue
            if not took:
                result.note(f"{project}: {name} saw no save.")
                continue
            found[name] = {"p50": median(took) / 1e9, "all": took, "missed": missed}
        cold = found.get("assay watch --cold")
        for name, own in found.items():
            share = f"{own['p50'] / cold['p50']:.3f}" if cold else "-"
            result.row(project, name, milliseconds(own["p50"]), share, own["missed"])
        own = found.get("assay watch")
        if own and cold:
            result.bar(Bar.at_most(f"{project}: warm, of cold", own["p50"] / cold["p50"], 0.15, lambda share: f"{share:.3f}"))
            result.bar(Bar.at_most(f"{project}: warm, p50", own["p50"], 0.060, milliseconds))
        result.raw[project] = found
    return [result, forks(bench)]
