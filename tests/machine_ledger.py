"""The ledger of machines at random states, without a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from controllers import VDC
from workbench import ClosedLoop, Sampled, Scenario, simulate
from workbench.run.fitted import fitted
from workbench.verification.ledger.balance import Balance, LedgerFunction, balance

SPREAD = {"rad": 0.05, "m": 0.01, "rad/s": 0.4, "m/s": 0.2, "V": 3.0, "N": 500.0, "N m": 200.0}


def loop_of(law: VDC, plant=None) -> ClosedLoop:
    return ClosedLoop(plant or law.model, Sampled(law, T_s=1e-3))


def at_random(loop: ClosedLoop, seed: int = 0, count: int = 6, **sizes: float) -> Balance:
    """The balance at random states near the machine's start, references and held commands anywhere.

    sizes: of states that are spread otherwise than their unit says.
    """
    t, x, w, live = states_at_random(loop, seed, count, sizes)
    return LedgerFunction(loop, live)(loop, t, x, w)


def states_at_random(loop: ClosedLoop, seed: int, count: int, sizes=()) -> tuple:
    """(t, x, w, names of w): random states near the machine's start, references and held commands anywhere."""
    rng = np.random.default_rng(seed)
    live = tuple(s.name for s in loop.inputs if s.kind == "reference")
    start = np.array(loop.initial(), float)
    x = np.tile(start, (count, 1))
    for i, s in enumerate(loop.states):
        bristle = s.unit == "m" and s.name.startswith("z_")
        size = 1e-5 if bristle else dict(sizes).get(s.name, SPREAD.get(s.unit, 1.0))
        x[:, i] += (4e6 if s.unit == "Pa" else size) * rng.uniform(-1.0, 1.0, count)
    plant, law = loop.plant, loop.controller.inner
    goal = plant.task(law.space, [float(v) for v in plant.positions(start)])
    w = 0.3 * rng.normal(size=(count, len(live)))
    w[:, : len(goal)] = np.array(goal, float) + 0.02 * rng.normal(size=(count, len(goal)))
    if plant.dependent:
        x = np.array([fitted(loop, row) for row in x])
    else:
        assert list(plant.joint_names) in ([], list(plant.position_names))
    return np.zeros(count), x, w, live


def open_cuts(b: Balance) -> dict[str, float]:
    """Cut → what its sides leave open, of the terms that meet there; cuts that close left out."""
    sizes = b.cut_scale()
    found = {}
    for cut, values in b.cuts().items():
        share = float((np.abs(values) / sizes[cut]).max())
        if share > 1e-12:
            found[cut] = share
    return found


def unbalanced(b: Balance) -> dict[str, float]:
    """Component → residual of its row, of its terms; rows that balance left out."""
    worst = np.abs(b.residual()).max(axis=0)
    return {name: float(share) for (_, name), share in zip(b.entries, worst) if not share <= 1e-12}


def quadrature_gap(law: VDC, scenario: Scenario, h: float) -> float:
    """∫v̇ dt by Simpson's rule against Δv along a run of the continuous law with steps h, as a share of the largest v."""
    loop = ClosedLoop(law.model, law)
    fine = replace(scenario, max_step=h)
    log = simulate(loop, fine)
    b = balance(loop, fine, log)
    areas = h / 3 * (b.total_rate[:-2:2] + 4 * b.total_rate[1:-1:2] + b.total_rate[2::2])
    gap = np.cumsum(areas) - (b.total[2::2] - b.total[0])
    return float(np.abs(gap).max() / b.total.max())
