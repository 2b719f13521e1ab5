"""Adds twenty packages and two planted faults to a farm, waits until every version has a build for
each of its targets, and shows the builds that did not pass.

Usage: fill.py SERVER TOKEN_FILE GEM_INDEX PACKAGES PATIENCE [TARGETS]
Each deviation from the planted faults is a line on standard error; the status is then 1.
"""

import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

SERVER, TOKEN_FILE, GEM_INDEX, PACKAGES, PATIENCE = sys.argv[1:6]
with open(TOKEN_FILE) as file:
    TOKEN = file.read().strip()
OWNER = "examples"

# Small pure Python packages with their tests in the source archive, except iniconfig, which is not
# tested since nothing shows that a test ran. Their requirements other than pytest are included.
PYTHON = [
    ("six", "1.16.0", "python3 -m pytest test_six.py"),
    ("iniconfig", "2.0.0", None),
    ("idna", "3.7", "python3 -m unittest discover -s tests -t ."),
    ("toolz", "0.12.0", "python3 -m pytest toolz/tests/test_dicttoolz.py"),
    ("inflection", "0.5.1", "python3 -m pytest test_inflection.py"),
    ("xmltodict", "0.13.0", None),
    ("cachetools", "5.3.3", None),
    ("decorator", "5.1.1", "python3 -m unittest discover -s src/tests -p test.py -t src"),
    ("tabulate", "0.9.0", "python3 -m pytest test/test_textwrapper.py"),
    # Its settings are for another version of pytest, and turn each warning into an error.
    ("blinker", "1.6.3", "python3 -m pytest -c /dev/null --rootdir . tests/test_saferef.py tests/test_utilities.py"),
    ("munkres", "1.1.4", None),
    ("pluggy", "1.3.0", "python3 -m pytest testing/test_helpers.py testing/test_invocations.py"),
]
GEMS = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
GEMS = ["assay-example-" + name for name in GEMS]

FAILURE = """
printf '1..2\\n'
echo 'ok 1 - everywhere'
"""
# From version 1.2 on, and only on one platform.
PLANTED = """
if [ "$ASSAY_RUNTIME" = "@RUNTIME@" ]; then echo 'not ok 2 - on this platform'; else echo 'ok 2 - on this platform'; fi
"""
BENCH = """#!/bin/sh
n=@COUNT@
if [ "$ASSAY_RUNTIME" = "@RUNTIME@" ]; then n=@SLOW@; fi
begin=$(date +%s%N); i=0; while [ $i -lt $n ]; do i=$((i + 1)); done; end=$(date +%s%N)
printf 'name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,error_occurred,error_message\\n'
printf '"count",1,%s,%s,ns,,,,,\\n' $((end - begin)) $((end - begin))
"""


