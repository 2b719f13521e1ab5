"""SQLAlchemy, core and ORM. Every statement passes through `_execute_context` once, whichever
driver executes it; an INSERT of many rows may become several statements of the driver. BEGIN and
COMMIT are the driver's."""

from __future__ import annotations

import importlib
from typing import Any

from .library import Library, Target


class Sqlalchemy(Library):
    """SQLAlchemy."""

    key = "sqlalchemy"
    module = "sqlalchemy"
    least = "1.4"
    below = "3"

    def targets(self, module: Any) -> list[Target]:
        """Its asynchronous engines use the same method, within a greenlet."""
        return [(importlib.import_module("sqlalchemy.engine.base").Connection, ["_execute_context"], "orm", True)]


LIBRARY: Sqlalchemy = Sqlalchemy()
