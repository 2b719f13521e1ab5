"""Middleware for WSGI (Flask, Django, …) that profiles each request.

    from assay.wsgi import ProfileMiddleware
    application = ProfileMiddleware(application)

Each response gets a header `Server-Timing` with the totals of all patched names, each request a log
line (logger `assay.request`), and samples under `assay run --samples`. The header is sent before
the body, so it has the totals up to the first piece of the body; log line and samples cover the
whole request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator

from .profiler import MethodProfiler, Profile, engine
from .request_log import Middleware, server_timing

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


class ProfileMiddleware(Middleware["WSGIApplication", "WSGIEnvironment"]):
    """Profiles every request of `app`.

    `header` may be a function of the environ, since the header reveals internal timings, which not
    every client should see. `log` is `logfmt`, `json`, None, or a function that is called with a
    dict of facts.
    """

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        wants_header = self._wants_header(environ)
        profile = MethodProfiler.start()
        response = _Response(start_response, profile, wants_header)

        def finish() -> None:
            if profile.running:
                profile.stop()
                self._report(
                    profile,
                    method=environ.get("REQUEST_METHOD"),
                    path=environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", ""),
                    status=response.answered,
                    error=response.error.__name__ if response.error else None,
                )

        try:
            body = self._app(environ, response.start)
            wrapper = environ.get("wsgi.file_wrapper")
            sent_by_server = isinstance(wrapper, type) and isinstance(body, wrapper)
            if response.started and (isinstance(body, (list, tuple)) or sent_by_server):
                # No work is left to be done, and servers optimize these more than an iterator.
                response.send_head()
                finish()
                return body
        except BaseException as problem:
            response.error = type(problem)
            finish()
            raise
        _leave(profile)
        return _Body(body, response, profile, finish)


def _leave(profile: Profile) -> None:
    # The rest is generated piece by piece as the server requests it; in between, its thread may do
    # other work.
    if engine.current.get(None) is profile._recording:
        engine.current.set(profile._recording.parent)


class _Response:
    """Holds back the head of the response until the first piece of the body is available."""

    def __init__(self, start_response: StartResponse, profile: Profile, header: bool) -> None:
        self._start_response = start_response
        self._profile = profile
        self._header = header
        self._head: tuple[str, list[tuple[str, str]], Any] | None = None
        self._write: Callable[[bytes], object] | None = None
        self._status: int | None = None
        #: The class of the exception with which the application ended.
        self.error: type[BaseException] | None = None

    @property
    def started(self) -> bool:
        return self._head is not None or self._write is not None

    @property
    def answered(self) -> int | None:
        """The status that the client gets: if nothing was sent before an exception, the server's
        500."""
        failed = self.error is not None and issubclass(self.error, Exception)
        return 500 if failed and self._write is None else self._status

    def start(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None, /) -> Callable[[bytes], object]:
        if self._write is not None:
            # The head has been sent: only the server knows how to proceed (it raises the given
            # exception).
            return self._start_response(status, headers, exc_info)
        if self._head is not None and exc_info is None:
            raise AssertionError("start_response was called twice without exc_info")
        self._head = (status, list(headers), exc_info)
        code = status.split(" ", 1)[0]
        self._status = int(code) if code.isdigit() else None
        return self.write

    def write(self, piece: bytes) -> None:
        self.send_head()
        if self._write is not None:
            self._write(piece)

    def send_head(self) -> None:
        if self._write is None and self._head is not None:
            status, headers, exc_info = self._head
            if self._header:
                headers.append(("Server-Timing", server_timing(self._profile)))
            if exc_info is None:
                self._write = self._start_response(status, headers)
            else:
                self._write = self._start_response(status, headers, exc_info)


class _Body:
    """The body, each piece of which is profiled while it is being generated."""

    def __init__(
        self, body: Iterable[bytes], response: _Response, profile: Profile, finish: Callable[[], None]
    ) -> None:
        self._body = body
        self._pieces: Iterator[bytes] | None = None
        self._response = response
        self._profile = profile
        self._finish = finish

    def __iter__(self) -> _Body:
        return self

    def __next__(self) -> bytes:
        with self._profile.attach():
            try:
                if self._pieces is None:
                    self._pieces = iter(self._body)
                piece = next(self._pieces)
            except StopIteration:
                self._response.send_head()
                raise
            except BaseException as problem:
                self._response.error = type(problem)
                raise
        self._response.send_head()
        return piece

    def close(self) -> None:
        try:
            with self._profile.attach():
                close = getattr(self._body, "close", None)
                if close is not None:
                    close()
        finally:
            self._finish()
