"""Segments of Γ by which valves are open: rows of Table 1 of [Kikuuwe21] where one fits, else the open valves themselves
("hR pR"; "–" where none is). Names, words, colours."""

from __future__ import annotations

from plants.valve_circuits import TABLE_1, segment

from .style import BLUE, FAINT, GREEN, GREY, ORANGE, PURPLE, RED, SKY, YELLOW

VALVES = {
    "hR": "head relief",
    "hSC": "head suction check",
    "rR": "rod relief",
    "rSC": "rod suction check",
    "pR": "pump relief",
    "a": "regeneration",
}
_SEEN = 1e-9  # m³/s, above rounding of pressures that are the same
UNNAMED = "–"  # no row fits and none of these is open
COLOURS = {
    "-F_rM": PURPLE,
    "F_hM": PURPLE,
    "+3": SKY,
    "-3": SKY,
    "+2a": ORANGE,
    "-2a": ORANGE,
    "+2b": RED,
    "-2b": RED,
    "+1a": GREEN,
    "-1a": GREEN,
    "+1b": YELLOW,
    "-1b": YELLOW,
    "+0a": BLUE,
    "-0a": BLUE,
    "+0b": GREY,
    "-0b": GREY,
    "0": "#FFFFFF",
    UNNAMED: FAINT,
}


def segment_of(direction: int | None, v: float, state, pR: bool) -> str:
    """Name of the segment a `SectionState` at the velocity v is on, with openings of this direction (`Openings.direction`)."""
    regenerates = state.Q_a > _SEEN
    if not regenerates:
        sign = int(v > 0) - int(v < 0)
        row = segment(direction, sign, state.hR, state.hSC, pR, state.rSC, state.rR)
        if row:
            return row
    on = {**state._asdict(), "a": regenerates, "pR": pR}
    return " ".join(key for key in VALVES if on[key]) or UNNAMED


def opened(name: str) -> list[str]:
    """Valves that are open on a segment, of `VALVES`."""
    if name in TABLE_1:
        return [key for key in VALVES if getattr(TABLE_1[name], key, None)]
    return [] if name == UNNAMED else name.split()


def label(name: str) -> str:
    """A segment as it is written: "+1a" → "$Γ_{+1a}$", "-F_rM" → "$−F_{rM}$", "hR pR" → "hR, pR"."""
    if name not in TABLE_1 or name == "0":
        return name.replace(" ", ", ")
    signed = name.replace("-", "−")
    if "F" not in name:
        return f"$Γ_{{{signed}}}$"
    return "$" + signed.replace("F_rM", "F_{rM}").replace("F_hM", "F_{hM}") + "$"


def words(name: str) -> str:
    """What is open: "rod relief, pump relief"."""
    return ", ".join(VALVES[key] for key in opened(name)) or "all reliefs and suction checks shut"


def colour(name: str) -> str:
    """The colour of a segment: rows of Table 1 with the same kinds of valves open share one."""
    if name in COLOURS:
        return COLOURS[name]
    on = set(name.split())
    if {"hSC", "rSC"} & on:
        return PURPLE if {"hR", "rR"} & on else SKY
    if {"hR", "rR"} <= on:
        return GREY
    if {"hR", "rR"} & on:
        return RED if "pR" in on else YELLOW
    return ORANGE if "pR" in on else GREEN


def hatch(name: str) -> str | None:
    """Hatch the stretches in which oil is regenerated."""
    return "...." if name not in TABLE_1 and "a" in name.split() else None
