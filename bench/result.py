"""A result: one table with information about its measurement, stored as JSON, and printed the same
way everywhere.

`bench/run.py show NAME` prints it; bench/pages.py takes the cells of BENCHMARKS.md from it. Numbers
are converted to text only here, so that a table and the bar below it agree.
"""

import json
from dataclasses import asdict, dataclass, field

from judge import wilson


def ratio(value):
    return f"{value:.2f}"


def percent(value):
    return f"{value * 100:.1f} %"


def microseconds(seconds):
    return f"{seconds * 1e6:.0f} µs"


def milliseconds(seconds):
    return f"{seconds * 1e3:.2f} ms"


def mebibytes(count):
    return f"{count / 2**20:.2f} MiB"


@dataclass
class Bar:
    """A target of a figure, and whether it was reached: `yes`, `no`, or `not beyond chance` for a
    share that missed its target by less than its 95 % interval."""

    what: str
    must: str
    found: str
    reached: str

    @classmethod
    def at_least(cls, what, found, bar, text):
        return cls(what, f"≥ {text(bar)}", text(found), "yes" if found >= bar else "no")

    @classmethod
    def at_most(cls, what, found, bar, text):
        return cls(what, f"≤ {text(bar)}", text(found), "yes" if found <= bar else "no")

    @classmethod
    def share_at_most(cls, what, share, bar):
        reached = "yes" if share.value <= bar else "not beyond chance" if share.low <= bar else "no"
        return cls(what, f"≤ {percent(bar)}", str(share), reached)

    @classmethod
    def share_at_least(cls, what, share, bar):
        reached = "yes" if share.value >= bar else "not beyond chance" if share.high >= bar else "no"
        return cls(what, f"≥ {percent(bar)}", str(share), reached)


class Share:
    """A share of a total number, with its 95 % interval."""

    def __init__(self, hits, of):
        self.hits, self.of = hits, of
        self.value = hits / of if of else float("nan")
        self.low, self.high = wilson(hits, of)

    def __str__(self):
        interval = f"{self.low * 100:.1f} … {self.high * 100:.1f}"
        return f"{percent(self.value)} ({self.hits} of {self.of}; {interval})"


@dataclass
class Result:
    """One figure."""

    name: str
    title: str
    columns: list
    rows: list = field(default_factory=list)
    bars: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    raw: dict = field(default_factory=dict)
    # Paragraphs about these numbers that were added by hand. Measuring again drops them.
    remarks: list = field(default_factory=list)
    # Filled in by the entry point, identically for every figure.
    about: dict = field(default_factory=dict)

    def row(self, *cells):
        self.rows.append([str(cell) for cell in cells])

    def bar(self, bar):
        self.bars.append(bar)

    def note(self, text):
        self.notes.append(text)

    def save(self, directory):
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / f"{self.name}.json"
        path.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n")
        return path

    @classmethod
    def load(cls, path):
        fields = json.loads(path.read_text())
        return cls(**{**fields, "bars": [Bar(**bar) for bar in fields["bars"]]})

    def markdown(self):
        """Returns table, bars, notes, and the origin of the numbers."""
        parts = [f"{self.title}.", table(self.columns, self.rows)]
        if self.bars:
            bars = [[bar.what, bar.must, bar.found, bar.reached] for bar in self.bars]
            parts.append(table(["figure", "must reach", "found", "reached"], bars))
        parts += self.notes
        if self.about.get("missing"):
            lacking = "; ".join(f"{name}: {why}" for name, why in self.about["missing"].items())
            parts.append(f"Missing peers: {lacking}.")
        parts += self.remarks
        parts.append(self._origin())
        commands = "\n".join(self.about.get("commands", []))
        parts.append(f"<details><summary>commands</summary>\n\n```sh\n{commands}\n```\n\n</details>")
        return "\n\n".join(parts)

    def _origin(self):
        about = self.about
        machine = about["machine"]
        facts = [machine["cpu"], f"{machine['cpus_allowed']} of {machine['cpus']} CPUs", machine["memory"]]
        facts += ["virtual"] if machine["virtual"] else []
        facts += [machine["system"], f"Linux {machine['kernel']}", f"governor {machine['governor'] or 'not visible'}"]
        facts += [f"{machine['scheduling']} scheduling", f"load {machine['load']} at the start"]
        versions = ", ".join(about["versions"].values())
        return (
            f"`{about['command']}`, {about['when']}, {about['minutes']:.1f} min, seed {about['seed']}. "
            f"Machine: {', '.join(facts)}. Versions: {versions}."
        )


def table(columns, rows):
    """Returns a Markdown table that is also readable as plain text."""
    lines = [columns, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    drawn = [_line(columns, widths), "|" + "|".join("-" * (width + 2) for width in widths) + "|"]
    return "\n".join(drawn + [_line(row, widths) for row in rows])


def _line(cells, widths):
    return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths)) + " |"
