"""The result of a profile: the totals of a section of a program, during the profile and
afterwards."""

from __future__ import annotations

import functools
import inspect
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, NamedTuple, TypedDict, Union, overload

from .._clock import now as _clock
from . import engine

if TYPE_CHECKING:
    from typing import Literal

    from . import pure
    from .._types import P, R

#: Number of forks between the first process and this one. Read at every start, where asking the system for the process id costs more.
_process = 0


def _forked() -> None:
    global _process
    _process += 1


os.register_at_fork(after_in_child=_forked)


class Section(NamedTuple):
    """The totals of one name. All times are in seconds, without the profiler's own cost.

    Every call is counted; times are those of the outermost calls, so that the time of a recursive
    function is not counted several times. Times of concurrent tasks and threads add up.
    """

    #: The name given to `patch`.
    name: str
    #: Calls that began.
    calls: int
    #: Calls that ended with an exception.
    errors: int
    #: Calls that had not ended when the profile did. Their time is not in any total.
    unfinished: int
    #: From call to return. For coroutines this includes what they waited for; for generators only the time within them.
    duration: float
    #: `duration` without calls of other names within.
    exclusive: float
    #: `duration` without the waiting of coroutines.
    running: float

    def to_dict(self) -> dict[str, Any]:
        """Returns all totals by member name."""
        return self._asdict()


class Overhead(NamedTuple):
    """The cost of profiling, as calibrated in this process."""

    #: Additional time of one profiled call in seconds; the mean if some names have wrappers and
    #: others are monitored.
    per_call: float
    #: The part of it between the call's two clock readings.
    between_clocks: float
    #: Total cost of all calls of this profile. It is included in the total duration.
    total: float


class Totals(TypedDict):
    """The value of `profile[name]`: seconds and number of calls."""

    duration: float
    calls: int


class NotRecording(RuntimeError):
    """There is no running profile in this context."""


