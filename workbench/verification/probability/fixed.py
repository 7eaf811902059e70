"""So many runs, fixed beforehand, and the one-sided bound of Clopper and Pearson.

    n       the fewest runs whose bound is met where none is violated, ln(α/m) / ln(1 − p)
    bound   of k violations in n runs: the (1 − α/m) quantile of Beta(k + 1, n − k)

Runs that do not put a sentence to the test, since the condition of its `implies` never comes true, show nothing. Where a
probability is to be below something, n is the number of those that do. They are as independent as all runs are, and the
probability among them is not below that among all.

p is the probability allowed, 1 − α the confidence, m the number of sentences. They share α, so that all their bounds hold together
with that confidence.
Source: [ClopperPearson34].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, eq=False)
class Seen:
    """What runs say to sentences, (n, m) each: whether they meet them, and whether they put them to the test."""

    met: np.ndarray
    asked: np.ndarray

    def __len__(self) -> int:
        return len(self.met)

    @classmethod
    def joined(cls, parts: Sequence[Seen]) -> Seen:
        """Those of all parts, in their order."""
        return cls(*(np.concatenate([getattr(p, key) for p in parts]) for key in ("met", "asked")))

    @property
    def violations(self) -> list[int]:
        """Runs that violate each sentence."""
        return [int(k) for k in (~self.met).sum(axis=0)]

    @property
    def tests(self) -> list[int]:
        """Runs that put each sentence to the test."""
        return [int(k) for k in self.asked.sum(axis=0)]


def draws(claim: Any, runs: Runs, n: int) -> list[dict[str, float]]:
    """The first n draws of the claim's seed: the same for the same seed, whatever n is."""
    return drawn(runs.laws, standard(claim.seed, n, len(runs.laws)))


def in_batches(runs: Runs, every: Draws) -> Iterator[Seen]:
    """What each run says to each sentence, batch after batch; the noise of every run is another."""
    first = runs.run.scenario.seed
    for i in range(0, len(every), BATCH):
        some = every[i : i + BATCH]
        seeds = range(first + i, first + i + len(some))
        said = runs.said(some, seeds)
        met = np.array([[one.met for one in row] for row in said], bool)
        yield Seen(met, np.array([[one.asked for one in row] for row in said], bool))


def by_number(claim: Any, runs: Runs, tick: Callable[[], None]) -> Verdict:
    """The bound after all runs."""
    every = draws(claim, runs, claim.number)
    parts = []
    for part in in_batches(runs, every):
        parts.append(part)
        tick()
    return judged(claim, every, Seen.joined(parts))


def judged(claim: Any, every: Draws, seen: Seen) -> Verdict:
    """The verdict on what was seen: bounds of the probability of each sentence's violation."""
    n = len(seen)
    bounds = [upper(k, tests, claim.share) for k, tests in zip(seen.violations, seen.tests)]
    least = [lower(k, n, claim.share) for k in seen.violations]
    more = f"more runs may decide (runs: {4 * n})"
    return told(claim, every, seen, least, bounds, more, SOURCE)


def told(
    claim: Any,
    every: Draws,
    seen: Seen,
    least: Sequence[float],
    bounds: Sequence[float],
    more: str,
    source: str,
) -> Verdict:
    """The verdict from a lower and an upper bound of every sentence; `more`: what to do where they do not decide."""
    n = len(seen)
    violations = seen.violations
    i = int(np.argmax(bounds))
    holds = _within(claim.at_most, max(least), max(bounds))
    bad = np.flatnonzero(~seen.met[:, i])
    where = f"at least {bound(least[i])}" if holds is False else f"at most {bound(bounds[i])}"
    tested = "" if seen.tests[i] == n else f", {seen.tests[i]} of which put it to the test"
    worst = f"{violations[i]} of {n} runs violate it{tested}, so that the probability is {where}"
    if len(claim.sentences) > 1:
        worst += f", {claim.sentences[i]}"
    if len(bad):
        worst += f"; the first is run {bad[0]} of seed {claim.seed}, {draw(every[bad[0]])}"
    if holds is None:
        worst += f"; it is at least {bound(least[i])}: {more}"
    data = {
        "runs": n,
        "violations": violations,
        "tests": seen.tests,
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
