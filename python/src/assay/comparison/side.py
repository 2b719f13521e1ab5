"""One thing that is compared, as something that can be run so many times in a row. It decides nothing and reads no clock."""

from __future__ import annotations

import inspect
import itertools
import textwrap
import types
from typing import Any, Callable

_BODY = """\
def run(times):
    for _ in repeat(None, times):
{body}
"""


class Side:
    """A piece of Python with its name. Three forms:

    function: it is called once for each iteration, so that the loop and the call are in the time
    times:    a function of one argument, the number of times; it loops itself
    text:     compiled into a loop, nothing is called

    In a scan `size` is what the parameter `n` is at this side.
    """

    def __init__(
        self, name: str, code: Any, names: dict[str, Any] | None = None, *, size: float | None = None
    ) -> None:
        self.size = size
        self.name: str = str(name)
        if not self.name:
            raise ValueError("a side needs a name")
        #: Iterations of one batch; the calibration sets it.
        self.iterations: int = 1
        self.form: str = "text" if isinstance(code, str) else _form_of(self.name, code)
        #: Runs it so many times.
        self.run: Callable[[int], object] = _compiled(self.name, self.form, code, names)


def _form_of(name: str, code: Any) -> str:
    if not callable(code):
        raise ValueError(f"what is compared is a function or a text, and side `{name}` is {code!r}")
    try:
        parameters = inspect.signature(code).parameters.values()
    except (TypeError, ValueError):  # Of functions written in C not all tell.
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


def _compiled(name: str, form: str, code: Any, names: dict[str, Any] | None) -> Callable[[int], object]:
    """Code of its own for this side alone: Python makes a call fast for the function that it finds there, and the other would pay."""
    if form == "times":
        run: Callable[[int], object] = code
        return run
    if form == "function":
        scope: dict[str, Any] = {"work": code}
        body = "work()"
    else:
        scope = dict(names or {})
        body = textwrap.dedent(code).strip("\n")
        try:
            compile(body, f"<assay: {name}>", "exec")  # By itself, so that it can't go on into the loop.
        except SyntaxError as problem:
            raise ValueError(f"the text of side `{name}` is not Python: {problem}") from None
    scope["repeat"] = itertools.repeat
    made: dict[str, Any] = {}
    exec(compile(_BODY.format(body=textwrap.indent(body or "pass", " " * 8)), f"<assay: {name}>", "exec"), scope, made)
    function: types.FunctionType = made["run"]
    return function
