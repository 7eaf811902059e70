"""Practical stability of any loop: from other starts it comes back to its path, and v, where a law states one, stays below a bound.

The loop is disturbed (`starts`), runs for at least twice the scenario's duration beside an undisturbed run with the same reference,
and is judged where a user looks: at the tool or the outputs that follow a reference, at every position (joints that nothing holds
included) and at every chamber pressure (`returning`). Where a signal is still on its way at the end, the run is made longer, up
to a stated limit, before the answer is that too little was seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from workbench.contract.units import format_quantity as say
from workbench.verification.contained import containment
from workbench.verification.disturbed import (
    FLOOR,
    Outcome,
    disturbed,
    lasting,
    restless,
    settled_storage,
    walking,
)
from workbench.verification.ledger import has_ledger
from workbench.verification.modes import Modes, slowest_and_unstable
from workbench.verification.requirements import diverged
from workbench.verification.returning import Return, severity
from workbench.verification.run import Run
from workbench.verification.scales import storage_floor
from workbench.verification.starts import Start, drawn
from workbench.verification.verdict import Assumption, Verdict

HEADROOM = 10.0  # a bound nobody stated: so many times the largest settled v of the nominal run
WORST_ERROR = 20e-3  # m: no bound is set on a run with a larger tool error
SETTLE = 3.0  # s allowed for settling in the runs of a scan
SOURCE = "runs from other starts over twice the duration, beside the undisturbed one"
KEY = "practical-stability"


def check_practical(
    claim, run: Run, allowed: float | None = None, tick: Callable[[], None] | None = None
) -> Verdict:
    """Back on the path from every other start; v ≤ bound after settling, where the law states an accompanying function.

    allowed: how far the tool, or an output that follows a reference, may stay away (that of the tracking claim). A bound on v that
    nobody stated is set on the nominal run, which must settle: ten times a limit cycle would bound a limit cycle.
    """
    run = lasting(run, claim.settle)
    known = _nominal(claim, run)
    gone = diverged(KEY, known.text, run, claim.counted, SOURCE)
    if gone:
        return gone
    said = lambda holds, worst, **more: Verdict(
        KEY,
        known.text,
        holds,
        None if holds is None else "sampled",
        worst=worst,
        source=SOURCE,
        counted=claim.counted,
        **more,
    )
    if run.left[1]:
        return said(False, run.left[1])
    if known.unsound:
        return said(
            None,
            f"a bound set on a run that is itself not sound proves nothing ({known.unsound}); state one",
            data={"nominal": known.v},
        )
    if claim.runs < 1:
        return said(None, "no other starts were asked for (runs: 0)")
    starts = drawn(run, claim.runs, claim.spread)
    modes = slowest_and_unstable(run)
    outcomes, duration = disturbed(claim, run, starts, allowed, modes, tick)
    verdict = _decided(run, known, starts, outcomes, duration, said)
    late = _late(claim, run, outcomes) if verdict.holds else None
    if late is not None:
        holds = None if claim.within is None else False
        return said(holds, f"{late}; was: {verdict.worst}", data=verdict.data)
    return _with_modes(claim, run, verdict, modes, starts[0], allowed) if verdict.holds else verdict


def _late(claim, run: Run, outcomes: list[Outcome]) -> str | None:
    """In words what came back later than it may; None where nothing did."""
    allowed = claim.within or max(run.scenario.length(), claim.settle)
    back = [
        r
        for o in outcomes
        for r in o.found
        if r.moved and r.word == "back" and not r.signal.pressure
    ]
    last = max(back, key=lambda r: r.after, default=None)
    if last is None or last.after <= allowed:
        return None
    pace = (
        f"{last.signal.name} is back only after {say(last.after, 's', 3)}, at {last.rate:.2g} 1/s"
    )
    if claim.within:
        return f"{pace}, beyond the {say(allowed, 's', 3)} stated"
    return f"{pace}, beyond the {say(allowed, 's', 3)} that the scenario lasts; state `within` if so slow a loop is meant"


def _with_modes(
    claim, run: Run, verdict: Verdict, modes: Modes, start: Start, allowed: float | None
) -> Verdict:
    """What holds on the runs, held against what the linearised loop knows."""
    data = {**verdict.data, "modes": modes.words}
    found = containment(run, modes, start, _quiet(run, allowed), claim.longest)
    if found is None:
        return replace(verdict, data=data)
    if found.holds:
        return replace(verdict, data=data, assumptions=(*verdict.assumptions, found.assumption()))
    strength = None if found.holds is None else "sampled"
    return replace(
        verdict,
        holds=found.holds,
        strength=strength,
        margin=None,
        data=data,
        worst=f"{found.words}; was: {verdict.worst}",
    )


def _quiet(run: Run, allowed: float | None) -> float:
    """What an error may still move by at rest: a tenth of what it may be."""
    return 0.1 * allowed if allowed else FLOOR


@dataclass(frozen=True)
class _Nominal:
    """The bound on v and what the nominal run says about it; v is NaN for a law without an accompanying function."""

    v: float
    t: float
    cause: str
    bound: float
    stated: bool
    unsound: str

    @property
    def text(self) -> str:
        """The claim as a sentence."""
        back = "back on its path from other starts"
        return (
            f"practically stable, v ≤ {say(self.bound, 'J', 3)}, {back}"
            if math.isfinite(self.bound)
            else f"practically stable: {back}"
        )


def _nominal(claim, run: Run) -> _Nominal:
    if not has_ledger(run.loop):
        return _Nominal(math.nan, math.nan, "", math.nan, True, "")
    stated = claim.bound is not None
    v, t, cause = settled_storage(run if stated else walking(run, claim.settle), claim.settle)
    bound = claim.bound if stated else max(HEADROOM * v, storage_floor(run))
    return _Nominal(v, t, cause, bound, stated, "" if stated or run.left[1] else _unsound(run))


def _unsound(run: Run) -> str:
    """Why no bound may be set on this run: it oscillates, or its tool is far off; empty when neither."""
    e = run.tool_error
    far = e is not None and float(e[run.settled(SETTLE)].max()) > WORST_ERROR
    return restless(run) or (
        f"error {say(float(e[run.settled(SETTLE)].max()), run.error_unit, 3)}" if far else ""
    )


def _decided(
    run, known: _Nominal, starts, outcomes: list[Outcome], duration: float, said
) -> Verdict:
    n = len(outcomes)
    run.kept["outcomes"] = outcomes
    data = {
        "runs": n,
        "duration": duration,
        "starts": [dict(s.amounts) for s in starts],
        "returns": [[_row(r) for r in o.found] for o in outcomes],
        "violation_probability_at_95": None,
    }
    if has_ledger(run.loop):
        seen = [o.v for o in outcomes]
        largest = max([known.v, *seen])
        data |= {
            "bound": known.bound,
            "stated": known.stated,
            "nominal": known.v,
            "largest": largest if math.isfinite(largest) else None,
        }
    for i, outcome in enumerate(outcomes):
        if outcome.gone:
            return said(
                False if outcome.followed else None,
                f"start {i + 1} of {n}: {outcome.gone}; {starts[i].words}",
                data=data,
            )
    unrest = next((o.unrest for o in outcomes if o.unrest), restless(run))
    also = f"; it does not settle: {unrest}" if unrest else ""
    i, worst = max(enumerate(o.worst for o in outcomes), key=lambda e: severity(e[1]))
    where = f"start {i + 1} of {n}"
    if worst is None:
        return said(
            None,
            "no signal left its resolution from any other start: too little was seen",
            data=data,
        )
    if has_ledger(run.loop) and largest > known.bound:
        return _of_storage(known, outcomes, said, data)
    if worst.word in ("growing", "staying") and not worst.lenient:
        return said(
            False,
            f"{where}: {_words(worst, duration)}{also}; it began with {starts[i].words}",
            data=data,
        )
    if unrest and not (known.stated and has_ledger(run.loop)):
        return said(
            False, f"does not settle: {unrest}; no bound was stated that could allow it", data=data
        )
    if worst.word == "returning" and not worst.lenient:
        return said(
            None,
            f"{where}: {_words(worst, duration)}: too slow to be seen to its end; make the run longer (`longest`)",
            data=data,
        )
    data |= {"violation_probability_at_95": 1 - 0.05 ** (1 / n)}
    if has_ledger(run.loop):
        return _of_storage(known, outcomes, said, data, _slowest(outcomes), _neutral(outcomes))
    margin = _room(outcomes)
    return said(
        True,
        f"{_slowest(outcomes)}; {n} other starts, {say(duration, 's', 3)} each",
        data=data,
        assumptions=_neutral(outcomes),
        margin=margin,
        unit="1",
    )


def _words(one: Return, duration: float) -> str:
    unit = one.signal.unit
    end = {
        "growing": "grows away to",
        "staying": "stays",
        "returning": "is still",
        "back": "is back to",
    }[one.word]
    return (
        f"{one.signal.name} {end} {say(one.last, unit, 3)} off at {say(duration, 's', 3)}, of {say(one.largest, unit, 3)} "
        "that it was off"
    )


def _of_storage(known: _Nominal, outcomes, said, data, slowest: str = "", neutral=()) -> Verdict:
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


def _slowest(outcomes: list[Outcome]) -> str:
    """The slowest return that was seen, in words."""
    back = [
        r
        for o in outcomes
        for r in o.found
        if r.moved and r.word == "back" and math.isfinite(r.rate) and r.rate > 0
    ]
    if not back:
        return "back at once"
    last = max(back, key=lambda r: r.after)
    return (
        f"slowest back: {last.signal.name} after {say(last.after, 's', 3)}, at {last.rate:.2g} 1/s"
    )


def _neutral(outcomes: list[Outcome]) -> tuple[Assumption, ...]:
    """Chamber pressures that neither come back nor grow: the common mode of a cylinder at rest."""
    kept: dict[str, float] = {}
    for outcome in outcomes:
        for r in outcome.found:
            if r.lenient and r.moved and r.word != "back":
                kept[r.signal.name] = max(kept.get(r.signal.name, 0.0), r.last)
    if not kept:
        return ()
    name = max(kept, key=kept.get)
    return (
        Assumption(
            "every chamber pressure comes back",
            None,
            None,
            "",
            f"{', '.join(kept)} stay up to {say(kept[name], 'Pa', 3)} off and do not grow",
            "the common mode of a cylinder's pressures is neutral at rest",
        ),
    )


def _room(outcomes: list[Outcome]) -> float | None:
    """Smallest share of the disturbance that was given back, 1 for all of it; None where no number says so."""
    moved = [
        r for o in outcomes for r in o.found if r.moved and not r.signal.pressure and r.largest > 0
    ]
    room = float(min((1 - r.last / r.largest for r in moved), default=0.0))
    return room if math.isfinite(room) else None


def _row(r: Return) -> dict:
    plain = lambda value: float(value) if math.isfinite(value) else None
    return {
        "signal": r.signal.name,
        "word": r.word,
        "largest": r.largest,
        "last": r.last,
        "after": plain(r.after),
        "rate": plain(r.rate),
        "unit": r.signal.unit,
        "moved": r.moved,
    }
