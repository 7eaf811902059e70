"""Lower bounds of planned energy: by relaxation, by cells; no motion is below them, and no step below what its cells say."""

from itertools import product

import numpy as np
import pytest
from planning_cases import CP, oil, random_crane, short, task

from workbench.planning import (
    ElectricLoadSensing,
    PlannedConstantPressure,
    PlannedLoadSensing,
    Search,
    Speed,
    TwoPressures,
    Work,
    optimise,
)
from workbench.planning.bound import lower_bound
from workbench.planning.cells import Below, _grid, cell_bound
from workbench.planning.compare import compare
from workbench.planning.dynamic import energy, parts
from workbench.planning.task import BIG
from workbench.run.reference import Waypoints


@pytest.fixture(scope="module")
def plans():
    return {"CP": optimise(task(oil())), "LS": optimise(task())}


def test_the_bound_is_below_the_optimum_and_not_far(plans):
    bound = lower_bound(task(oil())).energy
    assert 0.97 * CP < bound < plans["CP"].energy
    assert lower_bound(task(PlannedConstantPressure(2e7, η=0.8))).energy == pytest.approx(
        2e7 / 0.8 * bound, rel=1e-9
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "supply, order",
    [
        (PlannedLoadSensing(creep=2e-3, back=2e5), 1),
        (ElectricLoadSensing(η=0.8), 2),
        (TwoPressures(), 1),
    ],
    ids=lambda v: type(v).__name__,
)
def test_cells_bound_what_has_no_relaxation(supply, order):
    """Below the optimum and below what IPOPT finds, finer cells nearer; known of the whole triangle: 4 to 7 % below."""
    t = short(supply, order=order)
    plan = optimise(t, Search(nodes=105, tube=17))
    coarse, fine = cell_bound(t, plan.energy, 131, 261), cell_bound(t, plan.energy, 131, 1041)
    assert (
        0.5 * plan.energy < coarse < fine < plan.energy - plan.estimate
        and fine > 0.85 * plan.energy
    )
    assert cell_bound(t, 1.5 * plan.energy, 131, 261) <= coarse  # a worse plan prunes less


def test_long_steps_are_bounded_too():
    """A step that could cross a quarter of the stroke, also where joints forbid it: pistons there say nothing of the others."""
    t = task(PlannedLoadSensing(), steps=30)
    plan = optimise(t, Search(nodes=209, finest=1e-4))
    assert 0.97 * plan.energy < cell_bound(t, plan.energy, 261, 1041) < plan.energy
    coarse = compare(t, Search(nodes=5), 0, only=())
    assert (
        0.9 * coarse.best.energy < coarse.bound < coarse.best.energy
    )  # the grid is coarse, the cells are not


def test_cells_and_relaxation_agree_on_oil(plans):
    """Two bounds that share nothing lie on the same side of the truth."""
    cells = cell_bound(task(oil()), plans["CP"].energy, 261, 1041)
    assert 0.9 * CP < cells < lower_bound(task(oil())).energy < CP


@pytest.mark.parametrize("supply", [oil(), PlannedLoadSensing()], ids=["CP", "LS"])
@pytest.mark.parametrize("seed", range(3))
def test_no_motion_is_below_the_bound(seed, supply):
    """Of random cranes, none of many random motions within the limits, and not the optimum."""
    crane = random_crane(seed)
    q = [(0.6 * a + 0.4 * b) for a, b in crane.joint_range()]
    at = crane.tip(q)
    t = task(
        supply,
        crane=crane,
        start=q[2],
        steps=25,
        path=Waypoints(
            "cartesian", (tuple(map(float, at)), (float(at[0]) + 0.25, float(at[1]) - 0.15)), 8.0
        ),
    )
    plan = optimise(t, Search(nodes=105, finest=1e-4))
    bound, rng = lower_bound(t, plan.energy).energy, np.random.default_rng(seed)
    assert bound <= plan.energy
    for _ in range(50):
        e = energy(
            t, np.clip(plan.q_3 + np.append(0.0, np.cumsum(rng.normal(0, 2e-3, 25))), *t.ranges[2])
        )
        assert e >= bound and e >= plan.energy - plan.estimate - 1e-9


@pytest.mark.parametrize(
    "supply",
    [
        PlannedLoadSensing(creep=2e-3, back=2e5),
        ElectricLoadSensing(),
        TwoPressures(),
        Speed(),
        Work(),
    ],
    ids=lambda v: type(v).__name__,
)
@pytest.mark.parametrize("cells", [27, 131])
def test_no_step_needs_less_than_its_cells_say(cells, supply):
    """Steps of random motions, wherever in their cells they begin and end, against what is said of the cells."""
    t, rng = short(supply), np.random.default_rng(cells)
    (low, high) = t.ranges[2]
    h, below = (
        (high - low) / (cells - 1),
        Below(t.step, supply.back, supply.creep),
    )
    grid, checked = _grid(t, cells, h, None), 0
    for _ in range(30):
        q = np.clip(
            t.start
            + np.append(0.0, np.cumsum(rng.normal(0, rng.choice([1e-4, 2e-3, 6e-3]), t.steps))),
            low,
            high,
        )
        given, (_, allowed) = parts(t, q), t.pistons(q)
        E, at = t.step.energy(*given) + np.zeros(t.steps), np.rint((q - grid.base) / h).astype(int)
        for k in np.flatnonzero((E < BIG) & allowed[:-1] & allowed[1:]):
            i, j = at[k], at[k + 1]
            least = below.energy(
                list(grid.X[k][:, i]),
                list(grid.X[k + 1][:, j]),
                grid.C[k][:, i + j],
                h * (j - i) / t.dt,
                0.0,
            )
            assert least <= E[k] * (1 + 1e-9) + 1e-9, (k, i, j)
            if supply.needs_forces:
                c, u = grid.C[k][:, i + j], h * (j - i) / t.dt
                F = [c[3 * n] + u * (c[3 * n + 1] + u * c[3 * n + 2]) for n in range(3)]
                assert all(
                    abs(a[k] - b) <= ε + 1e-6
                    for a, b, ε in zip(t.step.motion(*given)[1], F, c[9:12])
                )
            checked += 1
    assert checked > 200


@pytest.mark.long
@pytest.mark.parametrize(
    "supply",
    [
        PlannedLoadSensing(creep=2e-3, back=2e5),
        ElectricLoadSensing(creep=3e-3),
        TwoPressures(),
        Work(),
    ],
    ids=lambda v: type(v).__name__,
)
def test_slack_of_speeds_and_forces_is_used_whole(supply):
    """The least over all speeds within δ and forces within ε: below every one of them, and nearly reached by their corners."""
    t, rng, near = short(supply), np.random.default_rng(5), []
    below = Below(t.step, supply.back, supply.creep)
    for _ in range(60):
        v, F = rng.uniform(-0.04, 0.04, 3), rng.normal(0, 3e4, 3)
        δ, ε = np.abs(v) * rng.uniform(0, 0.9, 3), np.abs(F) * rng.uniform(0, 1.2, 3)
        c = [n for f in F for n in (f, 0.0, 0.0)] + [*ε, *δ]
        least = float(below.energy([0.0] * 3, list(v * t.dt), c, 0.0, 0.0))
        signs = np.array(list(product((-1, 0, 1), repeat=6)))
        given = [
            float(supply.power(list(v + s[:3] * δ), list(F + s[3:] * ε), t.step.areas)) * t.dt
            for s in signs
        ]
        assert least <= min(given) * (1 + 1e-9)
        near.append(least / min(given) if min(given) > 0 else 1.0)
    assert np.median(near) > 0.9
