"""Middleware for ASGI (Starlette, FastAPI, Django, Quart, …): where did each request spend its time?

    from assay.asgi import ProfileMiddleware
    app = ProfileMiddleware(app)

Each response gets a header `Server-Timing` with the totals of all patched names, each request a log line (logger `assay.request`), and
under `assay run --samples` each gives samples. The header says what was known when the first piece of the body was there; log
line and samples are of the whole call, tasks that it started and background work included. A websocket has only the log line, at
its end.
"""

from __future__ import annotations

from typing import Awaitable, Callable

from .profiler import MethodProfiler
from .request_log import Middleware, server_timing


class ProfileMiddleware(Middleware):
    """Profiles every request and websocket of `app`.

    `header` may be a function of the scope: the header tells how long things take inside, which not everybody need know.
    `log` is `logfmt`, `json`, None, or a function that gets a dict of facts.
    """

    async def __call__(self, scope: dict, receive: Callable[[], Awaitable], send: Callable[[dict], Awaitable]) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        http = scope["type"] == "http"
        wants_header = http and self._wants_header(scope)
        profile = MethodProfiler.start()
        status: int | None = None
        head: dict | None = None

        async def send_head() -> None:
            nonlocal head
            if head is not None:
                message, head = head, None
                if wants_header:
                    timing = (b"server-timing", server_timing(profile).encode("latin-1"))
                    message = {**message, "headers": [*message.get("headers", ()), timing]}
                await send(message)

        async def watched(message: dict) -> None:
            nonlocal head, status
            if message["type"] == "http.response.start":
                # Servers send it with the first piece of the body anyway: until then more is known.
                status, head = message["status"], message
                return
            await send_head()
            await send(message)

        try:
            await self._app(scope, receive, watched)
            await send_head()
        finally:
            if profile.running:
                profile.stop()
                method = scope.get("method") if http else "WEBSOCKET"
                # A head that never went out is the server's to replace, and nobody here knows by what.
                self._report(profile, method=method, path=scope.get("path"), status=None if head else status)
