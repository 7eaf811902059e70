"""How often bounds of probabilities cover the truth, and rare events beside drawing at random, where the answer is known.

    python benchmarks/probability.py [--repetitions 500]

Coverage: so many repetitions of runs that are violated with a known probability, bounds that may err with 5 % each: of Clopper
and Pearson after a number of runs fixed beforehand; the confidence sequence where a claim stops, and at every run of 3,000 at
once; Clopper and Pearson looked at after every run, which is what they are not for. Rare events: a sum of normal numbers above
its quantile, p = 1e-6, with splitting in 20,000 runs: how many estimates lie within a factor of two, how often its bounds cover,
and what 20,000 runs drawn at random say. No loop is run: what is counted are the numbers of a run.
"""

from __future__ import annotations

import argparse

import numpy as np
from common import machine_in_words
from scipy import stats

from workbench.verification.probability.sequential import Sequence
from workbench.verification.probability.splitting import particles, split

α = 0.05
LONGEST = 3000
RARE = 1e-6
RUNS = 20_000


def fixed(p: float, n: int, repetitions: int, rng: np.random.Generator) -> float:
    """Share of repetitions whose upper Clopper–Pearson bound covers."""
    k = rng.binomial(n, p, repetitions)
    return float(np.mean((k == n) | (stats.beta.ppf(1 - α, k + 1, np.maximum(n - k, 1)) >= p)))


def stopped(p: float, aim: float, repetitions: int, rng: np.random.Generator) -> tuple:
    """(coverage where the claim stops, at every run, of Clopper–Pearson at every run; mean number of runs)."""
    n = np.arange(1, LONGEST + 1)
    sequence = Sequence(aim, α)
    at_stop, always, wrong, runs = [], [], [], []
    for _ in range(repetitions):
        k = np.cumsum(rng.random(LONGEST) < p)
        out = sequence.excess(p, k, n) >= 0
        decided = (sequence.excess(aim, k, n) >= 0) & (k / n != aim)
        last = int(np.argmax(decided)) if decided.any() else LONGEST - 1
        at_stop.append(not out[last])
        always.append(not out.any())
        wrong.append(not (stats.binom.cdf(k, n, p) < α).any())
        runs.append(last + 1)
    return np.mean(at_stop), np.mean(always), np.mean(wrong), np.mean(runs)


def rare(dimensions: int, repetitions: int) -> dict:
    """Splitting on a sum of `dimensions` normal numbers above its quantile."""
    limit = stats.norm.isf(RARE)
    score = lambda z, seeds: z.sum(axis=1) / np.sqrt(dimensions) - limit
    count = particles(RUNS, 10 * RARE)
    found = [split(score, dimensions, count, RUNS, seed) for seed in range(repetitions)]
    p = np.array([f.probability if f.reached else np.inf for f in found])
    low, high = np.array([f.bounds(α) for f in found]).T
    return {
        "within 2": np.mean((p > RARE / 2) & (p < 2 * RARE)),
        "upper covers": np.mean(high >= RARE),
        "lower covers": np.mean(low <= RARE),
        "median bound": np.median(high),
        "most runs": max(f.runs for f in found),
        "reached": np.mean([f.reached for f in found]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=500)
    repetitions = parser.parse_args().repetitions
    rng = np.random.default_rng(1)
    print(machine_in_words(), f"{repetitions} repetitions, bounds may err with {100 * α:g} %")
    for p, aim in ((0.01, 0.01), (0.005, 0.01), (0.02, 0.01), (0.2, 0.1), (0.0, 0.01)):
        n = int(np.ceil(np.log(α) / np.log1p(-aim)))
        at_stop, always, wrong, runs = stopped(p, aim, repetitions, rng)
        print(
            f"p = {p:g}, allowed {aim:g}: fixed n = {n} covers {100 * fixed(p, n, repetitions, rng):.1f} %; sequence covers "
            f"{100 * at_stop:.1f} % where it stops (mean {runs:.0f} runs, {LONGEST} at most), {100 * always:.1f} % at every "
            f"run; Clopper–Pearson at every run {100 * wrong:.1f} %"
        )
    for dimensions in (1, 2, 6, 20):
        told = ", ".join(
            f"{name} {value:.4g}" for name, value in rare(dimensions, repetitions).items()
        )
        print(f"p = {RARE:g} in {dimensions} dimensions, splitting: {told}")
    blind = 1 - α ** (1 / RUNS)
    share = 100 * (1 - RARE) ** RUNS
    print(
        f"{RUNS} runs drawn at random: none violates in {share:.0f} %, the bound is then {blind:.2g}"
    )


if __name__ == "__main__":
    main()
