"""Middleware for ASGI (Starlette, FastAPI, Django, Quart, …) that profiles each request.

    from assay.asgi import ProfileMiddleware
    app = ProfileMiddleware(app)

Each response gets a header `Server-Timing` with the totals of all patched names, each request a log
line (logger `assay.request`), and samples under `assay run --samples`. The header has the totals up
to the first piece of the body; log line and samples cover the whole request, including tasks that
it started. A request ends when its response has been sent: background tasks that run later are not
included. A websocket has only the log line, at its end.
"""

from __future__ import annotations

from typing import Any, Awaitable, Callable, MutableMapping

from .profiler import MethodProfiler
from .request_log import Middleware, server_timing

#: Types from the ASGI specification.
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class ProfileMiddleware(Middleware[Application, Scope]):
    """Profiles every request and websocket of `app`.

    `header` may be a function of the scope, since the header reveals internal timings, which not
    every client should see. `log` is `logfmt`, `json`, None, or a function that is called with a
    dict of facts.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        http = scope["type"] == "http"
        wants_header = http and self._wants_header(scope)
        profile = MethodProfiler.start()
        status: int | None = None
        head: Message | None = None
        trailers = reported = False

        async def send_head() -> None:
            nonlocal head
            if head is not None:
                message, head = head, None
                if wants_header:
                    timing = (b"server-timing", server_timing(profile).encode("latin-1"))
                    message = {**message, "headers": [*message.get("headers", ()), timing]}
                await send(message)

        async def watched(message: Message) -> None:
            nonlocal head, status, trailers
            if message["type"] == "http.response.start":
                # Servers send it together with the first piece of the body anyway, and more is
                # known by then.
                status, head, trailers = message["status"], message, message.get("trailers", False)
                return
            await send_head()
            await send(message)
            if _last(message, trailers):
                stop()
                if status is None or status < 500:
                    report()  # Otherwise an exception may follow: frameworks send 500, and then raise it again.

        def stop() -> None:
            if profile.running:
                profile.stop()

        def report(problem: BaseException | None = None) -> None:
            nonlocal reported
            stop()
            if not reported:
                reported = True
                answered = status
                if head is not None or status is None:
                    # Nothing has been sent. Servers respond with 500 after an exception, and do not
                    # respond if the task was cancelled.
                    answered = 500 if http and isinstance(problem, Exception) else None
                self._report(
                    profile,
                    method=scope.get("method") if http else "WEBSOCKET",
                    path=scope.get("path"),
                    status=answered,
                    error=type(problem).__name__ if problem else None,
                )

        try:
            await self._app(scope, receive, watched)
            await send_head()
        except BaseException as problem:
            report(problem)
            raise
        report()


def _last(message: Message, trailers: bool) -> bool:
    """Returns whether this message completes the response."""
    kind = message["type"]
    if kind == "http.response.body":
        return not (message.get("more_body", False) or trailers)
    if kind == "http.response.trailers":
        return not message.get("more_trailers", False)
    return bool(kind == "http.response.pathsend")
