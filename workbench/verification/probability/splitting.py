"""Probabilities of rare events by splitting: runs are led towards the event, one level of its score after the other.

    z ∈ ℝᵈ      independent standard normal numbers, and a seed of noise drawn evenly
    s(z)        score; the event is s > 0
    p = P(s > L_1) · P(s > L_2 | s > L_1) ⋯ P(s > 0 | s > L_m)

N draws begin. Each level L is where a tenth of them is above; those above begin chains that fill the population up to N
again, by moves that keep the normal law above L:

    z' = √(1 − σ²) z + σ ξ,  ξ standard normal,   accepted where s(z') > L

The seed of noise is drawn anew in half of the proposals, independently of all else, which keeps the law too; σ is the same for a
whole level, and follows the share of accepted moves from level to level. A draw's weight is shared among the states of its chain;
the estimate is the weight of those with s > 0. For levels stated beforehand it has no bias, whatever the number of moves; here
levels come from the same runs, and the bias is of the order 1/N.

Spread: draws that stem from one first draw form a family. For stated levels families are independent and alike, so that with Y_j
the weight that ends in the event in family j

    p̂ = Σ Y_j,   δ² = K/(K − 1) (Σ Y_j²/p̂² − 1/N),   K = (Σ Y_j)²/Σ Y_j²,   ln p̂ about normal: mean ln p − δ²/2, deviation δ

all correlation along chains and between levels included. Bounds are p̂ exp(δ²/2 ± t δ), with Student's t of K − 1 degrees of
freedom, K being how many families count; it leaves half of what the bound may err with to the finite number of draws, so that
95 % are met over repetitions (benchmarks/probability.py). That is an asymptotic statement, no guarantee: an event that the scores
of likely draws do not lead to is missed, and nothing in the numbers shows it.

Source: [CerouGuyader07] (adaptive levels, normal limit), [AuBeck01] (chains above a level), [Papaioannou15] (the move).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from workbench.verification.search.of_scenario import MOST_SEED

SHARE = 0.1  # share of a population above the next level
FEWEST = 100  # draws of a population
FAMILIES = 10.0  # that an estimate needs, counted by weight
ACCEPTED = 0.44  # share of moves to be accepted
FIRST_MOVE = 0.6  # σ of the first level
# Share of what a level should have above it, at least; fewer are a plateau of equal scores.
LEADING = 0.2

Score = Callable[[np.ndarray, np.ndarray], np.ndarray]  # (z (k, d), seeds (k,)) → s (k,)


@dataclass(frozen=True, eq=False)
class Population:
    """Draws above a level: z (N, d), seeds of noise (N,), scores (N,), weights (N,), first draw that each stems from (N,)."""

    z: np.ndarray
    seeds: np.ndarray
    scores: np.ndarray
    weights: np.ndarray
    family: np.ndarray

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def ended(self) -> np.ndarray:
        """Weight of every family."""
        return np.bincount(self.family, self.weights)

    @property
    def families(self) -> float:
        """(Σ Y)²/Σ Y², how many families count."""
        squares = float(np.sum(self.ended**2))
        return float(np.sum(self.weights)) ** 2 / squares if squares > 0 else 0.0

    def taken(self, which: np.ndarray) -> Population:
        """Some of them."""
        return Population(*(column[which] for column in vars(self).values()))


@dataclass(frozen=True, eq=False)
class Split:
    """What splitting found.

    probability, deviation   estimate of p and of the standard deviation δ of its logarithm
    families                 how many first draws it stems from, counted by weight
    reached                  whether it is that of the event; else of the last level, which the event lies above
    levels                   scores of the levels;  runs: how many;  accepted: share of moves accepted at each level
    final                    the last population
    """

    probability: float
    deviation: float
    families: float
    reached: bool
    levels: tuple[float, ...]
    runs: int
    accepted: tuple[float, ...]
    final: Population

    def bounds(self, α: float) -> tuple[float, float]:
        """(lower, upper), each to err with α where the logarithm of the estimate is normal; (0, 1) from too few families."""
        from scipy.stats import t

        if self.families < FAMILIES:
            return 0.0, 1.0
        spread = float(t.isf(0.5 * α, self.families - 1.0)) * self.deviation
        middle = self.probability * math.exp(0.5 * self.deviation**2)
        low = middle * math.exp(-spread) if self.reached else 0.0
        return low, min(1.0, middle * math.exp(spread))


def particles(most: int, aim: float) -> int:
    """Draws of a population with which `most` runs reach an event of probability about aim/10."""
    levels = max(1, math.ceil(math.log(aim) / math.log(SHARE))) + 1
    return int(most / (1 + (1 - SHARE) * levels))


def split(
    score: Score, dimensions: int, count: int, most: int, seed: int, noisy: bool = False
) -> Split:
    """Splitting with populations of `count` in at most `most` runs; `noisy` where the seed of noise changes a score."""
    rng = np.random.default_rng(seed)
    population = _first(score, dimensions, count, noisy, rng)
    levels: list[float] = []
    accepted: list[float] = []
    runs = count
    σ = FIRST_MOVE
    while np.mean(population.scores > 0) < SHARE:
        level = next_level(population.scores)
        if level is None:
            break
        above = population.taken(population.scores > level)
        if runs + count - len(above) > most or above.families < FAMILIES:
            break
        population, share = filled(above, count, Move(score, level, σ, noisy, rng))
        runs += count - len(above)
        levels.append(level)
        accepted.append(share)
        σ = min(1.0, σ * math.exp(share - ACCEPTED))
    return _estimated(population, count, tuple(levels), runs, tuple(accepted))


def next_level(scores: np.ndarray) -> float | None:
    """The largest score that a tenth of the draws is above; a lower one where many are equal, None where nothing leads on."""
    ordered = np.sort(scores)[::-1]
    level = ordered[int(SHARE * len(scores))]
    if np.count_nonzero(scores > level) >= LEADING * SHARE * len(scores):
        return float(level)
    below = ordered[ordered < level]
    return float(below[0]) if len(below) else None


def _first(
    score: Score, dimensions: int, count: int, noisy: bool, rng: np.random.Generator
) -> Population:
    z = rng.standard_normal((count, dimensions))
    seeds = rng.integers(0, MOST_SEED, count) if noisy else np.zeros(count, dtype=np.int64)
    weights = np.full(count, 1.0 / count)
    return Population(z, seeds, score(z, seeds), weights, np.arange(count))


@dataclass(frozen=True, eq=False)
class Move:
    """A move that keeps the law above `level`, see the head of this file."""

    score: Score
    level: float
    σ: float
    noisy: bool
    rng: np.random.Generator

    def __call__(self, now: Population) -> tuple[Population, np.ndarray]:
        """(every chain one move on, which moves were accepted)."""
        kept = math.sqrt(1.0 - self.σ**2)
        z = kept * now.z + self.σ * self.rng.standard_normal(now.z.shape)
        seeds = now.seeds
        if self.noisy:
            anew = self.rng.random(len(now)) < 0.5
            seeds = np.where(anew, self.rng.integers(0, MOST_SEED, len(now)), seeds)
        scores = self.score(z, seeds)
        yes = scores > self.level
        after = replace(
            now,
            z=np.where(yes[:, None], z, now.z),
            seeds=np.where(yes, seeds, now.seeds),
            scores=np.where(yes, scores, now.scores),
        )
        return after, yes


def filled(above: Population, count: int, move: Move) -> tuple[Population, float]:
    """(a population of `count`: every seed with the states of its chain, share of the moves that were accepted)."""
    lengths = np.full(len(above), count // len(above))
    lengths[move.rng.permutation(len(above))[: count % len(above)]] += 1
    now = replace(above, weights=above.weights / lengths)
    parts = [now]
    accepted: list[np.ndarray] = []
    for step in range(1, int(lengths.max())):
        going = lengths > step
        now = now.taken(going)
        lengths = lengths[going]
        now, yes = move(now)
        parts.append(now)
        accepted.append(yes)
    return joined(parts), float(np.mean(np.concatenate(accepted)))


def joined(parts: list[Population]) -> Population:
    """Several populations as one."""
    columns = zip(*(vars(part).values() for part in parts))
    return Population(*map(np.concatenate, columns))


def _estimated(
    population: Population,
    count: int,
    levels: tuple[float, ...],
    runs: int,
    accepted: tuple[float, ...],
) -> Split:
    """The estimate of the event where enough families reach it, else of the last level."""
    failing = population.taken(population.scores > 0)
    reached = failing.families >= FAMILIES
    counted = failing if reached else population
    p = float(np.sum(counted.weights))
    families = counted.families
    variance = max(1.0 / families - 1.0 / count, 0.0) * families / max(families - 1.0, 0.5)
    return Split(
        probability=p,
        deviation=math.sqrt(variance),
        families=families,
        reached=reached,
        levels=levels,
        runs=runs,
        accepted=accepted,
        final=population,
    )
