"""A sequential test: runs are added batch by batch, and the first bounds that decide the question end it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.verification.probability.fixed import Seen, draws, in_batches, told
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
    parts: list[Seen] = []
    least = [0.0]
    bounds = [1.0]
    for part in in_batches(runs, every):
        parts.append(part)
        tick()
        seen = Seen.joined(parts)
        least = [sequence.interval(k, len(seen))[0] for k in seen.violations]
        bounds = [sequence.interval(k, n)[1] for k, n in zip(seen.violations, seen.tests)]
        if max(bounds) <= claim.at_most or max(least) > claim.at_most:
            break
    seen = Seen.joined(parts)
    more = f"more runs may decide (runs: {4 * len(seen)})"
    return told(claim, every, seen, least, bounds, more, SOURCE)
