"""requests. All requests pass through `Session.send` once, and so does each redirect; reading the
response is included, unless it is streamed."""

from __future__ import annotations

import importlib
from typing import Any

from .library import Library, Target


class Requests(Library):
    """requests."""

    key = "requests"
    module = "requests"
    least = "2.20"
    below = "3"

    def targets(self, module: Any) -> list[Target]:
        """`connect` resolves the name, opens the connection, and performs the TLS handshake. It is
        urllib3's, and counts for all its users."""
        connections = importlib.import_module("urllib3.connection")
        kinds = (connections.HTTPConnection, connections.HTTPSConnection)
        return [(module.Session, ["send"], "net", True), *[(kind, ["connect"], "net_connect", False) for kind in kinds]]


LIBRARY: Requests = Requests()
