"""Claims on the signals of a run: tool error, pressures; what all claims on a run say alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity as say
from workbench.contract.units import quantity
from workbench.run.targets import parse, target_name
from workbench.verification.run import Run, error_unit
from workbench.verification.temporal import ready
from workbench.verification.temporal.sentence import Answer, Sentence
from workbench.verification.verdict import Verdict


def diverged(key: str, claim_text: str, run: Run, counted: bool, source: str) -> Verdict | None:
    """A violated verdict for a run that did not reach its end, else None; undecided where integrator or equations end."""
    if run.log.status.completed:
        return None
    if not run.log.status.followed:
        return Verdict(key, claim_text, None, worst=run.end, source=source, counted=counted)
    return Verdict(
        key,
        claim_text,
        False,
        "sampled",
        worst=run.end,
        source=source,
        counted=counted,
        data={"t_end": run.log.status.t_end, "state": run.log.status.state},
        instant=float(run.log.time[-1]),
    )


def too_short(
    key: str, claim_text: str, run: Run, settle: float, counted: bool, source: str
) -> Verdict | None:
    """An undecided verdict for a run that ends before anything need have settled, else None."""
    end = float(run.log.time[-1])
    if end > settle:
        return None
    return Verdict(
        key,
        claim_text,
        None,
        worst=f"the run ends at {end:.3g} s, within the {settle:g} s allowed for settling: run "
        "it longer, or allow less",
        source=source,
        counted=counted,
    )


def check_tracking(claim, run: Run) -> Verdict:
    """Largest tool error after settling: `always[settle, end] (tool_error <= error)`."""
    unit = run.error_unit
    source = "requirement on the run"
    allowed = size_of(claim, "error", [unit])
    part = run.settled(claim.settle)
    lasts = float(run.log.time[-1]) > claim.settle
    begin = min(claim.settle, float(run.log.time[part.start])) if lasts else claim.settle
    sentence = ready.tracking(allowed, unit, begin)
    text = f"tracking: {sentence.shown}"
    gone = diverged("tracking", text, run, claim.counted, source)
    if gone:
        return gone
    short = too_short("tracking", text, run, claim.settle, claim.counted, source)
    if short:
        return short
    said = partial(Verdict, "tracking", text, source=source, counted=claim.counted)
    e = run.tool_error
    if e is None:
        return said(None, worst="nothing says where the tool or the outputs should be")
    lost = np.flatnonzero(~np.isfinite(e[part])) + part.start
    if len(lost):
        at = float(run.log.time[lost[0]])
        words = f"the error is beyond all numbers at t = {at:.4g} s"
        return said(False, "sampled", worst=words, instant=at)
    answer = sentence.on(run.log.time, {"tool_error": e})
    k = answer.sample
    return said(
        answer.holds,
        "sampled",
        answer.margin,
        unit,
        allowed,
        f"{say(e[k], unit, 3)} at t = {run.log.time[k]:.2f} s",
        data={"largest": float(e[k]), "rms": float(np.sqrt(np.mean(e[part] ** 2)))},
        instant=float(run.log.time[k]),
    )


def check_pressures(claim, run: Run) -> Verdict:
    """All chamber pressures inside their limits; an accompanying function does not bound their common mode."""
    high = _highest_allowed(claim, run.loop.plant)
    sentence = ready.pressures(claim.low, high)
    text = f"pressures: {sentence.shown}"
    source = "pressure limits, checked on the run"
    gone = diverged("pressures", text, run, claim.counted, source)
    if gone:
        return gone
    said = partial(Verdict, "pressures", text, source=source, counted=claim.counted)
    if not run.loop.plant.pressure_names:
        return said(None, worst="the plant names no chamber pressures")
    answer, lowest, highest = _chambers(sentence, run)
    k = answer.sample
    below = answer.clause.startswith("p_lowest")
    worst = int(lowest[:, k].argmin() if below else highest[:, k].argmax())
    rooms = np.minimum(lowest.min(axis=1) - claim.low, high - highest.max(axis=1))
    hollow = f"; {run.hollow[1]}" if run.hollow[1] else ""
    return said(
        answer.holds,
        "sampled",
        answer.margin,
        "Pa",
        claim.low if below else high,
        _pressure_at(run, worst, k) + hollow,
        data=dict(zip(run.loop.plant.pressure_names, rooms.tolist())),
        instant=float(run.log.time[k]),
    )


def _highest_allowed(claim, plant) -> float:
    """The upper limit: stated, or 1.25 times the highest supply pressure; infinite where there is neither."""
    if claim.high is not None:
        return claim.high
    return np.inf if plant.p_top is None else 1.25 * plant.p_top


def _ranges(run: Run, name: str) -> tuple[np.ndarray, np.ndarray]:
    """A chamber's pressure; where valves leave open which of those that balance it is, from where to where."""
    known = run.valves.ranges.get(name) if run.valves else None
    if known is not None:
        return known
    pressure = run.log.array(name)
    return pressure, pressure


