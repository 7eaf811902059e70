"""Rare violations by splitting on the margin of a sentence: an estimate, which can violate a claim and never confirm it.

Splitting follows the margin. A way to fail that the margins of likely draws do not lead to leaves no trace in any number of its
own, its spread included: such a bound from above says "holds" where it does not. What it did find, it found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.verification.probability.binomial import fewest
from workbench.verification.probability.draws import drawn
from workbench.verification.probability.runs import Runs, Said
from workbench.verification.probability.splitting import Split, particles, split
from workbench.verification.probability.words import KEY, bound, draw, words
from workbench.verification.verdict import Verdict

SOURCE = "splitting on the margin, log-normal spread of the estimator: an estimate, no guarantee"
UNSEEN = "a way to fail that the margins of likely draws do not lead to is not seen"


def by_splitting(claim: Any, runs: Runs, tick: Callable[[], None]) -> Verdict:
    """The estimate of the probability that the margin is lost, which can refute that it is small enough."""

    def score(z: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        noise = seeds if runs.noisy else np.full(len(z), runs.run.scenario.seed)
        found = [_score(said) for (said,) in runs.said(drawn(runs.laws, z), noise)]
        tick()
        return np.array(found)

    count = particles(claim.number, claim.at_most)
    found = split(score, len(runs.laws), count, claim.number, claim.seed, runs.noisy)
    return told(claim, runs, found)


def _score(said: Said) -> float:
    """Above zero exactly where the sentence is not met, the more the further it is from being met."""
    if said.met:
        return -max(said.margin, 0.0)
    return max(-said.margin, np.finfo(float).tiny)


def told(claim: Any, runs: Runs, found: Split) -> Verdict:
    """The verdict on what splitting found."""
    low, high = found.bounds(claim.share)
    holds = False if low > claim.at_most else None
    nearest = _likeliest(runs, found)
    data = {
        "runs": found.runs,
        "probability": found.probability if found.reached else None,
        "bounds": [high],
        "least": [low],
        "deviation": found.deviation,
        "families": found.families,
        "levels": [-level for level in found.levels],
        "accepted": list(found.accepted),
        "reached": found.reached,
        "seed": claim.seed,
        "likeliest": nearest,
    }
    return Verdict(
        key=KEY,
        claim=words(claim),
        holds=holds,
        strength=None if holds is None else "estimated",
        margin=claim.at_most - high,
        unit="1",
        limit=claim.at_most,
        worst=_worst(found, low, high, nearest) + _left(claim, high, holds),
        source=SOURCE,
        counted=claim.counted,
        data=data,
    )


def _worst(found: Split, low: float, high: float, nearest: dict[str, float] | None) -> str:
    levels = f"{len(found.levels)} level{'' if len(found.levels) == 1 else 's'}"
    by = f"by splitting over {levels} in {found.runs} runs"
    if found.reached:
        said = f"the probability is about {bound(found.probability)}, {bound(low)} … {bound(high)}, {by}"
    elif found.levels:
        said = f"no run came to a violation; the last level has at most {bound(high)}, {by}"
    else:
        said = f"{by} nothing led towards a violation: the margin is the same in nearly all runs"
    if nearest is not None:
        said += f"; the likeliest that violates it is {draw(nearest)}"
    return f"{said}; an estimate, no guarantee: {UNSEEN}"


def _left(claim: Any, high: float, holds: bool | None) -> str:
    """What is left to do where the estimate refutes nothing."""
    if holds is not None:
        return ""
    if high > claim.at_most:
        return "; more runs tell it closer"
    alone = fewest(claim.share, claim.at_most)
    return f"; it is below what is allowed, which {alone} runs drawn at random without a violation can show"


def _likeliest(runs: Runs, found: Split) -> dict[str, float] | None:
    """The draw nearest to the middle of its law among those that violate."""
    failing = found.final.z[found.final.scores > 0]
    if not len(failing):
        return None
    nearest = failing[np.argmin(np.sum(failing**2, axis=1))]
    return drawn(runs.laws, nearest[None, :])[0]
