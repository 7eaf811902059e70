"""A comparison of plans in words: for the terminal, and as JSON."""

from __future__ import annotations

import numpy as np

from workbench.commands.terminal import GAP, clean, width
from workbench.contract.capabilities import Drivable
from workbench.contract.units import format_quantity
from workbench.planning.compare import Comparison

HEAD = ("planner", "energy", "over the least", "smoothed", "creeping", "time", "")


def amount(value: float | None) -> str:
    """An energy for people."""
    return "–" if value is None else format_quantity(value, "J")


def share(excess: float) -> str:
    """'+7.9 %', '0 %' for what is less than can be shown."""
    return "0 %" if abs(excess) < 5e-4 else f"{excess:+.1%}".replace("%", " %")


def saved(energy: float, other: float) -> float:
    """Part of another motion's energy that is saved; 0 where the other takes none."""
    return 1 - energy / other if other else 0.0


def exactly(part: float) -> str:
    """'−4.12 %'."""
    return f"{part:.2%}".replace("%", " %").replace("-", "−")


def title(task) -> str:
    """'HIAB XS 031, planar · LoadSensing · 30 s in 150 steps'."""
    limits = "speeds limited" if task.order == 1 else "speeds and accelerations limited"
    length = f"{format_quantity(task.path.duration, 's')} in {task.steps} steps"
    return f"{task.crane.name} · {task.supply.title} · {length} · {limits}"


def text(found: Comparison) -> str:
    """The table and what may be said of it."""
    rows = [HEAD]
    for row in found.rows:
        excess = found.excess(row)
        over = "–" if excess is None else "" if row is found.rows[0] else share(excess)
        steps = "–" if row.creeping is None else f"{row.creeping} of {found.task.steps}"
        rows.append(
            (
                row.name,
                amount(row.energy),
                over,
                amount(row.driven),
                steps,
                format_quantity(row.seconds, "s", 2),
                row.note,
            )
        )
    widths = [max(width(clean(r[i])) for r in rows) for i in range(6)]
    lines = [
        GAP.join(clean(c) + " " * (w - width(clean(c))) for c, w in zip(r, [*widths, 0])).rstrip()
        for r in rows
    ]
    return "\n".join([*lines, *remarks(found)])


def remarks(found: Comparison) -> list[str]:
    """Grid convergence, bound, neighbours, creeping."""
    plan = found.best
    part = lambda energy: energy / found.best.energy if found.best.energy else 0.0
    if plan.estimate is None:
        said = [
            "grids: only one of them found a motion, how much lower the optimum of these steps lies is not known"
        ]
    else:
        words = (
            "less than 0.01 %"
            if part(plan.estimate) < 1e-4
            else f"at most about {exactly(part(plan.estimate))}"
        )
        said = [
            f"grids: the optimum of these steps lies {words} lower (estimated from the grids' convergence)"
        ]
    if found.bound is not None:
        below = f"{exactly(part(found.bound) - 1)}; " if plan.energy else ""
        said.append(f"bound: no motion needs less than {amount(found.bound)} ({below}numerical)")
    gain = part(found.around.gain)
    said.append(
        f"neighbours: {found.around.trials} tried, {found.around.allowed} within the limits, "
        + ("none is better" if gain <= 0 else f"the best is {gain:.1e} better")
    )
    if isinstance(found.task.crane, Drivable):
        from workbench.planning.drive import extension

        q = found.task.crane.joints(found.task.tips[0], float(extension(plan, np.zeros(1))[0]))
        said.append(
            f"to drive it: scenario: {{start: [{', '.join(f'{float(v):.9g}' for v in found.task.crane.positions(q))}], "
            "reference: {type: Recorded, space: cartesian, file: …}}"
        )
    row = found.rows[0]
    if row.creeping and found.task.supply.draws:
        more = share(part(row.driven) - 1) if plan.energy else "from nothing"
        said.append(
            f"creeping: in {row.creeping} steps a loaded cylinder sinks below 2 mm/s and asks for no pressure; "
            f"the same motion, smoothed to be driven, takes {amount(row.driven)} ({more}). "
            "A supply with creep: 3 mm/s, or more, does not lean on that"
        )
    return said


def document(found: Comparison) -> dict:
    """For JSON."""
    plan = found.best
    return {
        "crane": found.task.crane.name,
        "supply": found.task.supply.title,
        "duration": found.task.path.duration,
        "steps": found.task.steps,
        "order": found.task.order,
        "energy": plan.energy,
        "unit": "J",
        "estimate": plan.estimate,
        "bound": found.bound,
        "neighbours": {
            "trials": found.around.trials,
            "allowed": found.around.allowed,
            "gain": found.around.gain,
        },
        "history": [{"spacing": h, "energy": e} for h, e in plan.history],
        "planners": [
            {
                "name": r.name,
                "energy": r.energy,
                "smoothed": r.driven,
                "creeping": r.creeping,
                "seconds": r.seconds,
                "note": r.note,
            }
            for r in found.rows
        ],
        "q_3": plan.q_3.tolist(),
    }
