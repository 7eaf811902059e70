"""Search for counter-examples: planted violations that uniform draws need hundreds of runs for, beside other searches.

    python benchmarks/falsify.py [--draws 3200] [--budget 300] [--only crane] [--seed 1]

A problem is a machine under a law, what may vary, and a sentence whose limit is planted: of `--draws` uniform draws VIOLATING
exceed it. With 2 of 3200, uniform search needs more than 500 runs on average (95 % confidence, Clopper–Pearson, one-sided). Then
every search looks for a violation in at most `--budget` runs of the same loops, with the same score:

    ours         what `workbench falsify` does
    uniform      draws of another seed
    SciPy        differential_evolution, a population of 16, in batches
    psy-taliro   its DualAnnealing, called by its own `staliro`, where it is installed (pip install psy-taliro)

The table shows in which run each found its first violation. Every run is one simulation; shrinking is not counted.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import numpy as np
from common import machine_in_words
from scipy.optimize import differential_evolution
from scipy.stats import beta, qmc

from workbench.cases.file import loads
from workbench.verification.requirement_claims import Requirement
from workbench.verification.run import Run, run
from workbench.verification.search.directions import directions
from workbench.verification.search.minimise import GENERATION, minimise
from workbench.verification.search.score import verdicts
from workbench.verification.search.search import Search

VIOLATING = 2  # of the uniform draws
BATCH = 64  # uniform draws made side by side
FAR = 1e9  # a limit that no signal reaches, in SI

SERVO = """
plant: ieha-published-linear
controller: {law: PID, K_p: 0.4, K_i: 2, feed: gain, K_v: 0.0087}
loop: {sample_time: 2 ms}
scenario:
  reference: {type: Sine, space: output, centre: start, amplitude: [1 cm], frequency: 0.5 Hz}
  duration: 1.2 s
"""
CRANE = """
plant: {machine: hiab-xs031, lock: {extension: 0.5 m}}
controller: {law: VDC}
loop: {sample_time: 2 ms}
scenario:
  reference: {type: Waypoints, space: cartesian, points: [start, [2.5 m, 1 m]], leg: 1.5 s}
  duration: 1.6 s
"""
BARS = """
plant: four-bar
controller: {law: ForcePosition, λ: 8 1/s, κ: 10 1/s, k_x: 6 mm, βk_f: 60 1/s}
scenario:
  reference: {type: Waypoints, space: joint, points: [start, [64 deg]], leg: 0.8 s}
  duration: 1 s
