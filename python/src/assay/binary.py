"""Asks the program `assay`, which decides: this package has no statistics of its own, so that everybody gets the same verdict."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from importlib import metadata
from typing import Any

# Taken here, so that a test that fakes `subprocess` somewhere does not fake this.
_run = subprocess.run


class BinaryNotFound(RuntimeError):
    """The program `assay` is not installed, or not where `ASSAY` says."""


class BinaryFailed(RuntimeError):
    """The program `assay` could not decide; its own words are in the message."""


def find() -> str:
    """The path of the program: what the variable `ASSAY` names, else the one that was installed with this package, else the first on
    `PATH`. Raises `BinaryNotFound`."""
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
    """The program of the package `assay-bench`, which need not be on `PATH`: an environment is used without being activated, too."""
    try:
        files = metadata.files("assay-bench") or []
    except metadata.PackageNotFoundError:
        return None
    places = (os.path.normpath(file.locate()) for file in files if file.name == "assay")
    return next((place for place in places if os.access(place, os.X_OK)), None)


def available() -> bool:
    """Whether there is a program to ask."""
    try:
        find()
    except BinaryNotFound:
        return False
    return True


def compare(path: str) -> dict[str, Any]:
    """The JSON report of `assay compare` on a sample file. Raises `BinaryNotFound` and `BinaryFailed`."""
    report: dict[str, Any] = json.loads(_said("compare", "--json", path))
    return report


def screen(path: str, *, colour: bool = False) -> str:
    """The screen of `assay compare` for a sample file, as it would be printed. Raises `BinaryNotFound` and `BinaryFailed`."""
    return _said("compare", "--quiet", "--color", "always" if colour else "never", path)


def colour_wanted(stream: Any) -> bool:
    """Whether what is printed to this stream may have colours."""
    return bool(stream.isatty()) and "NO_COLOR" not in os.environ


def _said(*arguments: str) -> str:
    command = [find(), *arguments]
    done = _run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    if done.returncode != 0:
        words = done.stderr.decode("utf-8", "replace").strip()
        raise BinaryFailed(f"`{' '.join(command)}` ended with status {done.returncode}: {words}")
    return done.stdout.decode("utf-8")
