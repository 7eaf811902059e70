"""What a plan of least time is compared with, and in words: for the terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import process_time
from typing import NamedTuple, final

import numpy as np

from workbench.commands.terminal import GAP, clean, width
from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity
from workbench.planning.curve import LIMITS, Curve
from workbench.planning.dynamic import Plan
from workbench.planning.fastest.motion import Fastest, least_time
from workbench.planning.feasibility import shortest_time
from workbench.planning.table import amount, share
from workbench.planning.task import Task
from workbench.planning.time_law import time_law

HEAD = ("motion", "time", "over the least", "energy", "processor", "")
FULL = 0.99  # share of a limit: that it is used up


class Row(NamedTuple):
    """One way along the path: time (s), None where there is none; its plan, where one was made;
    note: why there is none, or how good it is."""

    name: str
    plan: Plan | None
    time: float | None
    seconds: float
    note: str = ""


@final
@dataclass(frozen=True, eq=False)
class Race:
    """rows: the least time first; found: `workbench.planning.fastest.motion.Fastest`."""

    found: Fastest
    rows: tuple[Row, ...]

    @property
    def best(self) -> Plan:
        """The motion of least time."""
        return self.rows[0].plan

    @property
    def task(self) -> Task:
        """With the time law found."""
        return self.best.task

    @property
    def bound(self) -> None:
        """Of energy: none."""
        return None


def race(task: Task, starts: int = 0, tell: Callable = lambda fraction, what="": None) -> Race:
    """The least time, with the extension at rest, and by the path's own time law slowed or sped up as a whole.

    Raises what `least_time` raises.
    """
    task = replace(task, order=2)
    begin = process_time()
    found = least_time(task, starts, tell=lambda fraction, what="": tell(0.6 * fraction, what))
    rows = [Row("least time", found.plan, found.time, process_time() - begin)]
    others = (
        ("extension at rest", lambda: _at_rest(found), ""),
        (
            "own time law, as a whole",
            lambda: shortest_time(task),
            "a motion that takes it was found",
        ),
    )
    for i, (name, make, note) in enumerate(others):
        tell(0.6 + 0.2 * i, name)
        begin = process_time()
        try:
            rows.append(Row(name, None, make(), process_time() - begin, note))
        except InputError as why:
            rows.append(Row(name, None, None, process_time() - begin, why.message))
    return Race(found, tuple(rows))


def _at_rest(found: Fastest) -> float:
    """s, with the extension where it starts."""
    task = found.task
    curve = found.law.curve
    if task.end is not None and task.end != task.start:
        raise InputError("it shall end elsewhere")
    still = Curve(
        task, curve.way, curve.widths, np.full(len(curve.q), task.start), np.zeros(len(curve.q))
    )
    q = still.tables[0].q
    for i, (low, high) in enumerate(task.ranges[:2]):
        if (
            (q[:, i] < low - 1e-9).any()
            or (q[:, i] > high + 1e-9).any()
            or not np.isfinite(q).all()
        ):
            raise InputError("the path is out of reach so")
    r = curve.way.sample(curve.edge, np.arange(len(curve.edge)) % curve.n / curve.n)[0]
    if (np.abs(task.crane.stretch([r[:, 0], r[:, 1]], task.start)) >= 1).any():
        raise InputError("the path is out of reach so")
    return time_law(still).time


# ---- in words -------------------------------------------------------------------------------------------------------
def title(race: Race) -> str:
    """'HIAB XS 031, planar · LoadSensing · least time, 3 edges, 6.52 m'."""
    way = race.found.law.curve.way
    edges = f"{len(way.edges)} edge{'s' if len(way.edges) > 1 else ''}"
    return (
        f"{race.task.crane.name} · {race.task.supply.title} · least time · {edges}, "
        f"{format_quantity(float(way.lengths.sum()), 'm')}"
    )


def cells(race: Race) -> list[tuple[str, ...]]:
    """The table, without its head."""
    made = []
    for row in race.rows:
        over = "" if row is race.rows[0] else _over(row.time, race.rows[0].time)
        energy = "–" if row.plan is None else amount(row.plan.energy)
        time = "–" if row.time is None else format_quantity(row.time, "s", 4)
        made.append((row.name, time, over, energy, format_quantity(row.seconds, "s", 2), row.note))
    return made


def _over(time: float | None, least: float) -> str:
    """By which share a time is longer than the least."""
    return "–" if time is None else share(time / least - 1)


def text(race: Race) -> str:
    """The table and what may be said of it."""
    rows = [HEAD, *cells(race)]
    widths = [max(width(clean(r[i])) for r in rows) for i in range(5)]
    lines = [
        GAP.join(clean(c) + " " * (w - width(clean(c))) for c, w in zip(r, [*widths, 0])).rstrip()
        for r in rows
    ]
    return "\n".join([*lines, *remarks(race)])


def remarks(race: Race) -> list[str]:
    """Bracket, convergence, starts, limits."""
    found = race.found
    crane = race.task.crane
    said = [
        f"bracket: no motion takes less than {format_quantity(found.bound, 's', 4)} "
        f"({found.bound / found.time - 1:.1%}; speeds, accelerations, joints and flow relaxed; numerical)",
        "intervals: "
        + (
            f"finer ones may win about {found.estimate / found.time:.2%} more (estimated from their convergence)"
            if np.isfinite(found.estimate)
            else "what finer ones may win is not known"
        ),
    ]
    if found.starts:
        same = sum(abs(t / found.time - 1) < 1e-3 for t in found.starts)
        ended = [t for t in found.starts if np.isfinite(t)]
        lost = len(found.starts) - len(ended)
        said.append(
            f"starts: {same} of {len(found.starts)} random extensions end at the same time within 0.1 %"
            + (f", the slowest at {format_quantity(max(ended), 's', 4)}" if ended else "")
            + (f"; {lost} at no motion" if lost else "")
        )
    full = [words(u.name, crane) for u in found.used if u.name in LIMITS and u.share > FULL]
    over = max(u.share for u in found.used) - 1
    said.append(
        f"used up somewhere: {', '.join(full)}; of {len(found.law.shares[0])} instants none passes a limit"
        + (f" by more than {over:.0e}" if over > 0 else "")
    )
    said.append(
        f"saturated: at {saturated(found):.0%} of the time some cylinder or the pump is at a limit. Nothing is left for a "
        "controller: to drive such a motion, plan it for limits below the machine's own"
    )
    return said


def saturated(found: Fastest) -> float:
    """Part of the time in which some limit is used up."""
    t, shares = found.law.shares
    most = np.max([s for name, s in shares.items() if name in LIMITS], axis=0)
    at_limit = np.minimum(most[1:], most[:-1]) > FULL
    return float(np.sum(np.diff(t) * at_limit) / found.time)


def words(name: str, crane) -> str:
    """'speed of the lift' of 'speed 0'."""
    what, _, i = name.partition(" ")
    return f"{what} of the {crane.actuator_names[int(i)]}" if i.isdigit() else name


def document(race: Race) -> dict:
    """For JSON."""
    found = race.found
    return {
        "crane": race.task.crane.name,
        "supply": race.task.supply.title,
        "objective": "time",
        "time": found.time,
        "unit": "s",
        "bound": found.bound,
        "estimate": found.estimate if np.isfinite(found.estimate) else None,
        "energy": race.best.energy,
        "history": [{"intervals": n, "time": t} for n, t in found.history],
        "starts": [t if np.isfinite(t) else None for t in found.starts],
        "limits": [
            {"name": words(u.name, race.task.crane), "used": u.share, "at": u.t} for u in found.used
        ],
        "motions": [
            {"name": r.name, "time": r.time, "seconds": r.seconds, "note": r.note}
            for r in race.rows
        ],
        "t": race.task.times.tolist(),
        "q_3": race.best.q_3.tolist(),
    }
