"""The figures about damaged files: real files of every format, changed at random and passed to
every verb that reads files.

A verb may refuse a file (status 2), but must not panic, be killed by a signal, hang, or use
unbounded memory.
"""

import collections
import os
import resource
import subprocess
import time

from machine import ASSAY, ROOT
from result import Bar, Result, mebibytes

# Locations of real files: the fixtures of the tests.
SOURCES = [
    "fuzz/seeds/import_any",
    "fuzz/seeds/import_json",
    "fuzz/seeds/import_text",
    "fuzz/seeds/sample_protocol",
    "crates/data/tests",
    "crates/assay/tests/data",
    "docs/guides",
    "docs/tutorial",
    "docs/concepts",
]
PROFILES = ["crates/profiles/tests/files", "docs/guides/profiling.in"]
# Share of profiles among the files.
PROFILES_SHARE = 0.15
LARGEST = 1 << 20
# Time limit per file in seconds: these are small.
PATIENCE = 60
STATUSES = {0, 1, 2, 3}
VERBS = {
    "compare": ["compare", "{0}", "{1}"],
    "compare --json": ["compare", "--json", "{0}", "{1}"],
    "compare --all": ["compare", "--all", "{0}", "{1}"],
    "compare --rigorous": ["compare", "--rigorous", "{0}", "{1}"],
    "compare --report": ["compare", "{0}", "{1}", "--report", "{out}.html"],
    "describe": ["describe", "{0}"],
    "describe --all": ["describe", "--all", "--json", "{0}"],
    "convert --to csv": ["convert", "{0}", "--to", "csv"],
    "convert --to go": ["convert", "{0}", "--to", "go"],
    "convert --anonymous": ["convert", "--anonymous", "{0}", "--to", "assay", "-o", "{out}.assay"],
    "plan": ["plan", "--pilot", "{0}", "--threshold", "1%"],
    "ministat": ["ministat", "{0}", "{1}"],
}
OF_PROFILES = {
    "profile": ["profile", "{0}"],
    "profile --json": ["profile", "--json", "{0}"],
    "profile, two": ["profile", "{0}", "{1}", "-o", "{out}.svg"],
    "profile -o .html": ["profile", "{0}", "-o", "{out}.html"],
    "profile -o .pb.gz": ["profile", "{0}", "-o", "{out}.pb.gz"],
}
NUMBERS = [b"0", b"-1", b"1e308", b"1e-320", b"-0.0", b"NaN", b"inf", b"18446744073709551616", b"1e999", b"null", b'""', b"0x1p3"]


def damaged(bench):
    """Passes this number of files through three verbs each."""
    files = bench.size(3000, 30, 300)
    kinds = [(sorted(_seeds(SOURCES)), VERBS), (sorted(_seeds(PROFILES)), OF_PROFILES)]
    room = bench.scratch / "damaged"
    room.mkdir()
    found, endings, peak, longest = collections.Counter(), collections.Counter(), 0, 0.0
    worst = ""
    for number in range(files):
        seeds, verbs = kinds[bench.random.random() < PROFILES_SHARE]
        source = bench.random.choice(seeds)
        whole = source.read_bytes()
        names = [room / f"{number}-{source.name}", room / f"{number}-other-{source.name}"]
        names[0].write_bytes(_changed(whole, bench.random, seeds))
        names[1].write_bytes(whole)
        for verb in bench.random.sample(sorted(verbs), 3):
            ending, memory, seconds = _ended(verbs[verb], names, room)
            endings[ending] += 1
            if ending in ("panic", "signal", "hang", "status"):
                found[ending] += 1
                kept = bench.results / f"{ending}-{names[0].name}"
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(names[0].read_bytes())
                print(f"{ending}: assay {' '.join(verbs[verb])}: {kept}", file=os.sys.stderr)
            if memory > peak:
                peak, worst = memory, f"{verb}, {source.relative_to(ROOT)}"
            longest = max(longest, seconds)
        for path in room.iterdir():
            path.unlink()
        print(f"\r  {number + 1} of {files} ", end="", file=os.sys.stderr, flush=True)
    print("\r" + " " * 40 + "\r", end="", file=os.sys.stderr)
    bench.commands["assay VERB MUTATED [WHOLE]"] = True
    result = Result(
        "damaged",
        f"{files} files, changed at random from {sum(len(seeds) for seeds, _ in kinds)} real ones, each read in 3 of {sum(len(verbs) for _, verbs in kinds)} ways",
        ["ended", "calls"],
    )
    for ending, count in endings.most_common():
        result.row(ending, count)
    for ending, what in {"panic": "panics", "signal": "ends by a signal", "hang": f"longer than {PATIENCE} s", "status": "other statuses"}.items():
        result.bar(Bar.at_most(what, found[ending], 0, str))
    result.bar(Bar.at_most("largest peak memory", peak, 500 * 2**20, mebibytes))
    result.note(f"The largest peak: `{worst}`. The longest call took {longest:.1f} s.")
    result.note(
        "What is changed: bits, bytes cut, repeated or brought over from another file, numbers put in place of numbers, brackets nested; up to six times a file."
    )
    return [result]


