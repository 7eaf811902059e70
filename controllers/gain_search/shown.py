"""A search by runs as rows of a table: every gain before and after, what the loop does with them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from controllers.tuned_file import units_of
from workbench.contract.units import format_quantity as say

if TYPE_CHECKING:
    from controllers.gain_search.point import Point, Traded

UNMET = "no gains that keep what was asked were found"


def headed(found: Traded) -> tuple[str, str, str]:
    """Heads of the columns."""
    return "", "before", "chosen"


def gain_rows(found: Traded) -> list[tuple[str, str, str]]:
    """One row a gain, then rms error, largest error after settling, what is borne."""
    units = units_of(found.law)
    pair = (found.start, found.chosen)
    rows = [
        (_called(name), *(gain(p.gains[name], units.get(name, "1")) for p in pair))
        for name in found.found
    ]
    rows.append(("error, rms", *(size(p.error, found.unit) for p in pair)))
    rows.append(("largest after settling", *(size(p.largest, found.unit) for p in pair)))
    rows.append((f"{found.what} borne", *(borne(p) for p in pair)))
    return rows


def _called(name: str) -> str:
    return "horizon" if name == "N" else name


def gain(value: Any, unit: str) -> str:
    """A gain, or each of its entries."""
    each = value if isinstance(value, tuple) else (value,)
    return ", ".join(str(v) if isinstance(v, int) else say(v, unit, 3) for v in each)


def size(value: float, unit: str) -> str:
    """An error in its unit; where the run ends early there is none."""
    return say(value, unit, 3) if math.isfinite(value) else "ends early"


def borne(point: Point) -> str:
    """What a point bears."""
    return say(point.bears, "s", 3) if point.bears > 0 else "none"


def in_words(found: Traded) -> list[str]:
    """What was asked, and what came of it."""
    told = [f"asked: {found.asked}; {len(found.tried)} choices of gains were run"]
    if not found.better:
        told.append("nothing better than the gains it began with was found: they stay")
    told += [f"not kept: {why}" for why in found.chosen.violated]
    if not found.met and not found.chosen.violated:
        told.append(UNMET)
    return told
