"""Search for counter-examples: planted violations that uniform draws need hundreds of runs for, beside other searches.

    python benchmarks/falsify.py [--draws 3200] [--budget 300] [--only crane] [--seed 1]

A problem is a machine under a law, what may vary, and a sentence whose limit is planted: of `--draws` uniform draws VIOLATING
exceed it. With 2 of 3200, uniform search needs more than 500 runs on average (95 % confidence, Clopper–Pearson, one-sided). Then
every search looks for a violation in at most `--budget` runs of the same loops, with the same score:

    ours         what `workbench falsify` does; a slope along n directions counts as n + 1 runs
    uniform      draws of another seed
    SciPy        differential_evolution, a population of 16, in batches
    psy-taliro   its DualAnnealing, called by its own `staliro`, where it is installed (pip install psy-taliro)

The table shows in which run each found its first violation. Every run is one simulation; shrinking is not counted.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter

import numpy as np
from common import machine_in_words
from falsify_problems import FAMILIES, VIOLATING, Problem, planted
from scipy.optimize import differential_evolution
from scipy.stats import beta, qmc

from workbench.verification.search.minimise import GENERATION, minimise
from workbench.verification.search.search import Search
from workbench.verification.search.slopes import Slopes


# ---- searches ----------------------------------------------------------------------------------------------------------
class Done(Exception):
    """A violation was found, or the budget is spent."""


def ours(problem: Problem, budget: int, seed: int) -> int | None:
    search = problem.search()
    slopes = Slopes(search)
    spent = []  # (runs before a slope, what it counts as)

    def slope(point: np.ndarray) -> np.ndarray | None:
        found = slopes(point)
        spent.append((len(search.scores), 0 if found is None else len(point) + 1))
        return found

    minimise(len(search.along), search.values, budget, seed, lambda s: bool(np.min(s) < 0), slope)
    at = first(search)
    return None if at is None else at + sum(count for before, count in spent if before < at)


def uniform(problem: Problem, budget: int, seed: int) -> int | None:
    search = problem.search()
    rng = np.random.default_rng([seed, 2])
    while len(search.scores) < budget and first(search) is None:
        count = min(GENERATION, budget - len(search.scores))
        search.values(rng.uniform(-1, 1, (count, len(search.along))))
    return first(search)


def evolution(problem: Problem, budget: int, seed: int) -> int | None:
    search = problem.search()
    n = len(search.along)

    def score(points: np.ndarray) -> np.ndarray:
        left = budget - len(search.scores)
        if left <= 0 or first(search) is not None:
            raise Done
        columns = np.atleast_2d(points.T)
        found = np.full(len(columns), 1e6)
        found[:left] = np.minimum(search.values(columns[:left]), 1e6)
        return found

    begin = 2 * qmc.LatinHypercube(n, seed=seed).random(GENERATION) - 1
    options = {"init": begin, "maxiter": budget, "tol": 0.0, "polish": False, "seed": seed}
    batches = {"updating": "deferred", "vectorized": True}
    stop(lambda: differential_evolution(score, [(-1.0, 1.0)] * n, **options, **batches))
    return first(search)


def taliro(problem: Problem, budget: int, seed: int) -> int | None:
    from staliro import TestOptions, staliro
    from staliro.decorators import costfunc
    from staliro.optimizers import DualAnnealing

    search = problem.search()
    names = [f"x{i}" for i in range(len(search.along))]

    @costfunc
    def cost(inputs) -> float:
        if first(search) is not None or len(search.scores) >= budget:
            raise Done
        point = np.array([inputs.static[name] for name in names])
        return float(min(search.values(point[None, :])[0], 1e6))

    options = TestOptions(
        static_inputs={name: (-1.0, 1.0) for name in names}, iterations=budget, runs=1, seed=seed
    )
    stop(lambda: staliro(cost, DualAnnealing(min_cost=0.0), options))
    return first(search)


def stop(search: Callable) -> None:
    """Run a search until it ends by itself, or there is nothing more to do."""
    try:
        search()
    except Done:
        pass


def first(search: Search) -> int | None:
    """Number of the first run that violates, from 1."""
    return next((k for k, one in enumerate(search.scores, 1) if one.violated), None)


def searches() -> dict[str, Callable]:
    """Name → search; psy-taliro where it is installed."""
    found: dict[str, Callable] = {"ours": ours, "uniform": uniform, "SciPy": evolution}
    try:
        import staliro  # noqa: F401
    except ImportError:
        return found
    return found | {"psy-taliro": taliro}


# ---- table -------------------------------------------------------------------------------------------------------------
def summary(name: str, runs: Sequence[int | None], seconds: float, budget: int) -> str:
    """One line: how many were found, the median run of all problems (not found: the budget)."""
    known = sum(k is not None for k in runs)
    middle = median(budget if k is None else k for k in runs)
    return f"{name:11} found {known} of {len(runs)}, median run {middle:g}, {seconds:.0f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=3200)
    parser.add_argument("--budget", type=int, default=300)
    parser.add_argument("--only", default="", help="families whose name has this in it")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rivals = searches()
    share = beta.ppf(0.95, VIOLATING + 1, options.draws - VIOLATING)
    print(machine_in_words())
    print(f"uniform search needs {1 / share:.0f} runs or more on average, with 95 % confidence")
    print(f"{'problem':34} {'sentence':54} " + " ".join(f"{name:>10}" for name in rivals))
    runs: dict[str, list] = {name: [] for name in rivals}
    spent = dict.fromkeys(rivals, 0.0)
    for family in (f for f in FAMILIES if options.only in f.name):
        for problem in planted(family, options.draws, options.seed):
            row = []
            for name, search in rivals.items():
                begin = perf_counter()
                row.append(search(problem, options.budget, options.seed))
                spent[name] += perf_counter() - begin
                runs[name].append(row[-1])
            cells = " ".join(f"{k or '–':>10}" for k in row)
            print(f"{family.name:34} {problem.sentence[:54]:54} {cells}", flush=True)
    for name in rivals:
        print(summary(name, runs[name], spent[name], options.budget))


if __name__ == "__main__":
    main()
