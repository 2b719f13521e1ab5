"""Counts how often methods are called and how long they take, for a section of a program such as
one request, and cheaply enough for production.

    MethodProfiler.patch(Redis, ["get", "set"], "redis")      # once
    with MethodProfiler.profile() as profile:                 # for every request
        handle(request)
    profile["redis"]                                          # {"duration": 0.0111, "calls": 12}

A profile belongs to the context (`contextvars`) in which it was started: it counts calls of this
thread and of the tasks that it starts during the profile, never those of others. `Profile.attach`
and `Profile.bind` carry it into another thread.

While no profile is running anywhere in the process, the original methods are in place, at no cost.
Functions that were taken out of their class or module before the start (`from module import
function`, `method = object.method`) are not counted.
"""

from __future__ import annotations

import functools
import inspect
import logging
import os
import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Iterable, overload

from . import calibration, engine
from .monitoring import Watch
from .patching import Patch, check_target, describe, mangled
from .profile import NotRecording, Overhead, Profile, Section, Totals

if TYPE_CHECKING:
    from . import pure
    from .._types import P, R, Target

__all__ = ["MethodProfiler", "NotRecording", "Overhead", "Profile", "Profiling", "Section", "Totals"]

_log = logging.getLogger("assay.profile")

#: Number of swaps after which the wrappers stay in. Each swap changes the class, and CPython 3.13
#: stops optimizing a class's attributes after a thousand changes.
SWAPS = 100

#: Maximum number of nested profiles that the program holds no reference to. More of them mean `start` without `stop`.
LOST = 1000

#: Ways to observe calls.
WAYS = {kind.by: kind for kind in (Patch, Watch)}


