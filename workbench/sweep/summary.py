"""A sweep's table in words, for the terminal: ranges over the cases, what failed; of plans, what the optimum saves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from workbench.commands import terminal
from workbench.contract.units import format_quantity
from workbench.planning.table import amount, exactly, share
from workbench.sweep.form import Sweep
from workbench.sweep.plans import BEST, PlanStudy
from workbench.sweep.table import Column, Table

SHOWN = 3  # cases that failed, reasons
WORDS = 4  # different words of a column
MANY = 8  # values of an axis beyond which it is not taken apart


def told(asked: Sweep, table: Table, kept: int, out: str) -> list[str]:
    """What the terminal shows."""
    room = terminal.columns()
    clean = terminal.clean
    lines = [
        terminal.headline(
            f"{asked.title} · {len(table)} cases over {', '.join(asked.grid.names)}", out, room
        )
    ]
    results = [c for c in table.columns[:-1] if not c.parameter]
    for line in _plans(table) if isinstance(asked.study, PlanStudy) else _ranges(results):
        lines += terminal.wrap(clean(f"  {line}"), room)
    failed = [i for i, error in enumerate(table.errors) if error]
    for i in failed[:SHOWN]:
        first, *rest = clean(table.errors[i]).split("\n")
        lines += [f"  case {i} failed: {first}", *(f"    {line}" for line in rest)]
    before = [f"{kept} of them taken from the journal"] if kept else []
    return [
        *lines,
        " · ".join([f"{len(table) - len(failed)} ran, {len(failed)} failed", *before, clean(out)]),
    ]


def _ranges(columns: Iterable[Column]) -> list[str]:
    """How often each word, and from where to where each number."""
    lines = []
    for column in columns:
        if column.name.endswith(".strength"):
            continue
        said = _counted(column) if column.values.dtype == object else _spread(column)
        if said:
            lines.append(f"{column.name}: {said}")
    return lines


def _counted(column: Column) -> str:
    """'holds 7, violated 2': the most frequent words first."""
    counts = Counter(word for word in column.values if word)
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    more = " …" if len(ordered) > WORDS else ""
    return ", ".join(f"{word} {n}" for word, n in ordered[:WORDS]) + more


def _spread(column: Column) -> str:
    """The range of a column of numbers, in its unit."""
    unit = column.unit or "1"
    return _range(column.values, lambda value: format_quantity(value, unit, 3))


def _range(values: np.ndarray, words) -> str:
    """'4 mm … 7 mm', one where they are the same, "" where there is none."""
    finite = values[~np.isnan(values)]
    if not len(finite):
        return ""
    low = words(float(finite.min()))
    high = words(float(finite.max()))
    return low if low == high else f"{low} … {high}"


# ---- plans ----------------------------------------------------------------------------------------------------------
HEAD = (
    "planner",
    "energy",
    "the optimum saves",
    "metered",
    "and saves there",
    "tip error",
    "claims",
)


def _share(value: float) -> str:
    """'7.9 %'."""
    return share(value).removeprefix("+")


def _plans(table: Table) -> list[str]:
    """Energy and saving by planner, the first saving taken apart along the axes, cases without a motion."""
    own = [c for c in table.columns if not c.parameter and c.name not in ("motion", "why", "error")]
    planners = [c.name.removesuffix(".energy") for c in table.columns if c.name.endswith(".energy")]
    if BEST not in planners:
        return [*_ranges(own), *_without_motion(table)]
    times = [c for c in own if c.unit == "s"]
    notes = [c for c in own if c.name.endswith((".note", "not driven"))]
    return [
        *_ranges(times),
        *_compared(table, planners),
        *(_apart(table, planners[1]) if len(planners) > 1 else ()),
        *_of_the_optimum(table),
        *_ranges(notes),
        *_without_motion(table),
    ]


def _compared(table: Table, planners: list[str]) -> list[str]:
    """A table with a line a planner; columns that say nothing are left out."""
    rows = [HEAD, *(_planner(table, name) for name in planners)]
    shown = [i for i in range(len(HEAD)) if any(row[i] for row in rows[1:])]
    room = {i: max(_width(row[i]) for row in rows) for i in shown}
    padded = [[row[i] + " " * (room[i] - _width(row[i])) for i in shown] for row in rows]
    return [terminal.GAP.join(row).rstrip() for row in padded]


def _width(text: str) -> int:
    """Columns of the terminal that a text takes."""
    return terminal.width(terminal.clean(text))


def _of_the_optimum(table: Table) -> list[str]:
    """How much lower the optimum may lie on a finer grid, and how often it creeps."""
    left = table[f"{BEST}.estimate"] / table[f"{BEST}.energy"]
    known = not np.isnan(left).all()
    most = f"at most {exactly(np.nanmax(left))}" if known else "an unknown part"
    lines = [f"grids: estimated from their convergence, the optima lie {most} lower"]
    creeping = _range(np.array(_numbers(table, f"{BEST}.creeping")), "{:g}".format)
    if creeping:
        lines.append(f"creeping: {creeping} steps of the optimum")
    return lines


def _without_motion(table: Table) -> list[str]:
    """Cases without a motion, reason by reason."""
    motions = np.asarray(_numbers(table, "motion"))
    by_reason: dict[str, list[int]] = {}
    for i in np.flatnonzero(motions == "none"):
        by_reason.setdefault(table["why"][i], []).append(int(i))
    reasons = list(by_reason.items())
    lines = [f"no motion, {_cases(where)}: {why}" for why, where in reasons[:SHOWN]]
    if len(reasons) > SHOWN:
        lines.append(f"… and {len(reasons) - SHOWN} other reasons, see why in the table")
    return lines


def _planner(table: Table, name: str) -> tuple[str, ...]:
    """One line of the table of planners."""
    metres = lambda v: format_quantity(v, "m", 2)
    columns = (
        ("energy", amount),
        ("saving", _share),
        ("metered", amount),
        ("metered saving", _share),
        ("tip error", metres),
    )
    found = [_range(np.array(_numbers(table, f"{name}.{last}")), words) for last, words in columns]
    claims = [
        (c.name.removeprefix(f"{name}."), c.values)
        for c in table.columns
        if c.name.startswith(f"{name}.claim ")
    ]
    open_ = [
        f"{claim.removeprefix('claim ')} {word} {n}"
        for claim, values in claims
        for word in ("violated", "undecided")
        if (n := sum(v == word for v in values))
    ]
    return name, *found, (", ".join(open_) or "all hold") if claims else ""


def _numbers(table: Table, name: str) -> list:
    return list(table[name]) if name in table.names else []


def _cases(where: list[int]) -> str:
    shown = ", ".join(map(str, where[:SHOWN])) + (" …" if len(where) > SHOWN else "")
    return f"case {shown}" if len(where) == 1 else f"{len(where)} cases ({shown})"


def _apart(table: Table, name: str) -> list[str]:
    """The saving against a planner for every value of every axis that has a few."""
    saved = np.array(_numbers(table, f"{name}.saving"))
    if not len(saved):
        return []
    axes = [column for column in table.columns if column.parameter]
    lines = [line for column in axes if (line := _by(column, saved))]
    return [f"saved against {name}:", *lines] if lines else []


def _by(axis: Column, saved: np.ndarray) -> str:
    """What is saved at each value of an axis, in a line; "" where it has one value, or too many."""
    words = [_value(axis, value) for value in axis.values]
    values = list(dict.fromkeys(words))
    if not 1 < len(values) <= min(MANY, len(words) - 1):
        return ""
    ranges = {v: _range(saved[[word == v for word in words]], _share) for v in values}
    said = [f"{value} {saving}" for value, saving in ranges.items() if saving]
    return f"  by {axis.name}: {', '.join(said)}" if said else ""


def _value(axis: Column, value: object) -> str:
    """A value of an axis, with its unit."""
    return value if isinstance(value, str) else format_quantity(float(value), axis.unit or "1", 3)
