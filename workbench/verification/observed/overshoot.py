"""How far outputs go beyond what their reference asks for.

    r_i     from the least to the largest value that output i (or joint i, of a machine with a tool) is asked for, and its start
    o(t)    max_i max(0, y_i − max r_i, min r_i − y_i) / (max r_i − min r_i)

On a step it is the overshoot of textbooks; on a path it is what goes beyond the path's ends. Outputs that are asked for no way,
less than what rounding makes of the machine's scale, are left out.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from workbench.verification.observed.requirements import diverged, joint_errors
from workbench.verification.run import Run
from workbench.verification.scales import signal_floor
from workbench.verification.temporal import ready
from workbench.verification.verdict import Verdict

KEY = "overshoot"
SOURCE = "requirement on the run"


def each_overshoot(run: Run) -> dict[str, np.ndarray]:
    """Output or joint → how far it is beyond what it is asked for, as a share of its way (N,); those that are asked for one."""
    if run.demand.reference is None:
        return {}
    found = {}
    for name, error in joint_errors(run).items():
        value = run.log.array(name)
        wanted = error + value
        low = min(wanted.min(), value[0])
        high = max(wanted.max(), value[0])
        if high - low > signal_floor(run.loop.plant, name):
            found[name] = np.maximum(np.maximum(value - high, low - value), 0.0) / (high - low)
    return found


def overshoot(run: Run) -> np.ndarray | None:
    """`overshoot` (N,): the largest of all outputs; None where nothing is asked to move."""
    every = list(each_overshoot(run).values())
    return np.max(every, axis=0) if every else None


def check_overshoot(claim: Any, run: Run) -> Verdict:
    """Nothing goes further beyond what its reference asks for: `always (overshoot <= share)`."""
    sentence = ready.overshoot(claim.share)
    text = f"overshoot: {sentence.shown}"
    gone = diverged(KEY, text, run, claim.counted, SOURCE)
    if gone:
        return gone
    said = partial(Verdict, KEY, text, source=SOURCE, counted=claim.counted)
    every = each_overshoot(run)
    if not every:
        return said(None, worst="no output is asked to move: give the scenario a reference")
    largest = np.max(list(every.values()), axis=0)
    answer = sentence.on(run.log.time, {KEY: largest})
    worst = max(every, key=lambda name: every[name].max())
    k = int(every[worst].argmax())
    where = f"{worst}: {100 * every[worst][k]:.3g} % beyond its way, at t = {run.log.time[k]:.2f} s"
    data = {name: float(values.max()) for name, values in every.items()}
    at = float(run.log.time[k])
    return said(
        answer.holds, "sampled", answer.margin, "1", claim.share, where, data=data, instant=at
    )