def _seeds(sources):
    for source in sources:
        for path in (ROOT / source).rglob("*"):
            # Sources and pages of the project are not measurements.
            if path.is_file() and path.suffix not in {".rs", ".md", ".sh", ".py", ".c", ".html", ".snap"} and 0 < path.stat().st_size <= LARGEST:
                yield path


def _changed(content, random, seeds):
    """Returns the content after one to six changes; its size is at most slightly more than twice
    the original."""
    most = 2 * len(content) + 4096
    # Mostly few changes: a file that is broken at its first byte tests nothing else.
    for _ in range(random.choice([1, 1, 1, 2, 3, 6])):
        change = random.choices([_flipped, _cut, _repeated, _spliced, _numbered, _nested], [3, 2, 2, 2, 6, 1])[0]
        content = change(content, random, seeds)[:most]
    return content


def _place(content, random):
    return random.randrange(len(content) + 1)


def _flipped(content, random, _seeds):
    changed = bytearray(content)
    for _ in range(random.choice([1, 1, 2, 8])):
        if changed:
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _cut(content, random, _seeds):
    start, end = sorted((_place(content, random), _place(content, random)))
    return content[:start] if random.random() < 0.5 else content[:start] + content[end:]


def _repeated(content, random, _seeds):
    start = _place(content, random)
    piece = content[start : start + random.randint(1, 200)]
    return content[:start] + piece * random.randint(2, 200) + content[start:]


def _spliced(content, random, seeds):
    other = random.choice(seeds).read_bytes()
    start, at = _place(other, random), _place(content, random)
    return content[:at] + other[start : start + random.randint(1, 2000)] + content[at:]


def _numbered(content, random, _seeds):
    digits = [at for at, byte in enumerate(content[:200_000]) if 48 <= byte <= 57]
    if not digits:
        return content
    start = end = random.choice(digits)
    while end < len(content) and content[end] in b"0123456789.eE+-":
        end += 1
    return content[:start] + random.choice(NUMBERS) + content[end:]


def _nested(content, random, _seeds):
    at, depth = _place(content, random), random.randint(1, 5000)
    return content[:at] + random.choice([b"[", b"{", b'{"a":', b"("]) * depth + content[at:]


def _ended(form, names, room):
    """Returns how a call ended, its peak memory in bytes, and its duration in seconds."""
    argv = [str(ASSAY), *(part.format(*names, out=room / "out") for part in form)]
    errors = room / "errors"
    began = time.monotonic()
    with errors.open("wb") as to:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=to, preexec_fn=_limited)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - began
    said = errors.read_bytes()
    if b"panicked" in said:
        ending = "panic"
    elif process.returncode == -24:
        ending = "hang"
    elif process.returncode < 0:
        ending = "signal"
    elif process.returncode not in STATUSES:
        ending = "status"
    else:
        ending = f"status {process.returncode}"
    return ending, usage.ru_maxrss * 1024, seconds


def _limited():
    # CPU seconds, so that a slow call on a busy machine does not look like a hang.
    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE + 1))
