"""WSGI and ASGI: the header and the log line are added, and nothing else changes."""

import asyncio
import json
import logging
import threading
import urllib.request
from wsgiref.handlers import SimpleHandler
from wsgiref.simple_server import WSGIRequestHandler, make_server
from wsgiref.util import FileWrapper, setup_testing_defaults
from wsgiref.validate import validator

import pytest

from assay import MethodProfiler
from assay.asgi import ProfileMiddleware as Asgi
from assay.request_log import logfmt
from assay.wsgi import ProfileMiddleware as Wsgi


class Database:
    def query(self):
        return [1]

    async def fetch(self):
        await asyncio.sleep(0)
        return [1]


@pytest.fixture(autouse=True)
def patched():
    MethodProfiler.patch(Database, ["query", "fetch"], "sql")


def wsgi(app, **environ):
    """Returns a client's view of the response: status, headers, body, checked by the validator of
    the standard library."""
    setup_testing_defaults(environ)
    said = {}

    def start_response(status, headers, exc_info=None):
        if exc_info and said.get("sent"):
            raise exc_info[1]
        said.update(status=status, headers=headers)
        return lambda piece: said.setdefault("written", []).append(piece)

    body = app(environ, start_response)
    try:
        pieces = []
        for piece in body:
            assert "status" in said, "a piece of the body came before the head"
            pieces.append(piece)
    finally:
        if hasattr(body, "close"):
            body.close()
    return said.get("status"), dict(said.get("headers", [])), b"".join(said.get("written", []) + pieces)


def app_that(work, body=(b"hello",)):
    def app(environ, start_response):
        work()
        start_response("200 OK", [("Content-Type", "text/plain")])
        return list(body)

    return app


def test_a_response_has_the_totals_in_a_header():
    facts = []
    app = Wsgi(app_that(lambda: (Database().query(), Database().query())), log=facts.append)
    status, headers, body = wsgi(app, PATH_INFO="/orders", REQUEST_METHOD="GET")
    assert (status, body) == ("200 OK", b"hello")
    sql, total = headers["Server-Timing"].split(", ")
    assert total.startswith("total;dur=") and sql.startswith("sql;dur=") and sql.endswith('desc="2 calls"')
    (fact,) = facts
    assert (fact["method"], fact["path"], fact["status"], fact["methods"]["sql"]["calls"]) == ("GET", "/orders", 200, 2)
    assert 0 <= fact["methods"]["sql"]["ms"] <= fact["total_ms"] and fact["own_ms"] >= 0 and "error" not in fact


def test_a_generated_body_is_profiled_until_it_is_closed():
    facts = []

    def app(environ, start_response):
        start_response("200 OK", [("Content-Type", "text/plain")])

        def body():
            Database().query()
            yield b"one"
            Database().query()
            yield b"two"

        return body()

    application = Wsgi(app, log=facts.append)
    environ = {}
    setup_testing_defaults(environ)
    said = {}
    body = application(environ, lambda status, headers, *rest: said.update(headers))
    # Between two pieces the server's thread may do other work, which does not belong to this
    # request.
    assert MethodProfiler.current() is None
    assert next(body) == b"one"
    assert 'desc="1 call"' in said["Server-Timing"]
    Database().query()
    assert list(body) == [b"two"]
    body.close()
    assert facts[0]["methods"]["sql"]["calls"] == 2


def test_the_middleware_keeps_to_the_standard():
    app = validator(Wsgi(validator(app_that(lambda: None)), log=None))
    status, headers, body = wsgi(app, QUERY_STRING="")
    assert status == "200 OK" and "Server-Timing" in headers and body == b"hello"


def test_an_application_may_write_and_may_be_empty():
    def writes(environ, start_response):
        write = start_response("200 OK", [("Content-Type", "text/plain")])
        write(b"written ")
        return iter([b"returned"])

    def empty(environ, start_response):
        start_response("204 No Content", [])
        return iter([])

    assert wsgi(Wsgi(writes, log=None))[2] == b"written returned"
    status, headers, body = wsgi(Wsgi(empty, log=None))
    assert status == "204 No Content" and "Server-Timing" in headers and body == b""


def test_a_late_error_replaces_the_head_that_was_not_sent_yet():
    def app(environ, start_response):
        import sys

        start_response("200 OK", [])
        with pytest.raises(AssertionError):
            start_response("200 OK", [])
        try:
            raise ValueError("late")
        except ValueError:
            start_response("500 Oops", [], sys.exc_info())
        return [b"error"]

    status, _headers, body = wsgi(Wsgi(app, log=None))
    assert (status, body) == ("500 Oops", b"error")


