"""A sweep's table in words, for the terminal: ranges over the cases, what failed; of plans, what the optimum saves."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from workbench.commands import terminal
from workbench.contract.units import format_quantity
from workbench.planning.table import amount, exactly, share
from workbench.sweep.form import Sweep
from workbench.sweep.plans import BEST, PlanStudy
from workbench.sweep.table import Column, Table

SHOWN = 3  # cases that failed, reasons
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
        if column.values.dtype == object:
            words = [w for w in column.values if w]
            counts = sorted(
                {w: words.count(w) for w in set(words)}.items(), key=lambda e: (-e[1], e[0])
            )
            said = ", ".join(f"{w} {n}" for w, n in counts[:4]) + (" …" if len(counts) > 4 else "")
        else:
            said = _range(
                column.values, lambda v, unit=column.unit or "1": format_quantity(v, unit, 3)
            )
        lines += [f"{column.name}: {said}"] if said else []
    return lines


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
    motions = table["motion"] if "motion" in table.names else []
    planners = [c.name.removesuffix(".energy") for c in table.columns if c.name.endswith(".energy")]
    own = [c for c in table.columns if not c.parameter and c.name not in ("motion", "why", "error")]
    # Seconds: of plans for least time.
    lines = _ranges(own if BEST not in planners else [c for c in own if c.unit == "s"])
    if BEST in planners:
        rows = [HEAD, *(_planner(table, name) for name in planners)]
        shown = [i for i in range(len(HEAD)) if any(row[i] for row in rows[1:])]
        widths = {i: max(terminal.width(terminal.clean(row[i])) for row in rows) for i in shown}
        pad = lambda text, i: text + " " * (widths[i] - terminal.width(terminal.clean(text)))
        lines += [terminal.GAP.join(pad(row[i], i) for i in shown).rstrip() for row in rows]
        lines += _apart(table, planners[1]) if planners[1:] else []
        left = table[f"{BEST}.estimate"] / table[f"{BEST}.energy"]
        most = (
            f"at most {exactly(np.nanmax(left))}" if not np.isnan(left).all() else "an unknown part"
        )
        lines += [f"grids: estimated from their convergence, the optima lie {most} lower"]
        creeping = _range(np.array(_numbers(table, f"{BEST}.creeping")), "{:g}".format)
        lines += [f"creeping: {creeping} steps of the optimum"] if creeping else []
    lines += _ranges(
        c for c in own if BEST in planners and c.name.endswith((".note", "not driven"))
    )
    none: dict[str, list[int]] = {}
    for i in np.flatnonzero(np.asarray(motions) == "none"):
        none.setdefault(table["why"][i], []).append(int(i))
    lines += [f"no motion, {_cases(where)}: {why}" for why, where in list(none.items())[:SHOWN]]
    return lines + (
        [f"… and {len(none) - SHOWN} other reasons, see why in the table"]
        if len(none) > SHOWN
        else []
    )


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
    lines = []
    for column in table.columns if len(saved) else ():
        words = [
            v if isinstance(v, str) else format_quantity(float(v), column.unit or "1", 3)
            for v in column.values
        ]
        values = list(dict.fromkeys(words))
        if column.parameter and 1 < len(values) <= MANY and len(values) < len(table):
            said = [
                f"{v} {r}" for v in values if (r := _range(saved[[w == v for w in words]], _share))
            ]
            lines += [f"  by {column.name}: {', '.join(said)}"] if said else []
    return [f"saved against {name}:", *lines] if lines else []
