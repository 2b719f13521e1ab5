"""httpx, including its asynchronous client. One call is one request sent: each redirect and each
step of an authentication is another."""

from __future__ import annotations

import functools
import importlib
import inspect
from typing import Any, Callable

from .library import Library, Seams, Target


class Httpx(Library):
    """httpx."""

    key = "httpx"
    module = "httpx"
    least = "0.23"
    below = "2"

    def targets(self, module: Any) -> list[Target]:
        """Reading the response is included, unless it is streamed. `_connect` opens the connection,
        and performs the TLS handshake."""
        found: list[Target] = [(client, ["send"], "net", True) for client in (module.Client, module.AsyncClient)]
        for kind in ("HTTPConnection", "AsyncHTTPConnection"):
            connection = getattr(importlib.import_module("httpcore"), kind)
            found.append((connection, ["_connect"], "net_connect", False))
        return [*found, *self.counted("net")]

    def seams(self, module: Any) -> Seams:
        """Earlier responses, before the final one."""
        return [(client, {"send": self._history}) for client in (module.Client, module.AsyncClient)]

    def _history(self, original: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(original):

            @functools.wraps(original)
            async def send_task(client: Any, *args: Any, **kwargs: Any) -> Any:
                response = await original(client, *args, **kwargs)
                self.counter.further(len(response.history))
                return response

            return send_task

        @functools.wraps(original)
        def send(client: Any, *args: Any, **kwargs: Any) -> Any:
            response = original(client, *args, **kwargs)
            self.counter.further(len(response.history))
            return response

        return send


LIBRARY: Httpx = Httpx()
