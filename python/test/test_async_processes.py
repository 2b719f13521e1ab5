"""Fakes of programs started by asyncio: they return immediately, are recorded, and are read like
real ones."""

import asyncio
import subprocess

import pytest
from test_fakes import module

from assay import testing
from assay.testing import UnexpectedCall


ASYNC_BUILD = """
import asyncio, asyncio.subprocess
from asyncio import create_subprocess_exec as spawn
from asyncio.subprocess import PIPE

async def by_exec():
    process = await asyncio.create_subprocess_exec("git", "rev-parse", "HEAD", stdout=PIPE)
    out, err = await process.communicate()
    return process.returncode, out, err

async def by_shell():
    process = await asyncio.subprocess.create_subprocess_shell("make | tee log", stdout=PIPE, stderr=asyncio.subprocess.STDOUT)
    lines = [line async for line in process.stdout]
    return await process.wait(), lines

async def by_name(text):
    process = await spawn("sort", stdin=PIPE, stdout=PIPE, stderr=PIPE)
    process.stdin.write(text)
    await process.stdin.drain()
    process.stdin.close()
    await process.stdin.wait_closed()
    first = await process.stdout.readline()
    return first, await process.stdout.read(), await process.stderr.read(), process.returncode, await process.wait(), process
"""


def test_programs_that_asyncio_starts_are_faked_too():
    build = module(ASYNC_BUILD)
    real = asyncio.create_subprocess_exec, asyncio.subprocess.create_subprocess_shell
    with testing.fake_run(build, results=["abc123\n", (2, "one\ntwo\n", "bad\n"), (1, b"a\nb\n", b"oh")]) as runs:
        assert asyncio.run(build.by_exec()) == (0, b"abc123\n", None)
        assert asyncio.run(build.by_shell()) == (2, [b"one\n", b"two\n", b"bad\n"])
        *said, process = asyncio.run(build.by_name(b"b\na\n"))
        assert said == [b"a\n", b"b\n", b"oh", None, 1]
        assert process.stdin.written == b"b\na\n" and process.stdin.is_closing()
        process.kill()
        assert (asyncio.create_subprocess_exec, asyncio.subprocess.create_subprocess_shell) == real
    assert runs == [["git", "rev-parse", "HEAD"], "make | tee log", ["sort"]]
    assert runs.calls[0].kwargs == {"stdout": subprocess.PIPE}
    assert build.asyncio is asyncio and build.asyncio.subprocess is asyncio.subprocess


def test_a_program_that_asyncio_can_not_start_raises_and_a_used_up_script_fails():
    build = module(ASYNC_BUILD)
    with testing.fake_run(build, results=[FileNotFoundError("git")]) as runs:
        with pytest.raises(FileNotFoundError, match="git"):
            asyncio.run(build.by_exec())
    assert len(runs) == 1
    with pytest.raises(UnexpectedCall, match="all 1 scripted results are used up"):
        with testing.fake_run(build, results=[0]):
            asyncio.run(build.by_exec())
            asyncio.run(build.by_exec())


def test_what_is_piped_to_a_program_that_asyncio_starts_is_kept():
    build = module("""
    import asyncio
    async def sort(given, **options):
        process = await asyncio.create_subprocess_exec("sort", stdin=-1, stdout=-1, **options)
        return process, await process.communicate(given)
    """)
    with testing.fake_run(build, results=["sorted"]):
        process, said = asyncio.run(build.sort(b"text"))
        assert said == (b"sorted", None) and process.stdin.written == b"text"
        with pytest.raises(ValueError, match="bytes: it refuses `text=True`"):
            asyncio.run(build.sort(b"text", text=True))


def test_programs_that_asyncio_starts_take_turns_with_other_tasks():
    build = module(ASYNC_BUILD)

    async def both():
        return await asyncio.gather(build.by_exec(), build.by_exec())

    with testing.fake_run(build, results=["one", "two"]):
        assert [out for _status, out, _err in asyncio.run(both())] == [b"one", b"two"]


def test_a_method_run_that_is_a_coroutine_is_faked_by_one():
    class Job:
        async def run(self, command):
            raise AssertionError("really run")

    job = Job()
    with testing.fake_run(job, results=[3]) as runs:
        assert asyncio.run(job.run(["ls"])).returncode == 3
    assert runs == [["ls"]]
