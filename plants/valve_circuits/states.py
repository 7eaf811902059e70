"""Which valve is open when: Table 1 of [Kikuuwe21] as data, and the row an operating point is in.

hR, rR relief of the head and rod side; hSC, rSC their suction checks; pR relief of the pump. True open, False shut, None either.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple


class Row(NamedTuple):
    """One row of Table 1: sign of v, directions of the openings it occurs with, valves."""

    sign: int
    directions: tuple[int, ...]
    hR: bool | None
    hSC: bool | None
    pR: bool | None
    rSC: bool | None
    rR: bool | None


_o = True
_x = False
_any = (1, 0, -1)
TABLE_1 = MappingProxyType(
    {
        "-F_rM": Row(1, _any, _x, _o, None, _x, _o),
        "+3": Row(1, (1,), _x, _o, None, _x, _x),
        "+2b": Row(1, (1,), _x, _x, _o, _x, _o),
        "+2a": Row(1, (1,), _x, _x, _o, _x, _x),
        "+1b": Row(1, (1,), _x, _x, _x, _x, _o),
        "+1a": Row(1, (1,), _x, _x, _x, _x, _x),
        "+0b": Row(1, (1,), _o, _x, None, _x, _o),
        "+0a": Row(1, (1,), _o, _x, None, _x, _x),
        "0": Row(0, _any, _x, _x, None, _x, _x),
        "-0a": Row(-1, (-1,), _x, _x, None, _x, _o),
        "-0b": Row(-1, (-1,), _o, _x, None, _x, _o),
        "-1a": Row(-1, (-1,), _x, _x, _x, _x, _x),
        "-1b": Row(-1, (-1,), _o, _x, _x, _x, _x),
        "-2a": Row(-1, (-1,), _x, _x, _o, _x, _x),
        "-2b": Row(-1, (-1,), _o, _x, _o, _x, _x),
        "-3": Row(-1, (-1,), _x, _x, None, _o, _x),
        "F_hM": Row(-1, _any, _o, _x, None, _o, _x),
    }
)


def segment(
    direction: int | None, sign: int, hR: bool, hSC: bool, pR: bool, rSC: bool, rR: bool
) -> str | None:
    """Name of the row these valves are in, as in (64) ("+1a" for Γ₊₁ₐ); None where there is none (both directions open,
    a pump so strong that a chamber's relief opens at v = 0)."""
    seen = (hR, hSC, pR, rSC, rR)
    for name, row in TABLE_1.items():
        if (
            row.sign == sign
            and direction in row.directions
            and all(w in (None, s) for w, s in zip(row[2:], seen))
        ):
            return name
    return None
