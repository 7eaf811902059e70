"""One tube: searched for, handed to the checker, and what its verdict says.

The search is in floats (`search`). What it finds is handed to the checker (`checker.judge`), which repeats every
inequality with outward rounding; the verdict is the checker's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity as say
from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.checker.judge import Seen, judge, measured
from workbench.verification.tube.checker.section import Refused
from workbench.verification.tube.checker.words import digests
from workbench.verification.tube.claim_settings import bounds, free, notes, sentence, widths
from workbench.verification.tube.end import alike, closing, narrowed, pace, shown
from workbench.verification.tube.kept_limits import beyond_limits
from workbench.verification.tube.measures import STORED, TOOL_ERROR
from workbench.verification.tube.posed import Posed, posed
from workbench.verification.tube.progress import Share
from workbench.verification.tube.rounds import Result, sized
from workbench.verification.tube.search import searched
from workbench.verification.verdict import Verdict

SOURCE = "contraction along the nominal run, outward-rounded intervals"
SMALLER = (0.3, 0.1, 0.01)  # shares of the starts that are tried where the whole set is not held
WORDS = {TOOL_ERROR: "tool error", STORED: "v"}  # of what is told; all others are errors
NO_REFERENCE = "the run has no reference of its name"
DIGITS = 6  # of what is known beside what is asked, which may differ little
NEUTRAL = 1e-9  # a lap that brings runs closer by less than this share decides nothing


@dataclass(frozen=True, eq=False)
class Found:
    """The verdict on a tube and, where the checker accepts one, the question, that tube and what was seen of it."""

    verdict: Verdict
    question: Posed | None = None
    tube: Tube | None = None
    seen: Seen | None = None


def judged(claim: Any, run: Any, share: Share, start: np.ndarray | None = None) -> Found:
    """The tube of this run from the starts of the claim, or why there is none and what smaller one holds.

    start: the middle of the starts, where it is known more exactly than the run's own.
    """
    half = widths(claim, run.loop)
    said = worded(claim, run.loop)
    try:
        question = posed(run, half, claim.substeps, free(claim, run.loop), start, claim.after)
    except InputError as why:
        return Found(said(None, worst=why.message))
    found = searched(question, share)
    if found.failed is not None:
        text = reason(question, found) + smaller(found, share)
        instant = question.begins + found.failed * question.tube.T
        return Found(said(None, worst=text, assumptions=notes(question), instant=instant))
    certificate = stated(found.tube, found.seen)
    try:
        seen = judge(certificate)
    except Refused as why:
        text = f"the checker refuses it: {why}"
        return Found(said(None, worst=text, assumptions=notes(question)))
    outside = beyond_limits(run, question, certificate, seen)
    verdict = decided(claim, run.loop, question, certificate, seen, said, outside)
    return Found(verdict, question, certificate, seen)


def worded(claim: Any, loop: Any) -> Callable[..., Verdict]:
    """Makes the claim's verdicts."""
    text = sentence(claim, loop, widths(claim, loop))
    return partial(Verdict, "tube", text, source=SOURCE, counted=claim.counted)


def reason(question: Posed, found: Result) -> str:
    """Where the search ended, and what is largest there."""
    c = question.tube
    text = f"t = {question.begins + found.failed * c.T:.4g} s: {found.why}"
    if found.seen is None:
        return text
    text += unsettled(question, found)
    wide = found.tube.reach[found.failed, 0, c.section]
    with np.errstate(all="ignore"):
        parts = np.nan_to_num(found.seen.added[found.failed] / wide, nan=0.0)
    if parts.any():
        name = question.states[c.section[int(parts.argmax())]]
        text += f", most by what is added to {name} in a sample"
    split = found.tube.splits
    if split.size and (split[:, 0] == found.failed).any():
        name = question.states[int(split[split[:, 0] == found.failed][0, 1])]
        text += f", where {name} may change its sign"
    return text


def unsettled(question: Posed, found: Result) -> str:
    """Says so where what the run misses, as it enters the part that repeats, is most of what its samples miss."""
    first = int(question.tube.after[-1])
    if first < 1:
        return ""
    missed = (np.nan_to_num(found.seen.defect) / question.scale).max(axis=1)
    others = np.delete(missed, first - 1)
    if not missed[first - 1] > 10 * others.max(initial=0.0):
        return ""
    when = question.begins + first * question.tube.T
    return (
        f"; at {when:.4g} s the run is not yet on what repeats, a longer duration brings it closer"
    )


def smaller(failed: Result, share: Share) -> str:
    """The widest of some smaller sets of starts that has a tube; nothing where the run itself is what has none."""
    if failed.seen is None or failed.ready is None:
        return ""
    least = SMALLER[-1]
    asked = "these starts and bounds" if failed.ready.question.free.names else "these starts"
    if sized(failed.ready, least, share).failed is not None:
        return f"; nor does one from {least:g} times {asked}"
    wider = (p for p in SMALLER[:-1] if sized(failed.ready, p, share).failed is None)
    return f"; a tube does hold from {next(wider, least):g} times {asked}"


def stated(c: Tube, seen: Seen) -> Tube:
    """The tube with the bounds that its boxes keep."""
    low = np.nextafter(seen.low.min(axis=0), -np.inf)
    high = np.nextafter(seen.high.max(axis=0), np.inf)
    least, most = measured(c)
    return replace(c, low=low, high=high, least=least.min(axis=0), most=most.max(axis=0))


