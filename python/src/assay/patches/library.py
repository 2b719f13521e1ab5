"""What the patches of all libraries have in common: look whether the library is there and as it is known, patch, and undo it.

Calls within calls of the same row count. So the methods of a row must be chosen such that what the library does once passes
through one of them once. Where that can't be, a method of our own, the seam, stands before the library's and counts by a `Counter`.
"""

from __future__ import annotations

import re
import sys
import threading
from typing import Any, Awaitable, Callable, Dict, Iterable, Iterator, List, NamedTuple, Tuple

from ..profiler import MethodProfiler

#: Where calls are counted: a class or module, the methods, the row, and whether all of them must be there; of the others those that this
#: version has are taken.
Target = Tuple[Any, List[str], str, bool]
#: By a class or module, the methods that stand before its own: each is made of the one that was there.
Seams = List[Tuple[Any, Dict[str, Callable[[Any], Any]]]]


class Outcome(NamedTuple):
    """What came of it for one library."""

    #: Its name here, such as `psycopg`.
    library: str
    #: `applied`; `absent` if it is not loaded; `unsupported` if it is not as this package knows it, and then it was left alone.
    status: str
    #: Of the library; None if it is absent.
    version: str | None
    #: The names under which its calls are found.
    rows: list[str]
    #: Why nothing was done, and what to do; None if it was applied.
    reason: str | None

    @property
    def applied(self) -> bool:
        """Whether its calls are counted now."""
        return self.status == "applied"

    def __str__(self) -> str:
        named = " ".join(part for part in (self.library, self.version) if part)
        return (
            f"{named}: applied, rows {', '.join(self.rows)}"
            if self.applied
            else f"{named}: {self.status}: {self.reason}"
        )


class Counter:
    """Counts what has no method of its own that could be patched: its methods are patched instead, and seams call them.

    Each library has one, so that each can be taken out without the others.
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
        """As `run`, for what is awaited."""
        awaited: Awaitable[Any] = self.stand_in.wait(function, *args, **kwargs)
        return awaited

    def further(self, calls: int) -> None:
        """Counts so many calls more. Their time is nothing: it is in that of the one that they came with."""
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
    """Hands items on and counts them."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = items
        #: So many so far.
        self.count: int = 0

    def __iter__(self) -> Iterator[Any]:
        for item in self._items:
            self.count += 1
            yield item


class Library:
    """One library. Subclasses say what it is."""

    #: Its name here.
    key: str
    #: The module by which it is known to be loaded.
    module: str
    #: From which version on it is known.
    least: str
    #: Before which version it is known.
    below: str

    def __init__(self) -> None:
        #: The rows under which it counts now; none before `apply`.
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
        """Where its calls are counted."""
        raise NotImplementedError

    def seams(self, module: Any) -> Seams:
        """What stands before its own methods."""
        return []

    def counted(self, row: str) -> list[Target]:
        """The targets of a library that is counted by its seams."""
        return [(self.counter.stand_in, ["run", "wait", "further"], row, True)]

    def subclassed(self, base: type[Any], make: Callable[[type[Any]], dict[str, Any]]) -> type[Any]:
        """A class that looks like this one, with methods before its own: for classes that let nobody set attributes. Always the same
        one."""
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
                return self._outcome("absent", None, "it is not loaded: import it first, then apply")
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
        """Whether there was something to undo."""
        with self._lock:
            if not self._patched:
                return False
            self._take_out()
            return True

    def _outcome(self, status: str, version: str | None, reason: str | None) -> Outcome:
        return Outcome(self.key, status, version, list(self.rows), reason)

    def _unknown(self, module: Any, version: str) -> str | None:
        """Why it can't be patched; None if it can."""
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
        # A seam of before, which other code had displaced when it was taken out, and has put back since, must not count as well.
        while any(before is former for former in self._seams):
            before = before.__wrapped__
        seam = make(before)
        self._seams = [*self._seams[-200:], seam]
        setattr(owner, name, seam)

        def undo() -> None:
            # Where somebody else stands before it by now, theirs stays, and ours beneath it counts nothing any more.
            if vars(owner).get(name) is seam:
                setattr(owner, name, before) if own else delattr(owner, name)

        self._undo.append(undo)


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
