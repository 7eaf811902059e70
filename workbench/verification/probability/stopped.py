"""A sequential test: runs are added batch by batch, and the first bounds that decide the question end it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.verification.probability.fixed import draws, in_batches, told
from workbench.verification.probability.runs import Runs
from workbench.verification.probability.sequential import Sequence
from workbench.verification.verdict import Verdict

SOURCE = (
    "runs drawn at random, confidence sequence of a beta mixture, valid at whatever run one stops"
)


def by_stopping(claim: Any, runs: Runs, tick: Callable[[], None]) -> Verdict:
    """The bounds where they decide, or after the most runs."""
    every = draws(claim, runs, claim.number)
    sequence = Sequence(claim.at_most, claim.share)
    met = np.zeros((0, len(claim.sentences)), bool)
    least = [0.0]
    bounds = [1.0]
    for part in in_batches(runs, every):
        met = np.concatenate([met, part])
        tick()
        ends = [sequence.interval(int(k), len(met)) for k in (~met).sum(axis=0)]
        least = [low for low, _ in ends]
        bounds = [high for _, high in ends]
        if max(bounds) <= claim.at_most or max(least) > claim.at_most:
            break
    more = f"more runs may decide (runs: {4 * len(met)})"
    return told(claim, every, met, least, bounds, more, SOURCE)
