"""One of the compared pieces of code, as something that can be run any number of times in a row.
Decides nothing."""

from __future__ import annotations

import inspect
import itertools
import textwrap
import types
from typing import Any, Callable

from .._clock import cpu, now
from . import driving, work

_BODY = """\
def run(times):
    for _ in repeat(None, times):
{body}
"""
#: Awaited work reads the clocks itself, within the loop that runs it.
_AWAITED = """\
async def run(times):
    before, began = cpu(), now()
    for _ in repeat(None, times):
{body}
    ended = now()
    return ended - began, cpu() - before
"""


class Side:
    """A named piece of Python code. Three forms:

        function: called once per iteration, so the time includes the loop and the call
        times:    a function of one argument, the number of iterations, that loops itself
        text:     compiled into a loop without calls

    Coroutine functions are awaited and generators are consumed to their end, at every call. A
    function that returns another kind of awaitable is refused with a TypeError.

    In a scan, `size` is the value of the parameter `n` for this side.
    """

    def __init__(
        self, name: str, code: Any, names: dict[str, Any] | None = None, *, size: float | None = None
    ) -> None:
        self.size = size
        self.name: str = str(name)
        if not self.name:
            raise ValueError("a side needs a name")
        #: Iterations per batch; set by the calibration.
        self.iterations: int = 1
        self.form: str = "text" if isinstance(code, str) else _form_of(self.name, code)
        self._code = code
        self._names = names
        self._kind: str = work.PLAIN if self.form == "text" else work.kind_of(code)
        self._run: Callable[[int], Any] = _compiled(self.name, self.form, self._kind, code, names)
        #: Whether a plain function has been called yet: it may return a generator, which must be
        #: consumed.
        self._tried = self.form == "text" or self._kind != work.PLAIN

    @property
    def awaits(self) -> bool:
        """Whether it is run by an event loop."""
        return self._kind in work.AWAITED

    def run(self, times: int) -> None:
        """Runs it this many times."""
        self.read(times)

    def read(self, times: int) -> tuple[int, int]:
        """Runs it this many times; returns the wall time and the process's CPU time in
        nanoseconds."""
        if not self._tried:
            self._try()
        if self.awaits:
            took: tuple[int, int] = driving.run(lambda: self._run(times))
            return took
        run = self._run
        before = cpu()
        began = now()
        run(times)
        ended = now()
        return ended - began, cpu() - before

    def _try(self) -> None:
        self._tried = True
        result = self._code(1) if self.form == "times" else self._code()
        kind = work.kind_of_result(self.name, result)
        if kind != work.PLAIN:
            self._kind = kind
            self._run = _compiled(self.name, self.form, kind, self._code, self._names)


def _form_of(name: str, code: Any) -> str:
    if not callable(code):
        raise ValueError(f"what is compared is a function or a text, and side `{name}` is {code!r}")
    try:
        parameters = inspect.signature(code).parameters.values()
    except (TypeError, ValueError):  # Not all functions written in C have a signature.
        return "function"
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [
        one for one in parameters if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    if not needed:
        return "function"
    if len(needed) == 1 and needed[0].kind in positional:
        return "times"
    raise ValueError(f"side `{name}` takes nothing, or the number of times, not {len(needed)} arguments")


def _compiled(name: str, form: str, kind: str, code: Any, names: dict[str, Any] | None) -> Callable[[int], Any]:
    """Compiles separate code for this side alone: Python specializes a call for the function that
    it finds there, at the expense of the other sides."""
    if form == "times" and kind == work.PLAIN:
        run: Callable[[int], object] = code
        return run
    whole = _BODY
    if form != "text":
        scope: dict[str, Any] = {"work": code, "drain": work.drain, "cpu": cpu, "now": now}
        call = "work(times)" if form == "times" else "work()"
        body = {
            work.PLAIN: call,
            work.GENERATOR: f"drain({call})",
            work.COROUTINE: f"await {call}",
            work.ASYNC_GENERATOR: f"async for _ in {call}: pass",
        }[kind]
        whole = _AWAITED if kind in work.AWAITED else _BODY
    else:
        scope = dict(names or {})
        body = textwrap.dedent(code).strip("\n")
        try:
            compile(body, f"<assay: {name}>", "exec")  # Alone, so that it cannot extend into the loop.
        except SyntaxError as problem:
            raise ValueError(f"the text of side `{name}` is not Python: {problem}") from None
    if form == "times":
        whole = whole.replace("for _ in repeat(None, times):", "if True:")
    scope["repeat"] = itertools.repeat
    made: dict[str, Any] = {}
    exec(compile(whole.format(body=textwrap.indent(body or "pass", " " * 8)), f"<assay: {name}>", "exec"), scope, made)
    function: types.FunctionType = made["run"]
    return function