"""


@dataclass(frozen=True)
class Family:
    """Problems that share their runs: a case, what may vary, and sides (unit) of sentences `always[after, end] (side < limit)`."""

    name: str
    case: str
    over: dict
    sides: dict[str, str]
    after: str = "0 s"


FAMILIES = (
    Family(
        "servo: gain, lag, delay, force",
        SERVO,
        {
            "K": ("60 1/s", "160 1/s"),
            "λ_1": ("0.5 ms", "4 ms"),
            "delay": ("0 ms", "8 ms"),
            "disturbance.F_ext": ("-800 N", "800 N"),
            "reference.frequency": ("0.3 Hz", "1.5 Hz"),
        },
        {"tool_error": "m", "abs(dY)": "m/s", "Y": "m"},
    ),
    Family(
        "servo: start, gain, path",
        SERVO.replace(
            "type: Sine, space: output, centre: start, amplitude: [1 cm], frequency: 0.5 Hz",
            "type: Waypoints, space: output, points: [start, [1 cm], start], leg: 0.5 s",
        ),
        {
            "K": ("60 1/s", "160 1/s"),
            "offset.Y": ("-1 mm", "1 mm"),
            "λ_3": ("0.5 ms", "5 ms"),
            "path": ("-4 mm", "4 mm"),
        },
        {"abs(dY)": "m/s", "tool_error": "m", "Y": "m"},
    ),
    Family(
        "crane: load, start, valves",
        CRANE,
        {
            "payload.mass": ("0 kg", "60 kg"),
            "oil.β": ("600 MPa", "1200 MPa"),
            "start": ("-5 mrad", "5 mrad"),
            "scale.valve.frequency": (0.7, 1.5),
        },
        {"tool_error": "m", "abs(e_q_2)": "rad", "p_a1 - p_b1": "Pa", "abs(u_2)": "V"},
        "0.3 s",
    ),
    Family(
        "crane: friction, valves, path",
        CRANE,
        {
            "friction": (0.5, 2.0),
            "scale.valve.frequency": (0.7, 1.5),
            "path": ("-40 mm", "40 mm"),
            "p_s": ("150 bar", "200 bar"),
        },
        {"tool_error": "m", "p_a2": "Pa", "abs(dq_1)": "rad/s"},
    ),
    Family(
        "four-bar: oil, friction, masses",
        BARS,
        {
            "circuit.B_oil": ("800 MPa", "2 GPa"),
            "friction": (0.5, 2.5),
            "m_2": ("50 kg", "80 kg"),
            "circuit.τ": ("2 ms", "9 ms"),
            "circuit.p_P": ("60 bar", "90 bar"),
        },
        {"abs(e_z_1)": "rad", "p_2": "Pa", "abs(ds)": "m/s", "abs(dz_1)": "rad/s"},
    ),
    Family(
        "four-bar: starts, valve, hoses",
        BARS,
        {
            "offset.z_1": ("-10 mrad", "10 mrad"),
            "circuit.B_h": ("80 MPa", "300 MPa"),
            "circuit.Q_n": ("20 l/min", "30 l/min"),
            "circuit.friction.F_s": ("250 N", "800 N"),
        },
        {"abs(e_z_1)": "rad", "p_3": "Pa", "abs(ds)": "m/s"},
        "0.2 s",
    ),
)


@dataclass(frozen=True)
class Problem:
    """A family with one sentence whose limit is planted; `nominal` is its run."""

    family: Family
    sentence: str
    nominal: Run

    def search(self) -> Search:
        """A fresh search of it."""
        return fresh(self.family, self.nominal, [Requirement(self.sentence)])


def fresh(family: Family, nominal: Run, asked: list) -> Search:
    """A search over what may vary in a family."""
    along = directions(nominal.loop, nominal.scenario, family.over)
    return Search(nominal, asked, verdicts(asked, nominal), along)


def sentence(family: Family, side: str, limit: float) -> str:
    return f"always[{family.after}, end] ({side} < {limit!r} {family.sides[side]})".replace(
        " 1)", ")"
    )


def planted(family: Family, draws: int, seed: int) -> list[Problem]:
    """The family's problems: each limit is exceeded by VIOLATING of the uniform draws."""
    case = loads(family.case, family.name)
    nominal = run(case.loop, case.scenario)
    asked = [
        Requirement(sentence(family, side, FAR), f"s{i}") for i, side in enumerate(family.sides)
    ]
    search = fresh(family, nominal, asked)
    points = np.random.default_rng([seed, 1]).uniform(-1, 1, (draws, len(search.along)))
    for part in np.array_split(points, -(-draws // BATCH)):
        search.values(part)
    largest = np.array([reached(search, one) for one in search.scores])
    found = []
    for side, values in zip(family.sides, largest.T):
        ranked = np.sort(values[np.isfinite(values)])
        limit = (ranked[-VIOLATING] + ranked[-VIOLATING - 1]) / 2
        found.append(Problem(family, sentence(family, side, float(limit)), nominal))
    return found


def reached(search: Search, one) -> list[float]:
    """The largest value of every side in a run: FAR less its margin; not a number where there was no run."""
    shares = dict(one.each)
    return [
        FAR - shares[v.key] * abs(v.margin) if v.key in shares else np.nan for v in search.nominal
    ]


# ---- searches ----------------------------------------------------------------------------------------------------------
class Done(Exception):
    """A violation was found, or the budget is spent."""


def ours(problem: Problem, budget: int, seed: int) -> int | None:
    search = problem.search()
    minimise(len(search.along), search.values, budget, seed, lambda s: bool(np.min(s) < 0))
    return first(search)


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
    stop(
        lambda: differential_evolution(
            score,
            [(-1.0, 1.0)] * n,
            init=begin,
            maxiter=budget,
            tol=0.0,
            polish=False,
            seed=seed,
            updating="deferred",
            vectorized=True,
        )
    )
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