def _pressure_at(run: Run, chamber: int, k: int) -> str:
    """The pressure of a chamber at a sample, in words."""
    name = run.loop.plant.pressure_names[chamber]
    a, b = (float(p[k]) for p in _ranges(run, name))
    at = say(a, "Pa") if a == b else f"anywhere between {say(a, 'Pa')} and {say(b, 'Pa')}"
    return f"{name} = {at} at t = {run.log.time[k]:.2f} s"


def _chambers(sentence: Sentence, run: Run) -> tuple[Answer, np.ndarray, np.ndarray]:
    """What is said of chambers, a row each, with the lowest and highest pressures that were judged.

    Where a pressure may be anywhere in a range, the sentence holds if it does whichever it is, and is violated if it is so
    whichever it is; between these it is undecided.
    """
    ranges = [_ranges(run, name) for name in run.loop.plant.pressure_names]
    low_ends, high_ends = (np.array([pair[i] for pair in ranges]) for i in (0, 1))
    best = _between(sentence, run, high_ends, low_ends)
    if best.holds is False:
        return best, high_ends, low_ends
    worst = _between(sentence, run, low_ends, high_ends)
    return replace(worst, holds=True if worst.holds else None), low_ends, high_ends


def _between(sentence: Sentence, run: Run, lowest: np.ndarray, highest: np.ndarray) -> Answer:
    """What the run says where chambers (rows) have these pressures at least, and at most."""
    columns = {"p_lowest": lowest.min(axis=0), "p_highest": highest.max(axis=0)}
    return sentence.on(run.log.time, columns)


def floor_asked(claim, loop) -> None:
    """InputError for a floor that is no size in the unit of what follows a reference."""
    size_of(claim, "floor", error_units(loop))


def size_of(claim, field: str, units: Sequence[str]) -> float:
    """A size in SI: a number as it is, a text in the first of these units that suits it. Raises InputError."""
    value = getattr(claim, field)
    refused = None
    for unit in dict.fromkeys(units):
        try:
            number = quantity(value, unit)
        except InputError as why:
            refused = refused or why
            continue
        if not number > 0:
            raise InputError(
                f"{field}: must be greater than zero, got {value}",
                mend="give a value greater than zero",
            )
        return number
    if refused:
        raise InputError(f"{field}: {refused.message}", mend=refused.mend)
    return float(quantity(value, "1"))


def error_units(loop) -> list[str]:
    """Units of what can oscillate: the outputs that are to follow a reference, the joints of a machine with a tool."""
    plant = loop.plant
    known = {s.name: s.unit for s in (*plant.states, *plant.outputs)}
    asked = (
        []
        if plant.has_tool
        else [parse(s.name)[0] for s in loop.inputs if s.kind == "reference" and "@" not in s.name]
    )
    followed = [known[n] for n in asked if n in known]
    return (
        followed
        or [known[n] for n in plant.joint_names if n in known]
        or [s.unit for s in plant.outputs]
    )


def in_si(claim, loop):
    """The claim with sizes given as text ("10 um") as numbers."""
    if claim.reads_sizes:
        return claim
    units = {"floor": error_units(loop), "error": [error_unit(loop)]}
    texts = [f for f in units if isinstance(vars(claim).get(f), str)]
    return replace(claim, **{f: size_of(claim, f, units[f]) for f in texts}) if texts else claim


def joint_errors(run: Run) -> dict[str, np.ndarray]:
    """Desired minus actual, per joint or per output a reference refers to (positions themselves where nothing is desired)."""
    demand = run.demand
    plant = run.loop.plant
    if demand.reference is not None and (demand.reference.space == "output" or not plant.has_tool):
        return {
            n: run.log.array(target_name(n, 0)) - run.log.array(n)
            for n, order in demand.wanted
            if order == 0
        }
    q = {n: run.log.array(n) for n in plant.joint_names}
    if demand.reference is None:
        return q
    wanted = demand.joints(run.log.time)
    return {n: wanted[:, i] - q[n] for i, n in enumerate(q)}
