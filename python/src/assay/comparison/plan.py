"""The parameters fixed before the first block: time limit, confidence, and the smallest relevant
difference. Measures nothing."""

from __future__ import annotations

import math
import random
import re
from typing import Any

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
#: Level of the interval at each look for a confidence of 95 %, scaled for others. The program uses
#: the same (docs/concepts/deciding.md): it permits looking after any block and stopping at any of
#: them.
_LOOK_LEVEL = 0.002
#: Maximum number of blocks for which the level is valid.
MOST_BLOCKS = 1024
#: Fewer blocks cannot give an interval at that level.
FEWEST_BLOCKS = 10
#: If blocks take longer than this many seconds, the first look comes after the minimum number of
#: blocks, as in `assay run`.
LONG_BLOCK = 0.5
#: Numbers of blocks after which to look. They start at 24, since independence of the blocks cannot
#: be tested with fewer, and are every second one of the program's own looks
#: (docs/concepts/deciding.md), where the interval is narrower than elsewhere; each look costs a
#: process.
_LOOKS = (*(round(FEWEST_BLOCKS * 2 ** (k / 4)) for k in range(5, 26, 2)), MOST_BLOCKS)


def look_after(blocks: int) -> int:
    """Returns the number of blocks of the next look after this many."""
    return next((look for look in _LOOKS if look > blocks), MOST_BLOCKS)


class Plan:
    """The plan of a comparison; its parts are documented at `assay.compare`. Raises ValueError for
    invalid values."""

    def __init__(
        self,
        *,
        time: float,
        warmup: float,
        threshold: str | float,
        confidence: str | float,
        clock: str,
        seed: int | None,
    ) -> None:
        self.time: float = _seconds("time", time)
        self.warmup: float = _seconds("warmup", warmup)
        self.threshold: dict[str, Any] = amount("threshold", threshold)
        self.confidence: float = share("confidence", confidence)
        if not 0.5 <= self.confidence <= 0.9999:
            raise ValueError(f"confidence: is from 50% to below 100%, such as '95%', not {confidence!r}")
        if clock not in ("wall", "cpu", "auto"):
            raise ValueError(f"clock: is 'wall' or 'cpu', or 'auto' for the one that suits, not {clock!r}")
        self.clock: str = clock
        self.seed: int = random.SystemRandom().randrange(1 << 53) if seed is None else seed
        if not isinstance(self.seed, int) or not 0 <= self.seed < 1 << 53:
            raise ValueError(f"seed: is a whole number from 0 to 2^53 - 1, not {seed!r}")

    def to_dict(self) -> dict[str, Any]:
        """Returns the plan in the form used in sample files."""
        look = _LOOK_LEVEL * (1 - self.confidence) / 0.05
        return {
            "confidence": self.confidence,
            "threshold": self.threshold,
            "stop": {"rule": "sequential", "look_level": look, "max_blocks": MOST_BLOCKS},
            "budget_seconds": self.time,
            "warmup": 0,
            "primary": self.clock,
            "seed": self.seed,
        }


def amount(what: str, given: str | float) -> dict[str, Any]:
    """Parses a share ("5%", 0.05) or an amount of time ("50ns") into the form used in sample
    files."""
    found = re.fullmatch(r"\s*([0-9.]+(?:e-?[0-9]+)?)\s*([a-zµ]+)\s*", given) if isinstance(given, str) else None
    if found:
        value = _number(found[1])
        if value is not None and found[2] in _UNITS:
            return {"absolute": {"value": value * _UNITS[found[2]], "unit": "s"}}
    else:
        value = share(what, given)
        if value < 1:
            return {"relative": value}
    raise ValueError(
        f"{what}: is a share such as '5%' or 0.05, or an amount such as '50ns' ({', '.join(_UNITS)}), not {given!r}"
    )


def share(what: str, given: str | float) -> float:
    """Parses a share into a number: "5%" and 0.05 are the same."""
    text = str(given).strip()
    value = _number(text[:-1] if text.endswith("%") else text)
    if value is None:
        raise ValueError(f"{what}: is a share such as '5%' or 0.05, not {given!r}")
    return value / 100 if text.endswith("%") else value


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _seconds(what: str, given: float) -> float:
    if isinstance(given, (int, float)) and not isinstance(given, bool) and math.isfinite(given) and given >= 0:
        return float(given)
    raise ValueError(f"{what}: is a number of seconds, not {given!r}")
