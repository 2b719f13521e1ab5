"""Common code of the patches of all libraries: checks whether the library is loaded and supported,
patches it, and undoes that.

Calls within calls of the same row count. So the methods of a row must be chosen such that each
operation of the library passes through exactly one of them. If that is impossible, a method of this
package, the seam, wraps the library's and counts by a `Counter`.
"""

from __future__ import annotations

import re
import sys
import threading
from typing import Any, Awaitable, Callable, Dict, Iterable, Iterator, List, NamedTuple, Tuple

from ..profiler import MethodProfiler

#: The counted methods: a class or module, the methods, the row, and whether all of them are
#: required; otherwise those present in this version are patched.
Target = Tuple[Any, List[str], str, bool]
#: By class or module, the methods that replace its own: each is created from the original.
Seams = List[Tuple[Any, Dict[str, Callable[[Any], Any]]]]


class Outcome(NamedTuple):
    """The outcome for one library."""

    #: Its name here, such as `psycopg`.
    library: str
    #: `applied`; `absent` if it is not loaded; `unsupported` if this version is not known to this
    #: package, in which case it is left unpatched.
    status: str
    #: Version of the library; None if it is absent.
    version: str | None
    #: The names under which its calls are counted.
    rows: list[str]
    #: The reason why nothing was done, and a remedy; None if it was applied.
    reason: str | None

    @property
    def applied(self) -> bool:
        """Whether its calls are now counted."""
        return self.status == "applied"

    def __str__(self) -> str:
        named = " ".join(part for part in (self.library, self.version) if part)
        return (
            f"{named}: applied, rows {', '.join(self.rows)}"
            if self.applied
            else f"{named}: {self.status}: {self.reason}"
        )


