"""Middleware for ASGI (Starlette, FastAPI, Django, Quart, …): where did each request spend its time?

    from assay.asgi import ProfileMiddleware
    app = ProfileMiddleware(app)

Each response gets a header `Server-Timing` with the totals of all patched names, each request a log line (logger `assay.request`), and
under `assay run --samples` each gives samples. The header says what was known when the first piece of the body was there; log line and
samples are of the whole request, tasks that it started included. A request ends when its answer was sent: background tasks, which
run after that, are no part of it. A websocket has only the log line, at its end.
"""

from __future__ import annotations

from typing import Any, Awaitable, Callable, MutableMapping

from .profiler import MethodProfiler
from .request_log import Middleware, server_timing

#: As the standard has them.
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class ProfileMiddleware(Middleware[Application, Scope]):
    """Profiles every request and websocket of `app`.

    `header` may be a function of the scope: the header tells how long things take inside, which not everybody need know.
    `log` is `logfmt`, `json`, None, or a function that gets a dict of facts.
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
                # Servers send it with the first piece of the body anyway: until then more is known.
                status, head, trailers = message["status"], message, message.get("trailers", False)
                return
            await send_head()
            await send(message)
            if _last(message, trailers):
                stop()
                if status is None or status < 500:
                    report()  # Else there may be an exception behind it: frameworks answer 500, and then raise it again.

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
                    # Nothing has gone out: for an exception servers answer 500, and for one that ends the task nothing.
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
    """Whether the answer has been sent with this message."""
    kind = message["type"]
    if kind == "http.response.body":
        return not (message.get("more_body", False) or trailers)
    if kind == "http.response.trailers":
        return not message.get("more_trailers", False)
    return bool(kind == "http.response.pathsend")
