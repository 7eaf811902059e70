"""Practical stability decided on what the runs from other starts showed.

The verdict is "violated" where a run ends early, a judged signal grows or stays away, or the machine does not settle; "undecided"
where nothing moved or something is still on its way; else it holds, with v ≤ bound where the law states an accompanying function.
"""

from __future__ import annotations

import math

from workbench.contract.units import format_quantity as say
from workbench.verification.ledger.balance import has_ledger
from workbench.verification.linear.modes import Modes
from workbench.verification.observed.oscillation import floors
from workbench.verification.practical.disturbed import Outcome, floor_of, restless
from workbench.verification.practical.nearer import nearer, nothing_shown, taken
from workbench.verification.practical.nominal import Nominal
from workbench.verification.practical.returned import (
    in_words,
    neutral_pressures,
    row,
    share_given_back,
    slowest_return,
)
from workbench.verification.practical.returning import Return, severity
from workbench.verification.verdict import Verdict

SEEN = 0.1  # share of what the slowest mode lets it fall by: what a signal must have fallen by, to be on its way
WATCHED = 1 / 3  # share of a run: from the end of its first half to its last sixth


def decided(
    run, known: Nominal, starts, outcomes: list[Outcome], duration: float, said, modes: Modes
) -> Verdict:
    """The verdict, in the order of what weighs most; `said(holds, worst, …)` makes it of its parts."""
    run.kept["outcomes"] = outcomes
    starts = taken(starts, outcomes)
    ledger = has_ledger(run.loop)
    data = evidence(known, starts, outcomes, duration, ledger)
    n = len(outcomes)
    for i, outcome in enumerate(outcomes):
        if outcome.gone:
            holds = False if outcome.followed else None
            worst = f"start {i + 1} of {n}: {outcome.gone}; {starts[i].words}"
            return said(holds, worst, data=data)
    unrest = next((o.unrest for o in outcomes if o.unrest), restless(run))
    i, worst = max(enumerate(o.worst for o in outcomes), key=lambda e: severity(e[1]))
    if worst is None:
        unseen = "no signal left its resolution from any other start: too little was seen"
        return said(None, unseen, data=data)
    if ledger and max([known.v, *(o.v for o in outcomes)]) > known.bound:
        return of_storage(known, outcomes, said, data)
    where = f"start {i + 1} of {n}"
    if worst.word in ("growing", "staying") and not worst.lenient:
        also = f"; it does not settle: {unrest}" if unrest else ""
        stays = f"{where}: {in_words(worst, duration)}{also}; it began with {starts[i].words}"
        slow = comes_slowly(worst, modes, duration)
        if slow:
            return said(None, f"{stays}; {slow}; make the run longer (`longest`)", data=data)
        return said(False, stays, data=data)
    if unrest:  # also below a bound that was stated: it is one of v, and valves may hammer where little moves
        return said(False, f"does not settle: {unrest}", data=data)
    if worst.word == "returning" and not worst.lenient:
        slow = f"{where}: {in_words(worst, duration)}: too slow to be seen to its end"
        return said(None, f"{slow}; make the run longer (`longest`)", data=data)
    unshown = nothing_shown(run, outcomes)
    if unshown:
        return said(None, unshown, data=data)
    data |= {"violation_probability_at_95": 1 - 0.05 ** (1 / n)}
    neutral = (*neutral_pressures(outcomes), *nearer(outcomes))
    if ledger:
        slowest = f"{slowest_return(outcomes)}; {too_small(run)}"
        return of_storage(known, outcomes, said, data, slowest, neutral)
    return said(
        True,
        f"{slowest_return(outcomes)}; {n} other starts, {say(duration, 's', 3)} each; {too_small(run)}",
        data=data,
        assumptions=neutral,
        margin=share_given_back(outcomes),
        unit="1",
    )


def too_small(run) -> str:
    """Which swings are too small to be looked for, in words."""
    told = " or ".join(floors(run, floor_of(run)))
    return f"swings below {told} are not looked for" if told else "swings are not looked for"


def comes_slowly(worst: Return, modes: Modes, duration: float) -> str:
    """In words, why what stays, or swings out, may be on its way: a mode that decays, for longer than the run; else ""."""
    mode = modes.slowest_on_the_way or modes.slowest
    if mode is None or modes.unstable:
        return ""
    if duration < mode.period < math.inf:
        return f"linearised, a mode {mode.words}"
    if worst.word != "staying":
        return ""
    fall = -math.expm1(-WATCHED * duration / mode.time_constant)
    if worst.last >= (1 - SEEN * fall) * worst.largest:
        return ""
    return f"linearised, a mode {mode.words}" if mode.settles > duration else ""


def evidence(
    known: Nominal, starts, outcomes: list[Outcome], duration: float, ledger: bool
) -> dict:
    """What the runs showed, as plain data for JSON and report."""
    data = {
        "runs": len(outcomes),
        "duration": duration,
        "starts": [dict(s.amounts) for s in starts],
        "returns": [[row(r) for r in o.found] for o in outcomes],
        "violation_probability_at_95": None,
    }
    if not ledger:
        return data
    largest = max([known.v, *(o.v for o in outcomes)])
    return data | {
        "bound": known.bound,
        "stated": known.stated,
        "nominal": known.v,
        "largest": largest if math.isfinite(largest) else None,
    }


def of_storage(known: Nominal, outcomes, said, data, slowest: str = "", neutral=()) -> Verdict:
    """The verdict on v against its bound."""
    i = max(range(len(outcomes)), key=lambda k: outcomes[k].v)
    seen = outcomes[i]
    v, t, cause = (
        (seen.v, seen.t, seen.cause) if seen.v > known.v else (known.v, known.t, known.cause)
    )
    set_on = "bound stated" if known.stated else "bound set on the nominal run"
    tail = f"; {slowest}" if slowest else ""
    return said(
        v <= known.bound,
        f"{say(v, 'J', 3)} at t = {t:.2f} s, {cause}; {len(outcomes)} other starts, {set_on}{tail}",
        margin=known.bound - v,
        unit="J",
        limit=known.bound,
        data=data,
        assumptions=neutral,
    )
