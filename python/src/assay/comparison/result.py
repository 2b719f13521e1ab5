"""The outcome of a comparison, for printing, querying and saving. Its numbers and sentences come
from the program; this module adds names instead of keys, and facts known only to the measuring
process: the cost of the loop and the time of the garbage collector."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import binary
from . import words
from .experiment import Experiment
from .recording import Recording
from .side import Side

#: Shares of the time below this get no line in the output.
_WORTH_TELLING = 0.05


class Interval(NamedTuple):
    """An estimate with its interval; `lower` and `upper` are None if there is too little data for
    one.

    The deciding quantity (the ratio, unless the threshold is an amount of time) has an interval
    whenever the verdict is not `inconclusive`. The other may lack one even then: if the machine
    changed its speed during the measurement, a steady ratio does not imply a steady difference, and
    vice versa.
    """

    estimate: float | None
    lower: float | None
    upper: float | None


class Comparison:
    """The verdict on one side against the reference: one comparison of an analysis
    (docs/reference/json.md)."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as returned by the program."""
        return self._fields

    @property
    def of(self) -> str:
        """Name of the side."""
        return str(self._fields["of"])

    @property
    def against(self) -> str:
        """Name of the reference that the side is compared with."""
        return str(self._fields["against"])

    @property
    def verdict(self) -> str:
        """`faster`, `slower`, `equivalent` or `inconclusive`."""
        return str(self._fields["verdict"])

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return words.told(str(self._fields["sentence"]), words.COMPARE)

    @property
    def ratio(self) -> Interval | None:
        """Time of the side / time of the reference; None where a time is 0."""
        return self._interval("ratio")

    @property
    def shift(self) -> Interval | None:
        """Time of the side - time of the reference, in seconds per iteration. If the ratio decides,
        its interval may be missing: see `Interval`."""
        return self._interval("shift")

    @property
    def settled(self) -> bool:
        """Whether further measuring would not change the verdict: the stopping rule of `assay
        run`."""
        if self.verdict == "inconclusive" or self._fields["dependence"] in ("noticed", "too_strong"):
            return False
        if not self._fields["possibly_below_threshold"]:
            return True
        found, threshold = self._interval(self._fields["scale"]), self._fields["threshold"]
        if found is None or threshold is None or found.lower is None or found.upper is None:
            return False
        return bool(found.upper - found.lower <= threshold)

    def __repr__(self) -> str:
        return f"<Comparison {self.sentence}>"

    def _interval(self, scale: str) -> Interval | None:
        found = self._fields[scale]
        return Interval(found["estimate"], found["lower"], found["upper"]) if found else None


class Result:
    """The result of `assay.compare`."""

    def __init__(self, sides: list[Side], experiment: Experiment, loop_cost: float) -> None:
        self._sides = sides
        self._experiment = experiment
        self._loop_cost = loop_cost
        #: The samples.
        self.recording: Recording = experiment.recording
        self.recording.know(loop_nanoseconds=round(loop_cost, 2))
        self._analysis: dict[str, Any] | None = None
        if binary.available():
            with self.recording.with_file() as path:
                self._analysis = binary.compare(path)

    def to_dict(self) -> dict[str, Any]:
        """Returns the analysis with the members of `assay compare --json` (docs/reference/json.md);
        facts known only to this process are under "environment". Raises `BinaryNotFound` if there
        was no program."""
        if self._analysis is None:
            raise binary.BinaryNotFound(
                "there is no verdict: the values were handed to the `assay` that measures this process"
            )
        return self._analysis

    @property
    def comparisons(self) -> list[Comparison]:
        """The comparisons of all sides but the first."""
        return [Comparison(fields) for fields in self.to_dict()["comparisons"] if fields["family"] == "primary"]

    def comparison(self, name: str | None = None) -> Comparison:
        """Returns the comparison of the side with this name with the first; the name is optional if
        there are two sides. Raises KeyError if there is no such side."""
        if name is None and len(self._sides) == 2:
            return self.comparisons[0]
        for found in self.comparisons:
            if found.of == name:
                return found
        raise KeyError(f"no side {name!r} is compared here, but: {', '.join(side.name for side in self._sides[1:])}")

    def verdict(self, name: str | None = None) -> str:
        """`faster`, `slower`, `equivalent` or `inconclusive`; see `comparison`."""
        return self.comparison(name).verdict

    def allocations(self, name: str) -> float | None:
        """Returns the number of allocator calls per iteration of the side; None if two passes
        differ, and without the accelerator."""
        for index, side in enumerate(self._sides):
            if side.name == name:
                counts = set(self.recording.counts(index))
                return counts.pop() if len(counts) == 1 else None
        raise KeyError(f"no side {name!r}")

    @property
    def stop(self) -> str | None:
        """Reason for stopping: "clear", "budget", "blocks" or "interrupted"."""
        return self.recording.stop

    def save(self, path: str) -> Result:
        """Writes the samples, including the blocks, to a file for `assay compare`."""
        self.recording.write(path)
        return self

    def screen(self, *, colour: bool = False) -> str:
        """Returns the output of `assay compare`, followed by the facts it cannot know."""
        self.to_dict()
        with self.recording.with_file() as path:
            shown = words.told(binary.screen(path, colour=colour), words.COMPARE)
        return shown + "".join(f"{note}\n" for note in self._notes())

    def __str__(self) -> str:
        return self.screen()

    def _notes(self) -> list[str]:
        return [
            note for note in (self._collector(), self._loop_share(), self._mixed_forms(), self._unfinished()) if note
        ]

    def _collector(self) -> str | None:
        shares = [
            f"{name} {share * 100:.0f} %"
            for name, share in self._experiment.collecting.items()
            if share >= _WORTH_TELLING
        ]
        return f"garbage collection, in the times above: {', '.join(shares)}" if shares else None

    def _loop_share(self) -> str | None:
        called = [min(self.recording.times(index)) for index, side in enumerate(self._sides) if side.form == "function"]
        if not called or self._loop_cost * 1e-9 < min(called) * _WORTH_TELLING:
            return None
        return (
            f"note: {self._loop_cost:.1f} ns of every iteration are the loop and the call of the function, so that differences look smaller\n"
            "  hint: give functions the loop, `def f(times): for _ in range(times): …`, or the code as a text\n"
            "note: so short an iteration differs by a percent or two with where code happens to lie, which is the same for all of this process"
        )

    def _mixed_forms(self) -> str | None:
        if len({side.form == "function" for side in self._sides}) == 1:
            return None
        return f"note: some sides are called by a loop and some loop themselves: {self._loop_cost:.1f} ns are in some times only"

    def _unfinished(self) -> str | None:
        if self.stop not in ("budget", "blocks") or all(found.settled for found in self.comparisons):
            return None
        return "measured as long as it may; for more: time=SECONDS"