class Counter:
    """Counts operations without a method of their own that could be patched: the methods of this
    class are patched instead, and called by seams.

    Each library has its own, so that each can be removed separately.
    """

    def __init__(self) -> None:
        self.stand_in: Any = type(
            "Statements",
            (),
            {"run": staticmethod(_run), "wait": staticmethod(_wait), "further": staticmethod(_further)},
        )

    def run(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls the function; the call is counted and timed."""
        return self.stand_in.run(function, *args, **kwargs)

    def wait(self, function: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Awaitable[Any]:
        """Like `run`, for awaitables."""
        awaited: Awaitable[Any] = self.stand_in.wait(function, *args, **kwargs)
        return awaited

    def further(self, calls: int) -> None:
        """Counts this many additional calls. They take no time: it is included in that of the call
        that they came with."""
        if calls > 0 and MethodProfiler.current() is not None:
            for _ in range(calls):
                self.stand_in.further()


def _run(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


async def _wait(function: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
    return await function(*args, **kwargs)


def _further() -> None:
    pass


class Counting:
    """Passes items on and counts them."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = items
        #: Number of items up to now.
        self.count: int = 0

    def __iter__(self) -> Iterator[Any]:
        for item in self._items:
            self.count += 1
            yield item


class Library:
    """One library, defined by subclasses."""

    #: Its name here.
    key: str
    #: The module whose presence shows that it is loaded.
    module: str
    #: First supported version.
    least: str
    #: First version that is no longer supported.
    below: str

    def __init__(self) -> None:
        #: The rows in which it counts now; empty before `apply`.
        self.rows: list[str] = []
        self.counter: Counter = Counter()
        self._patched: list[tuple[Any, list[str]]] = []
        self._undo: list[Callable[[], None]] = []
        self._seams: list[Any] = []
        self._subclasses: dict[type[Any], type[Any]] = {}
        self._lock = threading.Lock()

    def version(self, module: Any) -> str:
        """The version of the loaded library."""
        return str(module.__version__).split(" ", 1)[0]

    def targets(self, module: Any) -> list[Target]:
        """The counted methods."""
        raise NotImplementedError

    def seams(self, module: Any) -> Seams:
        """The replacements of its own methods."""
        return []

    def counted(self, row: str) -> list[Target]:
        """The targets of a library that is counted by its seams."""
        return [(self.counter.stand_in, ["run", "wait", "further"], row, True)]

    def subclassed(self, base: type[Any], make: Callable[[type[Any]], dict[str, Any]]) -> type[Any]:
        """Returns a look-alike subclass with replaced methods, for classes whose attributes cannot
        be set. Always the same one."""
        if base in self._subclasses.values():
            return base
        found = self._subclasses.get(base)
        if found is None:
            about = {
                "__slots__": (),
                "__module__": base.__module__,
                "__qualname__": base.__qualname__,
                "__doc__": base.__doc__,
            }
            found = self._subclasses[base] = type(base.__name__, (base,), {**about, **make(base)})
        return found

    def apply(self, *, keep: bool) -> Outcome:
        """See `patches.apply`."""
        with self._lock:
            module = sys.modules.get(self.module)
            if module is None:
                return self._outcome("absent", None, "it is not loaded; once it is, the next profile counts it")
            version = self.version(module)
            reason = self._unknown(module, version)
            if reason:
                return self._outcome("unsupported", version, reason)
            if not self._patched:
                self._put_in(module)
            if keep:
                MethodProfiler.keep_installed()
            return self._outcome("applied", version, None)

    def remove(self) -> bool:
        """Returns whether there was something to undo."""
        with self._lock:
            if not self._patched:
                return False
            self._take_out()
            return True

    def _outcome(self, status: str, version: str | None, reason: str | None) -> Outcome:
        return Outcome(self.key, status, version, list(self.rows), reason)

    def _unknown(self, module: Any, version: str) -> str | None:
        """Returns the reason why it cannot be patched; None if it can."""
        if not _number(self.least) <= _number(version) < _number(self.below):
            return (
                f"of {self.key} only versions from {self.least} to below {self.below} are known. Patch the methods that you mean by "
                "MethodProfiler.patch"
            )
        try:
            targets = self.targets(module)
            missing = [
                f"{owner.__name__}.{name}"
                for owner, names, _row, all_of_them in targets
                for name in names
                if all_of_them and not hasattr(owner, name)
            ]
            missing += [
                f"{owner.__name__}.{name}"
                for owner, members in self.seams(module)
                for name in members
                if not hasattr(owner, name)
            ]
        except (AttributeError, LookupError) as problem:
            missing = [str(problem)]
        return f"it lacks what its calls are looked for in: {', '.join(missing)}" if missing else None

    def _put_in(self, module: Any) -> None:
        try:
            for owner, members in self.seams(module):
                for name, make in members.items():
                    self._stand_before(owner, name, make)
            for owner, names, row, _ in self.targets(module):
                there = [name for name in names if hasattr(owner, name)]
                if there:
                    MethodProfiler.patch(owner, there, row)
                    self._patched.append((owner, there))
                    self.rows = list(dict.fromkeys([*self.rows, row]))
        except BaseException:
            self._take_out()
            raise

    def _take_out(self) -> None:
        for owner, names in self._patched:
            MethodProfiler.unpatch(owner, names)
        while self._undo:
            self._undo.pop()()
        self._patched, self.rows = [], []

    def _stand_before(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        own = name in vars(owner)
        before = vars(owner)[name] if own else getattr(owner, name)
        # An earlier seam, which other code had replaced when it was removed and has since restored,
        # must not count as well.
        while any(before is former for former in self._seams):
            before = before.__wrapped__
        seam = make(before)
        self._seams = [*self._seams[-200:], seam]
        setattr(owner, name, seam)

        def undo() -> None:
            # If other code has replaced it by now, the replacement stays, and the seam beneath it
            # no longer counts.
            if vars(owner).get(name) is seam:
                setattr(owner, name, before) if own else delattr(owner, name)

        self._undo.append(undo)


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
