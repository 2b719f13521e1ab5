"""The released packages: sdist and wheel contain the licenses and the requirements of the build,
and importing loads only what is needed."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
from test_documents import ROOT

pytestmark = pytest.mark.once
NEEDED = ["pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "csrc", "src"]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Returns sdist and wheel as built by setuptools, without the accelerator, which does not
    affect their other contents."""
    place = tmp_path_factory.mktemp("package")
    for name in NEEDED:
        source = ROOT / "python" / name
        shutil.copytree(source, place / name) if source.is_dir() else shutil.copy(source, place / name)
    code = "from setuptools import build_meta as b; print(b.build_sdist('out'), b.build_wheel('out'))"
    environment = {**os.environ, "CC": "false"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=place, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    sdist, wheel = done.stdout.split()[-2:]
    with tarfile.open(place / "out" / sdist) as archive:
        in_sdist = {name.split("/", 1)[-1] for name in archive.getnames()}
    with zipfile.ZipFile(place / "out" / wheel) as archive:
        in_wheel = {name: archive.read(name).decode("utf-8", "replace") for name in archive.namelist()}
    return in_sdist, in_wheel


def test_both_have_the_licences(built):
    in_sdist, in_wheel = built
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert name in in_sdist
        (place,) = [inside for inside in in_wheel if inside.endswith(f".dist-info/licenses/{name}")]
        assert in_wheel[place] == (ROOT / name).read_text(encoding="utf-8")
    assert {"csrc/speedups.h", "csrc/module.c", "setup.py", "src/assay/py.typed", "README.md"} <= in_sdist
    sources = ROOT / "python/src"
    assert {str(path.relative_to(sources)) for path in sources.rglob("*.py")} | {"assay/py.typed"} <= set(in_wheel)


def test_the_text_for_registries_has_no_links_that_lead_nowhere(built):
    (metadata,) = [text for name, text in built[1].items() if name.endswith(".dist-info/METADATA")]
    assert "Testing with Python (`docs/guides/testing-with-python.md` in the repository)" in metadata
    assert all(link.startswith("http") for link in re.findall(r"\]\(([^)]+)\)", metadata))


def test_the_plugin_loads_the_profiler_when_a_fixture_asks_for_it():
    code = "import sys, pytest, assay.pytest_plugin; print([name for name in sys.modules if name.startswith('assay')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert sorted(eval(done.stdout)) == ["assay", "assay._version", "assay.pytest_plugin"]
    code = "import assay, sys; assay.MethodProfiler; print('assay.profiler' in sys.modules, 'MethodProfiler' in dir(assay))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "True True\n"