def test_an_exception_passes_through_and_is_logged():
    facts = []

    def app(environ, start_response):
        Database().query()
        raise LookupError("broken")

    with pytest.raises(LookupError):
        wsgi(Wsgi(app, log=facts.append))
    assert facts[0]["methods"]["sql"]["calls"] == 1
    # Nothing has been sent, so the server answers 500.
    assert (facts[0]["status"], facts[0]["error"]) == (500, "LookupError")
    assert MethodProfiler.current() is None


def test_an_exception_behind_the_head_has_the_status_that_went_out():
    facts = []

    def app(environ, start_response):
        start_response("200 OK", [("Content-Type", "text/plain")])

        def body():
            yield b"one"
            raise LookupError("broken")

        return body()

    with pytest.raises(LookupError):
        wsgi(Wsgi(app, log=facts.append))
    assert (facts[0]["status"], facts[0]["error"]) == (200, "LookupError")


def test_a_file_is_left_to_the_server(tmp_path):
    place = tmp_path / "file"
    place.write_bytes(b"content")
    environ = {"wsgi.file_wrapper": FileWrapper}
    setup_testing_defaults(environ)

    def app(environ, start_response):
        start_response("200 OK", [])
        return environ["wsgi.file_wrapper"](place.open("rb"))

    body = Wsgi(app, log=None)(environ, lambda *head: None)
    assert isinstance(body, FileWrapper) and b"".join(body) == b"content"
    body.close()


def test_the_header_can_be_kept_from_those_whom_it_does_not_concern():
    app = app_that(lambda: None)
    inside = Wsgi(app, log=None, header=lambda environ: environ["REMOTE_ADDR"] == "127.0.0.1")
    assert "Server-Timing" in wsgi(inside, REMOTE_ADDR="127.0.0.1")[1]
    assert "Server-Timing" not in wsgi(inside, REMOTE_ADDR="10.0.0.1")[1]
    assert "Server-Timing" not in wsgi(Wsgi(app, log=None, header=False))[1]


def test_a_real_server_serves_it_to_many_at_once(caplog):
    class Quiet(WSGIRequestHandler):
        def log_message(self, *args):
            """Suppresses the log."""

    def app(environ, start_response):
        for _ in range(int(environ["PATH_INFO"][1:])):
            Database().query()
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [b"x"]

    from socketserver import ThreadingMixIn
    from wsgiref.simple_server import WSGIServer

    class Threaded(ThreadingMixIn, WSGIServer):
        daemon_threads = True

    with make_server("127.0.0.1", 0, Wsgi(app, log=None), Threaded, Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        seen = {}

        def get(n):
            with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/{n}", timeout=30) as answer:
                seen[n] = (answer.headers["Server-Timing"], answer.headers["Content-Length"])

        clients = [threading.Thread(target=get, args=(n,)) for n in range(2, 12)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        server.shutdown()
        thread.join()
    assert all(f'desc="{n} calls"' in header for n, (header, _length) in seen.items()) and len(seen) == 10
    # A list of one piece still tells the server the length of the body.
    assert {length for _header, length in seen.values()} == {"1"}


def test_log_lines_are_logfmt_or_json(caplog):
    for log, path in (("logfmt", '/a "b"\n status=500'), ("json", "/x")):
        with caplog.at_level(logging.INFO, "assay.request"):
            wsgi(Wsgi(app_that(lambda: Database().query()), log=log), PATH_INFO=path)
    first, second = [record.getMessage() for record in caplog.records]
    assert first.startswith('method=GET path="/a \\"b\\"\\n status=500" status=200 total_ms=')
    assert "sql_calls=1" in first and "\n" not in first
    assert json.loads(second)["methods"]["sql"]["calls"] == 1
    with pytest.raises(ValueError, match="logfmt"):
        Wsgi(app_that(lambda: None), log="xml")


def test_logfmt_quotes_what_would_be_read_otherwise():
    assert logfmt({"a": 1, "b c": "x=y", "d": "", "e": "plain"}) == 'a=1 b_c="x=y" d="" e=plain'


# ASGI, driven by hand. -----------------------------------------------------------------------------------------------------


def asgi(app, scope=None):
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    asyncio.run(app({"type": "http", "method": "GET", "path": "/x", "headers": [], **(scope or {})}, receive, send))
    return sent


async def hello(scope, receive, send):
    await Database().fetch()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"a", b"b")]})
    await Database().fetch()
    await send({"type": "http.response.body", "body": b"one", "more_body": True})
    await asyncio.gather(Database().fetch(), Database().fetch())
    await send({"type": "http.response.body", "body": b"two"})


def test_an_asgi_response_has_the_totals_in_a_header_and_all_of_them_in_the_log():
    facts = []
    start, one, two = asgi(Asgi(hello, log=facts.append))
    name, value = start["headers"][-1]
    assert start["headers"][0] == (b"a", b"b") and name == b"server-timing"
    assert b'desc="2 calls"' in value
    assert (one["body"], two["body"]) == (b"one", b"two")
    assert (facts[0]["status"], facts[0]["path"], facts[0]["methods"]["sql"]["calls"]) == (200, "/x", 4)


