"""What a scenario states for after its run: a push that comes later, a jump, legs of a path that are walked faster.

A run that ends before shows nothing of it. Where a disturbance, or a reference that jumps, leaves the range that it had within the
run, or where a path is walked FASTER than within the run, what runs show of stability and tracking is undecided, with the instant.
What repeats, and what comes later but is no more than was seen, changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from workbench.contract.capabilities import Jumps, Varies, ends
from workbench.contract.units import format_quantity as say
from workbench.verification.run import Run
from workbench.verification.verdict import STABILITY, Verdict

FASTER = 1.2  # times the largest speed within the run
BEYOND = 0.05  # share of the range within the run
MANY = 2000  # instants that are looked at, within the run and after it
MEND = "make the run longer (scenario: duration)"


def unseen(run: Run) -> str:
    """What comes after the run and was not seen in it, in words; "" for nothing."""
    length = run.scenario.length()
    return next(
        (f"{words}, and the run ends at {say(length, 's', 3)}" for words in _later(run, length)), ""
    )


def _later(run: Run, length: float) -> Iterator[str]:
    for name, push in run.scenario.disturbances.items():
        yield from _leaves(f"disturbance {name}", push, length)
    reference = run.demand.reference
    yield from (
        _leaves("the reference", reference, length)
        if isinstance(reference, Jumps)
        else _faster(reference, length)
    )


def _leaves(who: str, motion: Any, length: float) -> Iterator[str]:
    """Where a motion leaves the range that it had within the run."""
    last = ends(motion)
    if not isinstance(motion, Varies) or not length < last < math.inf:
        return
    seen = _sampled(motion, 0.0, length, 0)[1]
    times, values = _sampled(motion, length, last, 0)
    low = seen.min(axis=0)
    high = seen.max(axis=0)
    over = np.maximum(values - high, low - values) > BEYOND * (high - low)
    if over.any():
        t = times[int(np.argmax(over.any(axis=1)))]
        yield f"{who} is what it never was before at t = {say(float(t), 's', 3)}"


def _faster(path: Any, length: float) -> Iterator[str]:
    """Where a path is walked faster than within the run."""
    last = ends(path)
    if not isinstance(path, Varies) or not length < last < math.inf:
        return
    seen = float(np.abs(_sampled(path, 0.0, length, 1)[1]).max())
    times, values = _sampled(path, length, last, 1)
    speed = np.abs(values).max(axis=1)
    k = int(np.argmax(speed))
    if speed[k] > FASTER * seen:
        times_as_fast = (
            f"{speed[k] / seen:.3g} times as fast as before"
            if seen > 0
            else "the first time at all"
        )
        yield f"the reference moves {times_as_fast} at t = {say(float(times[k]), 's', 3)}"


def _sampled(motion: Any, begin: float, end: float, order: int) -> tuple[np.ndarray, np.ndarray]:
    """(instants from begin to end, those of its jumps among them; values (N, n) of this derivative)."""
    jumps = motion.jumps() if isinstance(motion, Jumps) else ()
    times = np.unique([*np.linspace(begin, end, MANY), *(t for t in jumps if begin <= t <= end)])
    return times, motion.sample(times, order)[order]


def as_far_as_seen(run: Run, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts; what holds about stability and tracking is undecided where the scenario states more than the run shows."""
    found = unseen(run) if any(_rests_on_it(v) for v in verdicts) else ""
    if not found:
        return list(verdicts)
    return [v.overruled(f"{found}; {MEND}") if _rests_on_it(v) else v for v in verdicts]


def _rests_on_it(v: Verdict) -> bool:
    seen = v.counted and v.holds is True and v.strength == "sampled"
    return seen and v.key in ("tracking", *STABILITY)