class Profile(Mapping[str, Union[float, Totals]]):
    """A running or finished profile, created by `MethodProfiler.start` and
    `MethodProfiler.profile`.

    >>> profile.total_duration                           # doctest: +SKIP
    0.2
    >>> profile["redis"]["calls"], profile["redis"]["duration"]   # doctest: +SKIP
    (12, 0.111)

    While it is running, reading it returns the totals up to now. It is a mapping: `dict(profile)`
    equals `to_dict`. A copy or an unpickled profile is a finished profile with the totals of that
    moment.
    """

    def __init__(
        self,
        recording: pure.Recording,
        names: list[str],
        cost_of: Callable[[str], tuple[float, float]],
        finish: Callable[[Profile], None],
        depth: int = 0,
    ) -> None:
        self._recording = recording
        self._names = names
        self._cost_of = cost_of
        self._finish = finish
        self._counted: dict[int, tuple[Any, ...]] | None = None
        self._process = _process
        self._depth = depth
        #: Remarks on these totals: methods that other code replaced, or that are gone.
        self.notes: list[str] = []
        self._began = _clock()
        self._ended: int | None = None

    def __del__(self) -> None:
        # The profile was started and lost, for example with a cancelled task: it must not run
        # forever.
        if getattr(self, "_ended", 0) is None and self._process == _process:
            self._finish(self)

    def __reduce__(self) -> tuple[Any, ...]:
        counted = self._counted if self._counted is not None else self._recording.snapshot()
        costs = {self._names[label]: self._cost_of(self._names[label]) for label in counted}
        return _restored, (list(self._names), counted, {**costs, "": self._cost_of("")}, self._elapsed(), list(self.notes))

    @property
    def running(self) -> bool:
        """Whether it is still running."""
        return self._ended is None and self._recording.active

    def stop(self) -> Profile:
        """Ends it, from any thread or task, and returns it. Raises `NotRecording` if it has already
        ended."""
        if self._ended is not None:
            raise NotRecording("this profile was stopped before: start another one")
        if not self._recording.active:
            raise NotRecording("this profile belongs to the process that forked this one: start one of your own here")
        self._finish(self)
        return self

    def _give_up(self) -> None:
        if self.running:
            self._finish(self)

    def _close(self) -> None:
        # Called by MethodProfiler, which knows when the wrappers can be removed.
        self._ended = _clock()
        self._counted = self._recording.snapshot()
        self._recording.active = False

    # In other threads, which have their own contexts.

    @contextmanager
    def attach(self) -> Iterator[Profile]:
        """Counts calls in the `with` block for this profile, in any thread or task."""
        token = engine.current.set(self._recording)
        try:
            yield self
        finally:
            engine.current.reset(token)

    def bind(self, function: Callable[P, R]) -> Callable[P, R]:
        """Returns the function attached to this profile wherever it runs:
        `Thread(target=profile.bind(work))`. It may be a coroutine function."""
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def attached_task(*args: P.args, **kwargs: P.kwargs) -> Any:
                with self.attach():
                    return await function(*args, **kwargs)

            return attached_task  # type: ignore[return-value]  # A function that returns an awaitable, like the one that it replaces.

        @functools.wraps(function)
        def attached(*args: P.args, **kwargs: P.kwargs) -> R:
            with self.attach():
                return function(*args, **kwargs)

        return attached

    # The totals.

    @property
    def total_duration(self) -> float:
        """Seconds from start to stop, or until now, including the profiler's own cost."""
        return self._elapsed() / 1e9

    def _elapsed(self) -> int:
        return (self._ended or _clock()) - self._began

    @property
    def sections(self) -> dict[str, Section]:
        """The totals of every name that was called."""
        counted = self._counted if self._counted is not None else self._recording.snapshot()
        sections = {}
        for label, (calls, done, errors, inclusive, exclusive, elapsed, running) in sorted(counted.items()):
            name = self._names[label]
            sections[name] = Section(
                name,
                calls,
                errors,
                calls - done,
                max(0.0, inclusive + elapsed) / 1e9,
                max(0.0, exclusive) / 1e9,
                max(0.0, inclusive + running) / 1e9,
            )
        return sections

    @property
    def overhead(self) -> Overhead:
        """The cost of profiling. Calls of generators and coroutines cost more, and their cost is
        neither calibrated nor subtracted."""
        calls, between, total = 0, 0.0, 0.0
        for section in self.sections.values():
            inner, outer = self._cost_of(section.name)
            calls += section.calls
            between += section.calls * inner / 1e9
            total += section.calls * outer / 1e9
        if not calls:
            inner, outer = self._cost_of("")
            return Overhead(outer / 1e9, inner / 1e9, 0.0)
        return Overhead(total / calls, between / calls, total)

    def to_dict(self) -> dict[str, float | Totals]:
        """`{"total_duration": seconds, name: {"duration": seconds, "calls": count}, …}`."""
        return {
            "total_duration": self.total_duration,
            **{name: _short(section) for name, section in self.sections.items()},
        }

    @overload
    def __getitem__(self, name: Literal["total_duration"]) -> float: ...  # type: ignore[overload-overlap]

    @overload
    def __getitem__(self, name: str) -> Totals: ...

    def __getitem__(self, name: str) -> float | Totals:
        """Returns `profile["total_duration"]`, or `{"duration": …, "calls": …}` of a name: zeros if
        it was not called, which is common for a request. Raises KeyError for a name that was never
        given to `patch`."""
        if name == "total_duration":
            return self.total_duration
        section = self.sections.get(name)
        if section is not None:
            return _short(section)
        known = self._names[1:]
        if name in known:
            return {"duration": 0.0, "calls": 0}
        raise KeyError(
            f"nothing is profiled as {name!r}; names given to `patch`: {', '.join(map(repr, known)) or 'none'}"
        )

    def __contains__(self, name: object) -> bool:
        return name == "total_duration" or name in self.sections

    def __iter__(self) -> Iterator[str]:
        return iter(["total_duration", *self.sections])

    def __len__(self) -> int:
        return 1 + len(self.sections)

    #: Profiles can be in sets and used as keys, by identity.
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        how = "running" if self.running else "finished"
        parts = [f"{s.name}: {s.duration * 1e3:.3f} ms in {_calls(s.calls)}" for s in self.sections.values()]
        return f"<Profile {', '.join([how, f'{self.total_duration * 1e3:.3f} ms', *parts])}>"

    def __str__(self) -> str:
        """Returns a table, in the same words as the gem's."""
        sections = sorted(self.sections.values(), key=lambda section: -section.duration)
        width = max([5, *(len(section.name) for section in sections)])
        lines = [f"{'total':<{width}}  {self.total_duration * 1e3:10.3f} ms"]
        for section in sections:
            line = f"{section.name:<{width}}  {section.duration * 1e3:10.3f} ms  {_calls(section.calls, 7)}"
            line += f"  {section.errors} failed" if section.errors else ""
            lines.append(line + (f"  {section.unfinished} not ended" if section.unfinished else ""))
        cost = self.overhead
        lines.append(
            f"own cost: {cost.per_call * 1e9:.0f} ns a call ({'accelerator' if engine.NAME == 'c' else 'pure Python'}), "
            f"{cost.total * 1e3:.3f} ms in all; subtracted from each method's time, not from the total"
        )
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)


def _restored(
    names: list[str],
    counted: dict[int, tuple[Any, ...]],
    costs: dict[str, tuple[float, float]],
    elapsed: int,
    notes: list[str],
) -> Profile:
    """Returns a finished profile from its pickled state."""
    recording = engine.Recording(None)
    recording.active = False
    profile = Profile(recording, names, lambda name: costs.get(name, costs[""]), lambda profile: None)
    profile._counted = counted
    profile._ended = profile._began + elapsed
    profile.notes = notes
    return profile


def _calls(count: int, width: int = 0) -> str:
    return f"{count:{width}d} {'call' if count == 1 else 'calls'}"


def _short(section: Section) -> Totals:
    return {"duration": section.duration, "calls": section.calls}
