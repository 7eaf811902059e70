"""Plans driven, in words: for the terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.commands.terminal import GAP, clean, width
from workbench.contract.units import format_quantity
from workbench.planning.driven import Drive, Drives
from workbench.planning.table import amount, saved, share
from workbench.verification.observed.pump import fills

HEAD = (
    "driven",
    "planned",
    "metered",
    "saved, planned",
    "saved, metered",
    "gap",
    "tip error",
    "does not hold",
)


def rows(found: Drives) -> list[tuple[str, ...]]:
    """One line a motion."""
    made = []
    for name, drive, why in found.rows:
        if drive is None:
            made.append((name, *["–"] * 6, why))
            continue
        a = drive.account
        best = found.done[0][1].account
        parts = (
            ("", "")
            if a is best
            else (percent(saved(best.planned, a.planned)), percent(saved(best.metered, a.metered)))
        )
        made.append(
            (
                name,
                amount(a.planned),
                amount(a.metered),
                *parts,
                percent(a.gap),
                format_quantity(float(drive.error.max()), "m", 2),
                failing(drive),
            )
        )
    return made


def percent(part: float) -> str:
    """'13.3 %', '0 %' for what is less than can be shown."""
    return share(part).removeprefix("+")


def failing(drive: Drive) -> str:
    """Claims that count and are violated or undecided, by name."""
    missed = [v for v in drive.examination.verdicts if v.counted and v.holds is not True]
    open_ = [v.key if v.holds is False else f"{v.key} (undecided)" for v in missed]
    return ", ".join(open_) or "–"


def remarks(found: Drives, verdicts: bool = True) -> list[str]:
    """What the optimum's energy is made of, what of its saving survives, what it leans on, what holds; verdicts: and why not."""
    best = found.rows[0][1]
    if best is None:
        return [f"{found.law} cannot drive the optimum: {found.rows[0][2]}"]
    a = best.account
    parts = "".join(
        f" {'+' if value > 0 else '−'} {name} {amount(abs(value))}"
        for name, value in a.terms.items()
        if abs(value) > 5e-4 * a.metered
    )
    said = [
        f"{found.law}, optimum: planned {amount(a.planned)}{parts} = {amount(a.metered * (1 - a.gap))}, "
        f"metered {amount(a.metered)}"
    ]
    supply = best.plan.task.supply
    if a.motor is not None and (supply.η != 1.0 or supply.map is not None):
        said.append(f"at the motor: planned {amount(best.plan.energy)}, drawn {amount(a.motor)}")
    others = [(name, d.account) for name, d in found.done[1:]]
    said += [survives(name, a, b) for name, b in compared(others)]
    if cheaper := [name for name, b in others if b.metered < a.metered]:
        said.append(f"cheaper once driven: {', '.join(cheaper)}")
    if supply.needs_forces:
        steps = best.plan.creeping()
        of = best.plan.task.steps
        said.append(
            f"{steps} of {of} planned steps lean on creeping"
            + (
                ": there a loaded cylinder sinks below 2 mm/s and the plan asks for no pressure"
                if steps
                else ""
            )
        )
    return [*said, *(held(best) if verdicts else held(best)[:1]), *starved(best)]


def compared(others) -> list:
    """The pseudo-inverses among the others, or the costliest where none could be driven."""
    plain = [entry for entry in others if entry[0].startswith("pseudo-inverse")]
    return plain or ([max(others, key=lambda e: e[1].planned)] if others else [])


def survives(name: str, a, b) -> str:
    """How much of the saving over another motion is left at the pump."""
    planned = saved(a.planned, b.planned)
    metered = saved(a.metered, b.metered)
    share = f"{metered / planned:.0%}".replace("%", " %") if metered > 0 else "nothing"
    left = f": {share} of it survives" if planned > 1e-3 else ""
    return f"saving over {name}: planned {percent(planned)}, metered {percent(metered)}{left}"


def held(best: Drive) -> list[str]:
    """Which claims hold under the optimum, what keeps others from holding."""
    verdicts = best.examination.verdicts
    counted = [v for v in verdicts if v.counted]
    said = [
        f"under the optimum {sum(v.holds is True for v in counted)} of {len(counted)} claims hold: "
        + ", ".join(v.key for v in counted if v.holds is True)
    ]
    said += [f"{v.key} {v.word}: {v.worst}" for v in counted if v.holds is not True]
    return said + [f"{v.claim}; {v.worst}" for v in verdicts if v.key == "hypotheses"]


def starved(best: Drive) -> list[str]:
    """Why chambers fell below vacuum, and what would mend it."""
    if not best.examination.run.hollow[1]:
        return []
    said = [f"not so: {a.text}; {a.worst}" for a in fills(best.examination.run) if a.holds is False]
    if said and best.plan.task.supply.standby is not None:
        said.append("mend: give the supply a standby pressure above what its cylinders need there")
    return said


def text(drives: Sequence[Drives]) -> str:
    """The tables and what may be said of them."""
    return "\n\n".join(_text(found) for found in drives)


def _text(found: Drives) -> str:
    lines = [(f"{HEAD[0]} by {found.law}", *HEAD[1:]), *rows(found)]
    last = len(HEAD) - 1
    widths = [max(width(clean(r[i])) for r in lines) for i in range(last)]
    table = [
        GAP.join(clean(c) + " " * (w - width(clean(c))) for c, w in zip(r, [*widths, 0])).rstrip()
        for r in lines
    ]
    return "\n".join([*table, *remarks(found)])


def document(drives: Sequence[Drives]) -> dict:
    """For JSON: what the first law drove, and what others did beside it."""

    def one(name, drive, why):
        if drive is None:
            return {"name": name, "note": why}
        a = drive.account
        return {
            "name": name,
            "planned": a.planned,
            "metered": a.metered,
            "terms": a.terms,
            "gap": a.gap,
            "motor": a.motor,
            "unit": "J",
            "error": {
                "max": float(drive.error.max()),
                "rms": float((drive.error**2).mean() ** 0.5),
                "unit": "m",
            },
            "creeping": drive.plan.creeping() if drive.plan.task.supply.needs_forces else None,
            "verdicts": {v.key: v.holds for v in drive.examination.verdicts},
        }

    told = [{"law": found.law, "motions": [one(*row) for row in found.rows]} for found in drives]
    return ({"driven": told[0]} if told else {}) | ({"driven_beside": told[1:]} if told[1:] else {})