class MethodProfiler:
    """Counts and times calls of chosen methods. There is one profiler per process; all methods are
    called on the class."""

    _lock = threading.RLock()
    _patches: dict[tuple[int, str], Patch | Watch] = {}
    _monitored: set[str] = set()
    _names: list[str] = ["(calibration)"]
    _running = 0
    _swaps = 0
    _keep = False
    _prepare: Callable[[], None] | None = None

    # Patching.

    @classmethod
    def patch(cls, target: Target, names: str | Iterable[str], name: str, *, by: str = "wrapper") -> None:
        """Profiles these methods of a class, or functions of a module, under one name.

        Supports methods of every kind: plain, class and static methods, properties, coroutines,
        generators, asynchronous generators, inherited ones (for this class and its subclasses only)
        and those written in C. Patching a method again under the same name has no effect. All names
        are checked before anything is changed.

        `by="monitoring"` uses no wrapper: from Python 3.12 on the interpreter itself reports the
        calls (`sys.monitoring`). That costs twice as much per counted call, and covers cases that a
        wrapper cannot: functions that were taken out of their class or module before, and classes
        that cannot be modified. But it covers only functions written in Python, and an inherited
        one only where it is defined.

        Raises AttributeError for a name that does not exist; TypeError for an attribute that is not
        a method, and for built-in classes; ValueError for a method that already has another name;
        RuntimeError if there is no `sys.monitoring`, or other tools have taken all its ids.
        """
        if by not in WAYS:
            raise ValueError(f'`by` is "wrapper" or "monitoring", not {by!r}')
        if isinstance(names, str):
            names = [names]
        names = list(names)
        if not names or not all(isinstance(method, str) for method in names):
            raise TypeError(
                f"the second argument is what is to be profiled, as a list of names such as ['get', 'set'], not {names!r}"
            )
        if not isinstance(name, str) or not name or name == "total_duration":
            raise ValueError(
                f"the third argument is the name of the totals, and a profile has no place for {name!r}: choose another text"
            )
        check_target(target)
        names = list(dict.fromkeys(names))
        with cls._lock:
            index = cls._names.index(name) if name in cls._names[1:] else len(cls._names)
            fresh = []
            for method in names:
                known = cls._patches.get((id(target), mangled(target, method)))
                if known is None:
                    fresh.append(WAYS[by](target, method, name, index))
                elif known.label != name:
                    raise ValueError(
                        f"`{method}` of {describe(target)} is profiled as {known.label!r} already: "
                        f"unpatch it first, or use that name"
                    )
                elif known.by != by:
                    raise ValueError(
                        f"`{method}` of {describe(target)} is profiled by {known.by} already: unpatch it first"
                    )
            for patch in fresh:
                cls._refuse_twice(patch)
            done = []
            try:
                for patch in fresh:
                    # Tried immediately, since only now the caller sees the error.
                    done.append(patch)
                    patch.install()
                    if not cls._installed():
                        patch.uninstall()
            except BaseException:
                for patch in done:
                    patch.remove()
                raise
            if index == len(cls._names):
                cls._names.append(name)
            for patch in fresh:
                cls._patches[id(target), patch.name] = patch
            cls._note_monitored()

    @classmethod
    def unpatch(cls, target: Target, names: str | Iterable[str] | None = None) -> None:
        """Stops profiling these methods, or all of this class or module. Raises KeyError for one
        that is not profiled."""
        with cls._lock:
            if names is None:
                chosen = [key for key in cls._patches if key[0] == id(target)]
            else:
                chosen = []
                for method in [names] if isinstance(names, str) else names:
                    key = (id(target), mangled(target, method))
                    if key not in cls._patches:
                        raise KeyError(f"`{method}` of {describe(target)} is not profiled")
                    chosen.append(key)
            for key in chosen:
                cls._patches.pop(key).remove()
            cls._note_monitored()

    @classmethod
    def keep_installed(cls, keep: bool = True) -> None:
        """Leaves the wrappers in place between profiles. Servers need this: they start a profile
        for every request, and inserting and removing a wrapper costs more than an idle one. The
        middleware and the decorator do so automatically."""
        with cls._lock:
            cls._keep = keep
            cls._settle()

    @classmethod
    def names(cls) -> list[str]:
        """Returns the names under which calls are currently counted, in the order in which they
        were given."""
        with cls._lock:
            used = {patch.label for patch in cls._patches.values()}
            return [name for name in cls._names if name in used]

    @classmethod
    def before_start(cls, prepare: Callable[[], None] | None) -> None:
        """Internal: called before every start of a profile."""
        cls._prepare = prepare

    # A section of the program.

    @classmethod
    def start(cls) -> Profile:
        """Starts a profile for this context.

        Within a running profile of this context it is a nested one: until it is stopped it counts
        in place of the outer one, and then its totals are added to that.
        """
        engine.tune()
        if cls._prepare is not None:
            cls._prepare()
        with cls._lock:
            if not calibration.is_done(cls._monitored):
                calibration.calibrate(0, cls._count_alone, monitored=bool(cls._monitored))
            outer = engine.recording()
            depth = 0
            if outer is not None:
                depth = outer.owner._depth + 1
                if depth >= LOST and sys.getrefcount(outer.owner) <= 2:
                    cls._give_up(outer)
                    outer, depth = None, 0
            recording = engine.Recording(outer)
            recording.owner = profile = Profile(recording, cls._names, cls._cost_of, cls._finish, depth)
            cls._count(profile, 1)
        engine.current.set(recording)
        return profile

    @classmethod
    def stop(cls) -> Profile:
        """Stops the profile of this context and returns it. Raises `NotRecording` if there is
        none."""
        recording = engine.recording()
        if recording is None:
            raise NotRecording(
                "no profile goes on in this thread or task: `start` belongs to the context that calls it; "
                "a profile that was started elsewhere is stopped by its own `stop`"
            )
        profile: Profile = recording.owner
        return profile.stop()

    @classmethod
    def current(cls) -> Profile | None:
        """Returns the running profile of this context, or None."""
        recording = engine.recording()
        return None if recording is None else recording.owner

    @overload
    @classmethod
    def profile(cls, /, *, report: Callable[[Profile], object] | None = None) -> Profiling: ...

    @overload
    @classmethod
    def profile(
        cls, function: Callable[P, R], /, *, report: Callable[[Profile], object] | None = None
    ) -> Callable[P, R]: ...

    @classmethod
    def profile(
        cls, function: Callable[P, R] | None = None, /, *, report: Callable[[Profile], object] | None = None
    ) -> Profiling | Callable[P, R]:
        """A profile for a `with` block (`with MethodProfiler.profile() as profile:`), or for every
        call of a function decorated with it (`@MethodProfiler.profile`).

        `report` is called with the finished profile; a decorated function without one logs it
        (`assay.profile`, level INFO).
        """
        return Profiling(report) if function is None else Profiling(report)(function)

    # How it is kept.

    @classmethod
    def _refuse_twice(cls, patch: Patch | Watch) -> None:
        mine = {id(getattr(function, "__code__", function)) for function in patch.functions}
        for other in cls._patches.values():
            if Watch.by not in (patch.by, other.by) or (other.by == patch.by and other.label == patch.label):
                continue
            if any(id(getattr(function, "__code__", function)) in mine for function in other.functions):
                raise ValueError(
                    f"`{patch.name}` of {describe(patch.target)} is the same function as `{other.name}` of "
                    f"{describe(other.target)}, which is profiled by {other.by} as {other.label!r} already: unpatch it first, "
                    "or patch both in one way under one name"
                )

    @classmethod
    def _note_monitored(cls) -> None:
        cls._monitored = {patch.label for patch in cls._patches.values() if patch.by == Watch.by}

    @classmethod
    def _cost_of(cls, name: str) -> tuple[float, float]:
        return calibration.costs(monitored=name in cls._monitored)

    @classmethod
    def _finish(cls, profile: Profile) -> None:
        recording = profile._recording
        with cls._lock:
            if profile._ended is not None:
                return
            profile._close()
            parent = recording.parent
            if parent is not None and parent.active:
                parent.absorb(recording)
            cls._count(profile, -1)
        if engine.current.get(None) is recording:
            while parent is not None and not parent.active:
                parent = parent.parent
            engine.current.set(parent)

    @classmethod
    def _give_up(cls, recording: pure.Recording | None) -> None:
        _log.warning(
            "%d profiles were started in one thread or task and not stopped: they are given up. Every `MethodProfiler.start` needs a "
            "`stop`, also after an exception; `with MethodProfiler.profile():` has it",
            LOST,
        )
        while recording is not None:
            recording.owner._give_up()
            recording = recording.parent

    @classmethod
    def _count(cls, profile: Profile, by: int) -> None:
        cls._running += by
        engine.set_active(cls._running)
        if notes := cls._settle():
            profile.notes.extend(notes)

    @classmethod
    def _count_alone(cls, by: int) -> None:
        cls._running += by
        engine.set_active(cls._running)

    @classmethod
    def _installed(cls) -> bool:
        return cls._running > 0 or cls._keep

    @classmethod
    def _settle(cls) -> list[str]:
        """Installs or removes everything. Returns messages about modifications by other code,
        instead of raising: a name that has vanished must not prevent a profile of all the others
        from starting."""
        if cls._running <= 0 and not cls._keep:
            return cls._told([(patch, patch.uninstall()) for patch in cls._patches.values() if patch.installed])
        # Runs at every request, and nearly always finds nothing to do.
        other = []
        for patch in cls._patches.values():
            if not patch.installed or patch.members.get(patch.name) is not patch.standing or not patch.own:
                other.append(patch)
        if not other:
            return []
        before = [patch.standing for patch in other if patch.installed]
        notes = cls._told([(patch, patch.settle()) for patch in other])
        if before != [patch.standing for patch in other if patch.installed]:
            cls._swaps += 1
            if cls._swaps >= SWAPS and not cls._keep:
                cls._keep = True
        return notes

    @staticmethod
    def _told(found: list[tuple[Patch | Watch, str | None]]) -> list[str]:
        """Returns the messages. Each name that is no longer counted is also logged, once."""
        for patch, note in found:
            if note and patch.lost:
                _log.warning("%s", note)
        return [note for _, note in found if note]

    @classmethod
    def _forked(cls) -> None:
        # The child inherits the profiles of its parent, but nothing in it would stop them.
        cls._lock = threading.RLock()
        recording = engine.current.get(None)
        while recording is not None:
            recording.active = False
            recording = recording.parent
        cls._running = 0
        engine.set_active(0)
        cls._settle()


