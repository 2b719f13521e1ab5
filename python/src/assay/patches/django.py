"""Django's database layer, including the ORM. Every statement passes through one of the executors
of its cursors, whichever driver executes it. BEGIN and COMMIT are the driver's, except for sqlite3,
to which Django sends the BEGIN of `atomic` as a statement."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from .library import Library, Target


class Django(Library):
    """Django."""

    key = "django"
    module = "django.db"
    least = "3.2"
    below = "7"

    def version(self, module: Any) -> str:
        """The version of Django itself."""
        return super().version(sys.modules["django"])

    def targets(self, module: Any) -> list[Target]:
        """`executemany` counts as one call."""
        cursor = importlib.import_module("django.db.backends.utils").CursorWrapper
        return [(cursor, ["_execute", "_executemany", "callproc"], "orm", True)]


LIBRARY: Django = Django()
