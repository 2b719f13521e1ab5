"""Names that only type checkers read. Some of them are not there at run time with Python 3.9, so that this is imported for checking
alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import types
    from typing import Any, Callable, TypeVar, Union

    from typing_extensions import ParamSpec

    P = ParamSpec("P")
    R = TypeVar("R")

    #: What is patched, faked or counted in.
    Target = Union[type[Any], types.ModuleType]
    #: Any function.
    Function = Callable[..., Any]
