"""Names used only by type checkers. Some of them do not exist at run time with Python 3.9, so this
module is imported only for type checking."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import types
    from typing import Any, Callable, TypeVar, Union

    from typing_extensions import ParamSpec

    P = ParamSpec("P")
    R = TypeVar("R")

    #: An object whose members are patched, faked or counted.
    Target = Union[type[Any], types.ModuleType]
    #: Any function.
    Function = Callable[..., Any]
