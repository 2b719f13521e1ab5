"""Runs the awaitables of a side to completion: on an event loop of this package, or on the one
already running in this thread.

A test under pytest-asyncio or anyio is itself run by a loop, and the compared code may belong to
that loop (connections, locks). So the loop is driven from within the test's own step until the
measured work is done. Other tasks of the loop run in the meantime, as they do whenever a test
awaits something. If that is impossible (trio, loops not written in Python), the work runs in a
thread with a loop of its own.
"""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
from typing import Any, Callable, Coroutine, TypeVar

from .._clock import seconds

T = TypeVar("T")
#: Creates the work again, since a coroutine can run only once.
Work = Callable[[], Coroutine[Any, Any, T]]

_own = threading.local()


def run(work: Work[T]) -> T:
    """Runs the coroutine to completion and returns its result."""
    library = sys.modules.get("sniffio")
    if library is not None and _runs_trio(library):
        return _in_thread(lambda: _trio(work))
    running = asyncio._get_running_loop()
    if running is None:
        return _loop().run_until_complete(work())
    if isinstance(running, asyncio.BaseEventLoop) and hasattr(running, "_run_once") and hasattr(running, "_ready"):
        return _nested(running, work)
    return _in_thread(lambda: asyncio.run(work()))


def close() -> None:
    """Closes the loop of this thread, if there is one. A later `run` creates another."""
    loop = getattr(_own, "loop", None)
    if loop is None:
        return
    _own.loop = None
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


def _loop() -> asyncio.AbstractEventLoop:
    loop: asyncio.AbstractEventLoop | None = getattr(_own, "loop", None)
    if loop is None:
        loop = _own.loop = asyncio.new_event_loop()
        loop.time = seconds  # type: ignore[method-assign]  # A clock that a test has stopped would wait for ever.
    return loop


def _nested(loop: Any, work: Work[T]) -> T:
    """Drives a loop from within a step of one of its tasks."""
    tasks: Any = asyncio.tasks
    current = asyncio.current_task(loop)
    waiting = len(loop._ready)
    if current is not None:
        tasks._leave_task(loop, current)
    try:
        task = loop.create_task(work())
        while not task.done():
            loop._run_once()
            if loop._stopping and not task.done():
                task.cancel()
                loop._run_once()
                break
        result: T = task.result()
        return result
    finally:
        if current is not None:
            tasks._enter_task(loop, current)
        # The loop's own step counted the ready handles before it ran this task, and will pop that
        # number of them, although some may have been run here.
        for _ in range(waiting - len(loop._ready)):
            loop.call_soon(_nothing)


def _nothing() -> None:
    pass


def _runs_trio(library: Any) -> bool:
    try:
        return bool(library.current_async_library() == "trio")
    except library.AsyncLibraryNotFoundError:
        return False


def _trio(work: Work[T]) -> T:
    trio: Any = sys.modules["trio"]
    result: T = trio.run(work)
    return result


def _in_thread(function: Callable[[], T]) -> T:
    """Calls the function in a separate thread, in a copy of this context, and returns its result or
    raises its exception."""
    results: list[T] = []
    problems: list[BaseException] = []
    context = contextvars.copy_context()

    def call() -> None:
        try:
            results.append(context.run(function))
        except BaseException as problem:  # It is raised again in the waiting thread.
            problems.append(problem)

    thread = threading.Thread(target=call, name="assay")
    thread.start()
    thread.join()
    if problems:
        raise problems[0]
    return results[0]
