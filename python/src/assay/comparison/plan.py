"""What is decided before the first block: how long, how sure, and which difference matters. Only words and numbers; nothing is measured."""

from __future__ import annotations

import math
import random
import re
from typing import Any

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
#: Level of the interval at every look, for a confidence of 95 %; in proportion for another. It is the product's own
#: (docs/concepts/deciding.md): it allows to look after any block and to stop at any of them.
_LOOK_LEVEL = 0.002
#: The level holds for runs of up to so many blocks.
MOST_BLOCKS = 1024
#: Fewer blocks can't give an interval at that level.
FEWEST_BLOCKS = 10
#: Where blocks last longer than so many seconds the first look is taken with the fewest, as `assay run` does.
LONG_BLOCK = 0.5
#: Numbers of blocks to look after: from 24 on, since whether blocks depend on each other can't be tested with fewer, every second one of
#: those that the program has for looks (docs/concepts/deciding.md). There the interval is narrower than elsewhere; asking costs a process.
_LOOKS = (*(round(FEWEST_BLOCKS * 2 ** (k / 4)) for k in range(5, 26, 2)), MOST_BLOCKS)


def look_after(blocks: int) -> int:
    """The number of blocks of the next look after so many."""
    return next((look for look in _LOOKS if look > blocks), MOST_BLOCKS)


class Plan:
    """The plan of a comparison; `assay.compare` says what its parts are. Raises ValueError for what can't be meant."""

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
        """As a sample file holds it."""
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
    """A share ("5%", 0.05) or an amount of time ("50ns"), as a sample file holds a threshold."""
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
    """A share as a number: "5%" and 0.05 are the same."""
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