def test_asgi_requests_side_by_side_have_their_own_totals():
    async def app(scope, receive, send):
        for _ in range(scope["n"]):
            await Database().fetch()
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body"})

    facts = []
    application = Asgi(app, log=facts.append)

    async def use():
        async def nothing(*args):
            return None

        await asyncio.gather(
            *(application({"type": "http", "path": str(n), "n": n}, nothing, nothing) for n in range(1, 20))
        )

    asyncio.run(use())
    assert sorted((int(f["path"]), f["methods"]["sql"]["calls"]) for f in facts) == [(n, n) for n in range(1, 20)]


@pytest.mark.parametrize(("sent", "status"), [(0, 500), (1, 500), (2, 200)])
def test_an_asgi_error_passes_through_and_has_the_status_that_the_client_gets(sent, status):
    facts = []

    async def app(scope, receive, send):
        await Database().fetch()
        for message in [
            {"type": "http.response.start", "status": 200},  # Held back until there is a piece of the body.
            {"type": "http.response.body", "body": b"one", "more_body": True},
        ][:sent]:
            await send(message)
        raise LookupError("broken")

    with pytest.raises(LookupError):
        asgi(Asgi(app, log=facts.append))
    assert (facts[0]["status"], facts[0]["error"], facts[0]["methods"]["sql"]["calls"]) == (status, "LookupError", 1)
    assert list(facts[0]) == ["method", "path", "status", "total_ms", "own_ms", "error", "methods"]


def test_an_error_that_a_framework_has_answered_and_raises_again_is_named():
    facts = []

    async def app(scope, receive, send):
        try:
            await Database().fetch()
            raise LookupError("broken")
        except LookupError:
            await send({"type": "http.response.start", "status": 500})
            await send({"type": "http.response.body", "body": b"sorry"})
            await Database().fetch()  # The answer was sent.
            raise

    with pytest.raises(LookupError):
        asgi(Asgi(app, log=facts.append))
    (fact,) = facts
    assert (fact["status"], fact["error"], fact["methods"]["sql"]["calls"]) == (500, "LookupError", 1)


def test_a_cancelled_asgi_request_was_answered_by_nobody():
    facts = []

    async def app(scope, receive, send):
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asgi(Asgi(app, log=facts.append))
    assert "status" not in facts[0] and facts[0]["error"] == "CancelledError"


def test_what_runs_when_the_answer_was_sent_is_no_part_of_the_request():
    facts, sent_by_then = [], []

    async def app(scope, receive, send):
        await hello(scope, receive, send)
        sent_by_then.append(len(facts))
        assert MethodProfiler.current() is None
        for _ in range(5):
            await Database().fetch()
        raise LookupError("in a background task")

    with pytest.raises(LookupError):
        asgi(Asgi(app, log=facts.append))
    assert sent_by_then == [1] and len(facts) == 1
    assert (facts[0]["status"], facts[0]["methods"]["sql"]["calls"]) == (200, 4) and "error" not in facts[0]


def test_trailers_and_files_end_an_answer_too():
    facts = []

    async def with_trailers(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "trailers": True})
        await send({"type": "http.response.body", "body": b"one"})
        await Database().fetch()
        await send({"type": "http.response.trailers", "headers": []})
        await Database().fetch()

    async def a_file(scope, receive, send):
        await send({"type": "http.response.start", "status": 200})
        await Database().fetch()
        await send({"type": "http.response.pathsend", "path": "/file"})
        await Database().fetch()

    for app in (with_trailers, a_file):
        asgi(Asgi(app, log=facts.append))
    assert [fact["methods"]["sql"]["calls"] for fact in facts] == [1, 1]


def test_a_head_without_a_body_is_sent_all_the_same():
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 204})

    assert [message["type"] for message in asgi(Asgi(app, log=None))] == ["http.response.start"]


def test_websockets_are_logged_and_other_scopes_left_alone():
    facts = []

    async def app(scope, receive, send):
        assert (MethodProfiler.current() is not None) == (scope["type"] == "websocket")
        await send({"type": f"{scope['type']}.something"})

    application = Asgi(app, log=facts.append)
    assert asgi(application, {"type": "websocket"}) == [{"type": "websocket.something"}]
    assert asgi(application, {"type": "lifespan"}) == [{"type": "lifespan.something"}]
    assert [fact["method"] for fact in facts] == ["WEBSOCKET"]


def test_handlers_of_the_standard_library_run_it():
    import io

    out = io.BytesIO()
    environ = {}
    setup_testing_defaults(environ)
    SimpleHandler(io.BytesIO(), out, io.StringIO(), environ).run(Wsgi(app_that(lambda: Database().query()), log=None))
    assert b"Server-Timing: sql;dur=" in out.getvalue() and out.getvalue().endswith(b"hello")