def ask(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(SERVER + "/api/v1" + path, data=data, method=method)
    request.add_header("Authorization", "Bearer " + TOKEN)
    request.add_header("Content-Type", "application/json")
    request.add_header("Assay-Api", "1")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        sys.exit("%s %s: %s %s" % (method, path, error.code, error.read().decode()[:500]))


def listed(path):
    found, after = [], None
    while True:
        sign = "&" if "?" in path else "?"
        page = ask("GET", path + (sign + "after=" + urllib.parse.quote(after) if after else ""))
        found += page["items"]
        after = page["next"]
        if after is None:
            return found


def project(name, body, versions):
    place = "/owners/%s/projects/%s" % (OWNER, name)
    ask("PUT", place, body)
    for number, version in enumerate(versions):
        ask("PUT", "%s/versions/%s" % (place, version), {"kind": "release", "ordinal": number + 1})


def file(path, text):
    """Returns a shell line that writes a file."""
    return "cat > %s <<'END-OF-FILE'\n%s\nEND-OF-FILE\nchmod 755 %s" % (path, text, path)


def targets():
    end = time.time() + 60
    while time.time() < end:
        found = listed("/targets")
        if len(found) >= int(PACKAGES_TARGETS):
            return found
        time.sleep(0.5)
    sys.exit("the agents did not come")


PACKAGES_TARGETS = sys.argv[6] if len(sys.argv) > 6 else "1"
ask("PUT", "/owners/" + OWNER, {})
found = targets()
runtimes = sorted({name[8:] for own in found for name in own["facts"] if name.startswith("runtime.")})
planted = "ruby" if "ruby" in runtimes else runtimes[-1]
few = PACKAGES == "few"

python = [] if "python" not in runtimes else ([] if few else PYTHON)
for name, version, test in python:
    recipe = {"timeout": 300}
    if test is not None:
        recipe["test"] = test
        recipe["install"] = [
            'python3 -m venv --system-site-packages "$HOME/venv"',
            "python3 -m pip install --quiet . pytest",
        ]
    project(name, {"origin": {"kind": "py_pi", "name": name}, "recipe": recipe, "needs": {"runtime.python": "3"}}, [version])
gems = [] if "ruby" not in runtimes else (GEMS[:2] if few else GEMS)
for name in gems:
    origin = {"kind": "gem", "name": name, "index": GEM_INDEX}
    project(name, {"origin": origin, "recipe": {"timeout": 300}, "needs": {"runtime.ruby": "3"}}, ["1.0.0"])

# Tests that fail only on one platform, from 1.2 on.
get = 'case "$VERSION" in 1.0 | 1.1) %s ;; *) %s ;; esac' % (
    "\n" + file("test.sh", FAILURE + "echo 'ok 2 - on this platform'") + "\n",
    "\n" + file("test.sh", FAILURE + PLANTED.replace("@RUNTIME@", planted)) + "\n",
)
origin = {"kind": "command", "list": "printf '1.0\\n1.1\\n1.2\\n1.3\\n'", "get": get}
recipe = {"install": ["true"], "test": "sh test.sh", "timeout": 120}
project("planted-failure", {"origin": origin, "recipe": recipe}, ["1.0", "1.1", "1.2", "1.3"])

# A benchmark that takes longer only on one platform, in 1.1.
bench = BENCH.replace("@RUNTIME@", planted)
# Long enough that the two calls of date, which are part of the measured time, do not matter.
fast = bench.replace("@COUNT@", "20000").replace("@SLOW@", "20000")
more = 6000 if few else 1000
slow = bench.replace("@COUNT@", "20000").replace("@SLOW@", str(20000 + more))
get = 'if [ "$VERSION" = 1.0 ]; then\n%s\nelse\n%s\nfi\n%s' % (
    file("bench.sh", fast),
    file("bench.sh", slow),
    file("test.sh", "echo 1..1; echo 'ok 1 - it runs'"),
)
origin = {"kind": "command", "list": "printf '1.0\\n1.1\\n'", "get": get}
span = "5s" if few else "20s"
recipe = {
    "install": ["true"],
    "test": "sh test.sh",
    "bench": "--program ./bench.sh --harness printing --time " + span,
    "timeout": 300,
}
project("planted-slowdown", {"origin": origin, "recipe": recipe}, ["1.0", "1.1"])

# Every version has a build for each of its targets.
names = [own["name"] for own in listed("/owners/%s/projects" % OWNER)]
end = time.time() + float(PATIENCE)
counted = None
while True:
    wanted, done, lost, slower, undecided = 0, 0, 0, [], 0
    cells = {}
    for name in names:
        own = ask("GET", "/owners/%s/projects/%s" % (OWNER, name))
        needs = own["needs"]
        fit = [t for t in found if all(t["facts"].get(k, "").startswith(v) for k, v in needs.items())]
        matrix = ask("GET", "/owners/%s/projects/%s/matrix" % (OWNER, name))
        for version in matrix["versions"]:
            for target in fit:
                wanted += 1
                cell = matrix["cells"].get(version["name"], {}).get(target["digest"])
                cells[(name, version["name"], target["digest"])] = cell
                if cell is None or cell["state"] == "infrastructure":
                    continue
                done += 1
                lost += cell["state"] == "lost"
                for compared in cell["comparisons"]:
                    if compared["verdict"] == "slower":
                        slower.append((name, version["name"], target["name"], compared))
        if name == "planted-slowdown":
            for target in fit:
                cell = cells.get((name, "1.1", target["digest"]))
                undecided += not (cell and cell["comparisons"])
    if (done, undecided) != counted:
        counted = (done, undecided)
        print("%d of %d builds, %d %s to come" % (done, wanted, undecided, "benchmark" if undecided == 1 else "benchmarks"), flush=True)
    if done == wanted and not undecided:
        break
    if time.time() > end:
        print("not everything was done in time", file=sys.stderr)
        break
    time.sleep(1)

print("\nPlatforms:")
for target in found:
    print("  " + target["name"])
print("\nDid not pass:")
for (name, version, digest), cell in cells.items():
    target = next(own for own in found if own["digest"] == digest)
    state = cell["state"].replace("_", " ") if cell else "not built"
    if state != "passed":
        print("  %-14s %s %s on %s" % (state, name, version, target["name"]))
passed = sum(1 for cell in cells.values() if cell and cell["state"] == "passed")
print("\n%d of %d builds passed, %d lost" % (passed, wanted, lost))

failed = [key for key, cell in cells.items() if cell and cell["state"] == "failed" and key[0] == "planted-failure"]
on = {digest for _, _, digest in failed}
first = min((version for _, version, _ in failed), default=None)
named = [own["name"] for own in found if own["digest"] in on]
print("planted failure: fails on %s only; first with version %s" % (", ".join(named) or "nothing", first))
for name, version, target, compared in slower:
    print("planted slowdown: %s %s is %.1f %% slower on %s" % (name, version, 100 * (compared["ratio"] - 1), target))
# At a confidence of 95 %, one verdict in forty reports "slower" for equal work. The planted
# difference is larger than those in such verdicts, so half of it distinguishes the two.
large = [own for own in slower if own[3]["ratio"] - 1 > more / 20000 / 2]
wrong = []
if done != wanted or lost:
    wrong.append("%d of %d builds were done, and %d of them lost" % (done, wanted, lost))
if first != "1.2" or len(named) != 1 or planted not in named[0]:
    wrong.append("the planted failure is first seen in %s, on %s" % (first, ", ".join(named) or "nothing"))
if not any(name == "planted-slowdown" for name, _, _, _ in large):
    wrong.append("the planted slowdown was not found")
for name, version, target, compared in large:
    if name != "planted-slowdown" or planted not in target:
        wrong.append("%s %s is said to be %.1f %% slower on %s" % (name, version, 100 * (compared["ratio"] - 1), target))
for line in wrong:
    print("not as planted: " + line, file=sys.stderr)
sys.exit(1 if wrong else 0)
