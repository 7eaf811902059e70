"""Plans driven, in words: for the terminal, and as JSON."""

from __future__ import annotations

from workbench.planning.driven import Drive, Drives
from workbench.planning.table import amount
from workbench.terminal import GAP, clean, width
from workbench.units import format_quantity

HEAD = ("driven", "planned", "metered", "against the first", "gap", "tip error", "does not hold")


def rows(found: Drives) -> list[tuple[str, ...]]:
    """One line a motion."""
    made = []
    least = found.done[0][1].account.metered if found.done else 0.0
    for name, drive, why in found.rows:
        if drive is None:
            made.append((name, "–", "–", "–", "–", "–", why))
            continue
        a = drive.account
        over = "" if drive is found.done[0][1] else f"{a.metered / least - 1:+.1%}"
        made.append((name, amount(a.planned), amount(a.metered), over, f"{a.gap:.1%}",
                     format_quantity(float(drive.error.max()), "m", 2), failing(drive)))
    return made


def failing(drive: Drive) -> str:
    """Claims that are violated or undecided, by name."""
    open_ = [v.key if v.holds is False else f"{v.key} (undecided)" for v in drive.study.verdicts if v.holds is not True]
    return ", ".join(open_) or "–"


def remarks(found: Drives) -> list[str]:
    """What the optimum's energy is made of, and how much of its saving survives."""
    best = found.rows[0][1]
    if best is None:
        return [f"{found.law} cannot drive the optimum: {found.rows[0][2]}"]
    a = best.account
    parts = ", ".join(f"{name} {amount(value)}" for name, value in a.terms.items() if abs(value) > 5e-4 * a.metered)
    said = [f"{found.law}, optimum: planned {amount(a.planned)} + {parts} = {amount(a.metered * (1 - a.gap))}, "
            f"metered {amount(a.metered)}"]
    others = [(name, d.account) for name, d in found.done[1:]]
    if others:
        name, b = max(others, key=lambda e: e[1].planned)
        said.append(f"saving over {name}: planned {1 - a.planned / b.planned:.1%}, metered {1 - a.metered / b.metered:.1%}")
    if cheaper := [name for name, b in others if b.metered < a.metered]:
        said.append(f"cheaper once driven: {', '.join(cheaper)}")
    if best.plan.task.supply.needs_forces and (steps := best.plan.creeping()):
        said.append(f"{steps} of {best.plan.task.steps} planned steps lean on creeping: there a loaded cylinder sinks "
                    "below 2 mm/s and the plan asks for no pressure")
    return said


def text(found: Drives) -> str:
    """The table and what may be said of it."""
    lines = [(f"{HEAD[0]} by {found.law}", *HEAD[1:]), *rows(found)]
    widths = [max(width(clean(r[i])) for r in lines) for i in range(6)]
    table = [GAP.join(clean(c) + " " * (w - width(clean(c))) for c, w in zip(r, [*widths, 0])).rstrip() for r in lines]
    return "\n".join([*table, *remarks(found)])


def document(found: Drives) -> dict:
    """For JSON."""
    def one(name, drive, why):
        if drive is None:
            return {"name": name, "note": why}
        a = drive.account
        return {"name": name, "planned": a.planned, "metered": a.metered, "terms": a.terms, "gap": a.gap, "unit": "J",
                "error": {"max": float(drive.error.max()), "rms": float((drive.error**2).mean() ** 0.5), "unit": "m"},
                "verdicts": {v.key: v.holds for v in drive.study.verdicts}}
    return {"law": found.law, "motions": [one(*row) for row in found.rows]}