class Profiling:
    """The result of `MethodProfiler.profile`: a context manager, and a decorator."""

    def __init__(self, report: Callable[[Profile], object] | None) -> None:
        self._report = report
        self._profiles: list[Profile] = []

    def __enter__(self) -> Profile:
        profile = MethodProfiler.start()
        self._profiles.append(profile)
        return profile

    def __exit__(self, kind: type | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        profile = self._profiles.pop()
        if profile._ended is None and profile._recording.active:
            profile.stop()
            if self._report is not None:
                self._report(profile)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        if not callable(function):
            raise TypeError(f"what is profiled at every call is a function, not {function!r}")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(
                f"`{function.__qualname__}` is a generator, whose steps belong to whoever takes them: "
                "profile the function that consumes it"
            )
        MethodProfiler.keep_installed()
        report = self._report or functools.partial(_log_profile, getattr(function, "__qualname__", repr(function)))
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def profiled_task(*args: P.args, **kwargs: P.kwargs) -> Any:
                with Profiling(report):
                    return await function(*args, **kwargs)

            return profiled_task  # type: ignore[return-value]  # A function that returns an awaitable, like the one that it replaces.

        @functools.wraps(function)
        def profiled(*args: P.args, **kwargs: P.kwargs) -> R:
            with Profiling(report):
                return function(*args, **kwargs)

        return profiled


def _log_profile(what: str, profile: Profile) -> None:
    _log.info("%s %r", what, profile)


os.register_at_fork(after_in_child=MethodProfiler._forked)
