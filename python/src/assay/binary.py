"""Runs the program `assay`, which computes all statistics, so that every front end gives the same
verdict."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from importlib import metadata
from typing import Any

# Captured here, so that tests that fake `subprocess` do not affect it.
_run = subprocess.run


class BinaryNotFound(RuntimeError):
    """The program `assay` is not installed, or not at the path in `ASSAY`."""


class BinaryFailed(RuntimeError):
    """The program `assay` failed; the message has its output."""


def find() -> str:
    """Returns the path of the program: the value of the variable `ASSAY`, or the program installed
    with this package, or the first on `PATH`. Raises `BinaryNotFound`."""
    named = os.environ.get("ASSAY")
    if named:
        found = shutil.which(named)
        if found:
            return found
        raise BinaryNotFound(
            f"`ASSAY` names `{named}`, and there is no such program: correct it, or unset it to search PATH"
        )
    found = _installed_along() or shutil.which("assay")
    if found:
        return found
    raise BinaryNotFound(
        "verdicts come from the program `assay`, which is not on PATH: build it with `cargo install --path crates/assay` in its "
        "repository, or name it in the variable ASSAY"
    )


def _installed_along() -> str | None:
    """Returns the program of the package `assay-bench`, which need not be on `PATH`, since an
    environment may be used without being activated."""
    try:
        files = metadata.files("assay-bench") or []
    except metadata.PackageNotFoundError:
        return None
    places = (os.path.normpath(file.locate()) for file in files if file.name == "assay")
    return next((place for place in places if os.access(place, os.X_OK)), None)


def available() -> bool:
    """Returns whether the program was found."""
    try:
        find()
    except BinaryNotFound:
        return False
    return True


def compare(path: str) -> dict[str, Any]:
    """Returns the JSON report of `assay compare` on a sample file. Raises `BinaryNotFound` and
    `BinaryFailed`."""
    report: dict[str, Any] = json.loads(_said("compare", "--json", path))
    return report


def screen(path: str, *, colour: bool = False) -> str:
    """Returns the output of `assay compare` for a sample file as text. Raises `BinaryNotFound` and
    `BinaryFailed`."""
    return _said("compare", "--quiet", "--color", "always" if colour else "never", path)


def colour_wanted(stream: Any) -> bool:
    """Returns whether output to this stream may be coloured."""
    return bool(stream.isatty()) and "NO_COLOR" not in os.environ


def _said(*arguments: str) -> str:
    command = [find(), *arguments]
    # Without `timeout`: subprocess counts it by `time.monotonic`, which tests stop and move on.
    done = _run(command, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        words = done.stderr.decode("utf-8", "replace").strip()
        raise BinaryFailed(f"`{' '.join(command)}` ended with status {done.returncode}: {words}")
    return done.stdout.decode("utf-8")
