"""What several certificates of one loop prove together: that every start of a box is in one of the tubes.

    B_i = {x_0 + δ, |δ| ≤ half}  of certificate i,    B = ∩ over what moves, hull over constants    B ⊂ ∪ B_i ?

The edges of all B_i along each constant cut B into cells, each of which lies in one B_i or does not. Numbers are the exact
ones of the files (fractions): nothing is rounded.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from .data import Tube
from .section import Refused, constant
from .words import digests, listed, rounded

MOST = 1_000_000  # cells


def alike(tubes: list[Tube]) -> None:
    """Raises Refused for certificates of different loops, or of runs with other references or other noise."""
    first = tubes[0]
    for k, c in enumerate(tubes[1:], 2):
        if digests(c)[0] != digests(first)[0]:
            raise Refused(f"certificate {k} is of another loop than the first")
        if not (np.array_equal(c.w, first.w) and np.array_equal(c.slack, first.slack)):
            raise Refused(f"certificate {k} is of a run with other references than the first")
        if not np.array_equal(c.after, first.after):
            raise Refused(f"certificate {k} ends otherwise than the first")
        if not np.array_equal(c.fresh, first.fresh):
            raise Refused(f"certificate {k} has other noise than the first")


def box(c: Tube) -> list[tuple[Fraction, Fraction]]:
    """Between which numbers every state starts."""
    centres = map(Fraction, c.x0.tolist())
    return [(x - h, x + h) for x, h in zip(centres, map(Fraction, c.half.tolist()))]


def whole(tubes: list[Tube]) -> list[tuple[Fraction, Fraction]]:
    """The box that all of them together may hold; Refused where no start is in all of them."""
    boxes = [box(c) for c in tubes]
    found = []
    for i, stays in enumerate(constant(tubes[0])):
        lows, highs = zip(*(b[i] for b in boxes))
        ends = (min(lows), max(highs)) if stays else (max(lows), min(highs))
        if ends[0] > ends[1]:
            raise Refused(f"no {tubes[0].names[i]} is a start of all of them")
        found.append(ends)
    return found


def covered(tubes: list[Tube]) -> list[tuple[Fraction, Fraction]]:
    """The box that they hold together, a pair for every state; Refused where they leave a gap in it."""
    alike(tubes)
    found = whole(tubes)
    boxes = [box(c) for c in tubes]
    cut = [i for i in np.flatnonzero(constant(tubes[0])).tolist() if found[i][0] < found[i][1]]
    edges = [sorted({end for b in boxes for end in b[i]}) for i in cut]
    if math.prod(len(e) for e in edges) > MOST:
        raise Refused(f"their edges cut the box into more than {MOST} cells")
    for cell in itertools.product(*(itertools.pairwise(e) for e in edges)):
        if not any(all(within(cell[k], b[i]) for k, i in enumerate(cut)) for b in boxes):
            raise Refused(f"together they leave out {said(tubes[0], dict(zip(cut, cell)))}")
    return found


def within(inner: tuple[Fraction, Fraction], outer: tuple[Fraction, Fraction]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def below(number: Fraction) -> float:
    """The largest float that is not larger."""
    near = float(number)
    return near if Fraction(near) <= number else float(np.nextafter(near, -np.inf))


def said(c: Tube, ends: dict[int, tuple[Fraction, Fraction]]) -> str:
    """States between numbers, rounded inwards."""
    each = (
        f"{c.names[i]} from {rounded(float(low), True)} to {rounded(float(high), False)}"
        for i, (low, high) in ends.items()
    )
    return ", ".join(each)


def together(tubes: list[Tube]) -> str:
    """What they prove together, in words; Refused where that is not a box."""
    found = covered(tubes)
    c = tubes[0]
    stays = constant(c)
    centres = map(Fraction, c.x0.tolist())
    half = np.array([below(min(high - x, x - low)) for (low, high), x in zip(found, centres)])
    moved = listed(c, np.where(stays, 0.0, half))
    own = {i: found[i] for i in np.flatnonzero(stays & (c.half > 0)).tolist()}
    return f"together: every start within {moved or 'nothing'}, with {said(c, own)}, stays in one of these {len(tubes)} tubes"
