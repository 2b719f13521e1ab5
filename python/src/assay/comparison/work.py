"""Determines the kind of work of a function: done in the call, or later, when its return value is
awaited or consumed. Measuring only the creation of a coroutine or a generator would be meaningless,
so that work is done as well."""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import functools
import inspect
import itertools
import sys
import threading
from typing import Any, Callable

from . import driving

#: Done in the call; as a coroutine; as a generator, consumed to its end; as an asynchronous
#: generator, likewise.
PLAIN, COROUTINE, GENERATOR, ASYNC_GENERATOR = "plain", "coroutine", "generator", "async generator"
#: Kinds that are run by an event loop.
AWAITED = (COROUTINE, ASYNC_GENERATOR)
#: Iterators that do their work when they are consumed; endless ones are excluded.
_LAZY = (
    type(_ for _ in ()),
    map,
    filter,
    zip,
    enumerate,
    itertools.accumulate,
    itertools.chain,
    itertools.combinations,
    itertools.compress,
    itertools.dropwhile,
    itertools.filterfalse,
    itertools.groupby,
    itertools.islice,
    itertools.permutations,
    itertools.product,
    itertools.starmap,
    itertools.takewhile,
    itertools.zip_longest,
)

#: Consumes an iterator to its end and discards the items.
drain: Callable[[Any], object] = functools.partial(collections.deque, maxlen=0)


def kind_of(function: Any) -> str:
    """Returns the kind of work, as far as the function itself shows; PLAIN may turn out to be
    another kind, given the return value."""
    while isinstance(function, functools.partial):
        function = function.func
    for found in (function, getattr(function, "__call__", None)):
        if inspect.iscoroutinefunction(found) or (sys.version_info < (3, 12) and asyncio.iscoroutinefunction(found)):
            return COROUTINE
        if inspect.isasyncgenfunction(found):
            return ASYNC_GENERATOR
        if inspect.isgeneratorfunction(found):
            return GENERATOR
    return PLAIN


def kind_of_result(name: str, result: Any) -> str:
    """Returns the kind of work of a plain function that returned this. Raises TypeError for other
    awaitables, and for work of another thread: it is impossible to tell whether the function's work
    is done in it, or is shared with others."""
    if isinstance(result, _LAZY):
        return GENERATOR
    if inspect.isasyncgen(result):
        return ASYNC_GENERATOR
    returns = f"`{name}` returns a `{type(result).__name__}`"
    if inspect.isawaitable(result):
        close = getattr(result, "close", None) or getattr(result, "cancel", None)
        if close is not None:
            close()
        raise TypeError(
            f"{returns}, which is to be awaited: only its making would be measured. Give the coroutine "
            "function itself (`async def`), which is then run to its end"
        )
    if hasattr(type(result), "__anext__"):
        raise TypeError(
            f"{returns}, an asynchronous iterator: only its making would be measured. Give an `async def` that consumes it"
        )
    if isinstance(result, concurrent.futures.Future) or (isinstance(result, threading.Thread) and result.is_alive()):
        wait = "join" if isinstance(result, threading.Thread) else "result"
        raise TypeError(f"{returns}, whose work is done elsewhere: only its start would be measured. Wait for it with `.{wait}()`")
    return PLAIN


def whole(function: Callable[[], Any], name: str) -> Callable[[], Any]:
    """Calls the function once, and returns a function that does the whole work at every call: the
    function itself, unless its result must be awaited or consumed."""
    kind = kind_of(function)
    if kind == PLAIN:
        result = function()
        kind = kind_of_result(name, result)
        if kind == PLAIN:
            return function
    if kind == GENERATOR:
        return lambda: drain(function())
    return lambda: driving.run(lambda: once(function, kind))


async def once(function: Callable[[], Any], kind: str) -> None:
    """Does the work of a function of one of the awaited kinds."""
    if kind == COROUTINE:
        await function()
    else:
        await consume(function())


async def consume(items: Any) -> None:
    """Consumes an asynchronous iterator to its end."""
    async for _ in items:
        pass
