"""A private environment for a test: an empty working directory, and environment variables that are
restored afterwards."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator


@contextmanager
def sandbox() -> Iterator[Path]:
    """Works in an empty directory until the `with` block ends; then the directory is deleted, and
    the working directory and environment are restored. Both are process-wide."""
    before, environment = os.getcwd(), os.environ.copy()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            yield Path(place)
        finally:
            os.chdir(before)
            for name in set(os.environ) - set(environment):
                del os.environ[name]
            for name, value in environment.items():
                if os.environ.get(name) != value:
                    os.environ[name] = value
