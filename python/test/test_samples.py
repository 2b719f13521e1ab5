"""The sample protocol: what is written, where, and that nothing breaks."""

import json
import os
import subprocess
import sys
import threading

import pytest

from assay.samples import Samples


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def place(tmp_path):
    return tmp_path / "samples"


def run(code, where, **options):
    environment = {**os.environ, "ASSAY_SAMPLES": where}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, **options
    )


def test_values_regions_and_durations_are_lines_of_the_protocol(place):
    samples = Samples(f"path:{place}")
    samples.value("rows", 512, better="higher", take="sum")
    samples.values("latency", [1.25, 4], unit="ms")
    samples.duration("query", 0.5)
    with samples.region("parse"):
        pass
    assert not place.exists()
    samples.flush()
    rows, latency, query, parse = lines(place)
    assert rows == {"metric": "rows", "better": "higher", "take": "sum", "value": 512}
    assert latency == {"metric": "latency", "unit": "ms", "values": [1.25, 4]}
    assert query == {"region": "query", "ns": 5e8}
    assert parse["region"] == "parse" and parse["ns"] >= 0


@pytest.mark.parametrize("where", [None, "", "fd:", "fd:x", "fd:-1", "path:", "later:thing"])
def test_nothing_is_said_where_nobody_asks_or_in_a_way_that_is_not_known(where):
    samples = Samples(where)
    assert not samples.wanted
    samples.value("rows", 1)
    with samples.region("parse"):
        pass
    samples.flush()
    assert samples._lines == []


def test_a_region_is_timed_also_when_it_fails(place):
    samples = Samples(f"path:{place}")
    with pytest.raises(KeyError), samples.region("parse"):
        raise KeyError
    samples.flush()
    assert lines(place)[0]["region"] == "parse"


def test_what_is_no_number_is_left_out_and_told(place, capsys):
    samples = Samples(f"path:{place}")
    samples.value("x", float("nan"))
    samples.values("x", [1.0, float("inf")])
    samples.duration("y", -1)
    samples.flush()
    assert lines(place) == [{"metric": "x", "values": [1.0]}]
    assert capsys.readouterr().err.count("left out") == 1


def test_wrong_words_are_refused(place):
    samples = Samples(f"path:{place}")
    with pytest.raises(ValueError, match="`take` is one of"):
        samples.value("x", 1, take="average")
    with pytest.raises(TypeError, match="no `units`"):
        samples.value("x", 1, units="ms")


def test_many_values_are_split_into_lines_that_are_not_too_long(place):
    samples = Samples(f"path:{place}")
    samples.values("x", range(10_000))
    samples.flush()
    assert [value for line in lines(place) for value in line["values"]] == list(range(10_000))
    assert max(len(line) for line in place.read_bytes().splitlines()) < 1 << 20


def test_a_program_writes_to_a_descriptor_when_it_ends(place):
    with place.open("ab") as file:
        done = run("from assay import samples; samples.value('x', 1)", f"fd:{file.fileno()}", pass_fds=[file.fileno()])
    assert (done.returncode, done.stderr) == (0, "")
    assert lines(place) == [{"metric": "x", "value": 1}]


@pytest.mark.parametrize("where", ["fd:77", "path:/dev/full", "path:/no/such/directory/file"])
def test_a_place_that_takes_nothing_is_told_once_and_breaks_nothing(where):
    code = "from assay import samples\nfor n in range(20000): samples.value('x', n)\nprint('worked')"
    done = run(code, where)
    assert (done.returncode, done.stdout) == (0, "worked\n")
    assert done.stderr.count("could not write samples") == 1


def test_a_forked_child_does_not_repeat_what_its_parent_said(place):
    code = """
import os
from assay import samples
samples.value('parent', 1)
child = os.fork()
if child == 0:
    samples.value('child', 1)
    samples.flush()
    os._exit(0)
os.waitpid(child, 0)
"""
    assert run(code, f"path:{place}").returncode == 0
    assert sorted(line["metric"] for line in lines(place)) == ["child", "parent"]


def test_lines_of_many_threads_stay_whole(place):
    samples = Samples(f"path:{place}")

    def give(n):
        for index in range(2000):
            samples.value(f"thread {n}", index)

    threads = [threading.Thread(target=give, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    samples.flush()
    assert len(lines(place)) == 8000


def test_middleware_gives_samples_of_every_request(place):
    code = """
from assay import MethodProfiler
from assay.wsgi import ProfileMiddleware
class Database:
    def query(self): pass
MethodProfiler.patch(Database, ["query"], "sql")
def app(environ, start_response):
    Database().query()
    start_response("200 OK", [])
    return [b""]
for _ in range(3):
    ProfileMiddleware(app, log=None)({}, lambda *a: None)
"""
    done = run(code, f"path:{place}")
    assert (done.returncode, done.stderr) == (0, "")
    said = lines(place)
    assert [line["region"] for line in said if "region" in line] == ["request", "sql"] * 3
    assert [line["value"] for line in said if line.get("metric") == "sql_calls"] == [1, 1, 1]


def test_assay_run_reads_what_a_program_says(program, tmp_path):
    script = tmp_path / "program.py"
    script.write_text("from assay import samples\nsamples.value('rows', 512, take='sum')\n")
    done = subprocess.run(
        [program, "run", "--json", "--no-save", "--runs", "3", "--metric", "rows", f"{sys.executable} {script}"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["descriptions"][0]["metrics"]["rows"]["median"] == 512