def decided(
    claim: Any,
    loop: Any,
    question: Posed,
    c: Tube,
    seen: Seen,
    said: Any,
    outside: Sequence[str] = (),
) -> Verdict:
    """The verdict on a tube that the checker accepts: whether what else is asked follows from it.

    outside: what of the machine's limits it does not keep.
    """
    reach = c.reach[:, 0, c.section]
    missed = beyond(question, c, seen, bounds(claim, loop))
    missed += outside
    missed += unconditional(question, c)
    lap = closing(c, seen)
    if lap is not None and not lap < 1 - NEUTRAL:
        missed.append("the end of the tube is neutral to rounding")
    if lap is None:
        missed += narrowed(question.states, *alike(c))
    data = told(question, c, reach)
    common = dict(assumptions=notes(question), data=data)
    if missed:
        return said(None, worst="; ".join(missed), **common)
    return said(
        True,
        "proof",
        margin=None if lap is None else pace(c, lap),
        unit="" if lap is None else "1/s",
        worst=in_words(question, c, reach),
        **common,
    )


def beyond(
    question: Posed, c: Tube, seen: Seen, asked: dict[str, tuple[float, float]]
) -> list[str]:
    """What is not known to stay between the numbers that are asked, and where it may be furthest beyond them."""
    known = dict(zip(question.states, zip(c.low, c.high)))
    known |= dict(zip(c.told.tolist(), zip(c.least, c.most)))
    found = []
    for name, (low, high) in asked.items():
        if name not in known:
            found.append(f"{name} is not known: {question.left.get(name, NO_REFERENCE)}")
            continue
        least, most = known[name]
        if low <= least and most <= high:
            continue
        unit = question.told.get(name) or question.units[question.states.index(name)]
        ends = f"{say(least, unit, DIGITS)} and {say(most, unit, DIGITS)}"
        when = f"{widest(question, c, seen, name, (low, high)):.4g} s"
        found.append(f"{name} is only known to stay between {ends}, furthest beyond at t = {when}")
    return found


def widest(question: Posed, c: Tube, seen: Seen, name: str, asked: tuple[float, float]) -> float:
    """The instant, s, of the node at which a state, or what is told, may be furthest beyond the numbers that are asked."""
    if name in question.states:
        column, low, high = question.states.index(name), seen.low, seen.high
    else:
        column, (low, high) = c.told.tolist().index(name), measured(c)
    excess = np.maximum(asked[0] - low[:, column], high[:, column] - asked[1])
    return question.begins + int(np.argmax(excess)) * c.T


def unconditional(question: Posed, c: Tube) -> list[str]:
    """Why the loop's expressions may not be the law everywhere in the tube."""
    found = []
    for name in question.conditions:
        high = c.high[question.states.index(name)]
        if not high <= 0:
            found.append(
                f"a limit of the law may become active: {name} is only known to stay below {high:.3g}, expected 0"
            )
    return found


def in_words(question: Posed, c: Tube, reach: np.ndarray) -> str:
    units = [question.units[i] for i in c.section]
    own = [question.states[i] for i in c.section]
    k = int(np.flatnonzero(c.half[c.section])[0]) if c.half[c.section].any() else 0
    text = f"{own[k]} within ± {say(reach[0, k], units[k])} at first, ± {say(reach[-1, k], units[k])} at the end"
    for (word, unit), size in sizes(c, question.told).items():
        text += f"; {word} below {say(size, unit)} at every sample"
    if question.ends == "horizon":
        text += f"; up to {say(question.begins + (len(c.z) - 1) * c.T, 's')}, the end of the run, and no longer"
    return text


def sizes(c: Tube, units: Mapping[str, str]) -> dict[tuple[str, str], float]:
    """(word, unit) → how large it may be at samples: the tool's error, or else the largest of the outputs' in each unit, and v."""
    most = np.maximum(np.abs(c.least), np.abs(c.most))
    found: dict[tuple[str, str], float] = {}
    for name, size in zip(c.told.tolist(), most.tolist()):
        if name.startswith("e_") and TOOL_ERROR in c.told or not np.isfinite(size):
            continue
        word = (WORDS.get(name, "error"), units[name])
        found[word] = max(size, found.get(word, 0.0))
    return found


def told(question: Posed, c: Tube, reach: np.ndarray) -> dict:
    """Numbers for reports: half-widths over time, bounds of every state."""
    step = max(1, len(c.z) // 400)
    own = [question.states[i] for i in c.section]
    wide = shown(reach)
    return {
        "time": (question.begins + np.arange(len(c.z)) * c.T)[::step].tolist(),
        "width": {name: wide[::step, j].tolist() for j, name in enumerate(own)},
        "centre": {name: c.z[::step, j].tolist() for j, name in enumerate(own)},
        "units": {name: question.units[i] for name, i in zip(own, c.section)},
        "low": dict(zip(question.states, c.low.tolist())),
        "high": dict(zip(question.states, c.high.tolist())),
        "told": {name: [low, high] for name, low, high in zip(c.told.tolist(), c.least, c.most)},
        "ends": question.ends,
        "samples": len(c.z),
        "digests": dict(zip(("loop", "run"), digests(c))),
    }
