"""So many runs, fixed beforehand, and the one-sided bound of Clopper and Pearson.

    n       the fewest runs whose bound is met where none is violated, ln(α/m) / ln(1 − p)
    bound   of k violations in n runs: the (1 − α/m) quantile of Beta(k + 1, n − k)

p is the probability allowed, 1 − α the confidence, m the number of sentences. They share α, so that all their bounds hold together
with that confidence.
Source: [ClopperPearson34].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.verification.probability.binomial import lower, upper
from workbench.verification.probability.draws import drawn, standard
from workbench.verification.probability.runs import Runs
from workbench.verification.probability.words import KEY, bound, draw, words
from workbench.verification.verdict import Verdict

SOURCE = "runs drawn at random, one-sided Clopper–Pearson bound"
BATCH = 64  # runs between two looks

Draws = Sequence[Mapping[str, float]]


def draws(claim: Any, runs: Runs, n: int) -> list[dict[str, float]]:
    """The first n draws of the claim's seed: the same for the same seed, whatever n is."""
    return drawn(runs.laws, standard(claim.seed, n, len(runs.laws)))


def in_batches(runs: Runs, every: Draws) -> Iterator[np.ndarray]:
    """Whether each run meets each sentence (batch, m), batch after batch; the noise of every run is another."""
    first = runs.run.scenario.seed
    for i in range(0, len(every), BATCH):
        some = every[i : i + BATCH]
        seeds = range(first + i, first + i + len(some))
        yield np.array([[one.met for one in row] for row in runs.said(some, seeds)], bool)


def by_number(claim: Any, runs: Runs, tick: Callable[[], None]) -> Verdict:
    """The bound after all runs."""
    every = draws(claim, runs, claim.number)
    met = []
    for part in in_batches(runs, every):
        met.append(part)
        tick()
    return judged(claim, every, np.concatenate(met))


def judged(claim: Any, every: Draws, met: np.ndarray) -> Verdict:
    """The verdict on `met` (n, m): bounds of the probability of each sentence's violation."""
    n = len(met)
    violations = [int(k) for k in (~met).sum(axis=0)]
    bounds = [upper(k, n, claim.share) for k in violations]
    least = [lower(k, n, claim.share) for k in violations]
    more = f"more runs may decide (runs: {4 * n})"
    return told(claim, every, met, least, bounds, more, SOURCE)


def told(
    claim: Any,
    every: Draws,
    met: np.ndarray,
    least: Sequence[float],
    bounds: Sequence[float],
    more: str,
    source: str,
) -> Verdict:
    """The verdict from a lower and an upper bound of every sentence; `more`: what to do where they do not decide."""
    n = len(met)
    violations = [int(k) for k in (~met).sum(axis=0)]
    i = int(np.argmax(bounds))
    holds = _within(claim.at_most, max(least), max(bounds))
    bad = np.flatnonzero(~met[:, i])
    where = f"at least {bound(least[i])}" if holds is False else f"at most {bound(bounds[i])}"
    worst = f"{violations[i]} of {n} runs violate it, so that the probability is {where}"
    if len(claim.sentences) > 1:
        worst += f", {claim.sentences[i]}"
    if len(bad):
        worst += f"; the first is run {bad[0]} of seed {claim.seed}, {draw(every[bad[0]])}"
    if holds is None:
        worst += f"; it is at least {bound(least[i])}: {more}"
    data = {
        "runs": n,
        "violations": violations,
        "bounds": list(bounds),
        "least": list(least),
        "seed": claim.seed,
        "draws": list(every[:n]),
        "violated": bad.tolist(),
    }
    return Verdict(
        key=KEY,
        claim=words(claim),
        holds=holds,
        strength=None if holds is None else "sampled",
        margin=claim.at_most - bounds[i],
        unit="1",
        limit=claim.at_most,
        worst=worst,
        source=source,
        counted=claim.counted,
        data=data,
    )


def _within(most: float, low: float, high: float) -> bool | None:
    """Whether what lies between `low` and `high` is at most `most`; None where that is not decided."""
    if high <= most:
        return True
    return False if low > most else None
