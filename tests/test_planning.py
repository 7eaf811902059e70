"""Dynamic programming on the redundant crane: the known optimum, the same numbers without a compiler, refusals."""

from dataclasses import replace

import numpy as np
import pytest
from planning_cases import CP, LS, TRIANGLE, oil, short, smaller, task

from plants.crane.planar import planar_crane
from workbench import InputError
from workbench.planning import (
    EfficiencyMap,
    ElectricLoadSensing,
    PlannedConstantPressure,
    PlannedLoadSensing,
    Search,
    Speed,
    TwoPressures,
    Work,
    optimise,
    recursion,
    shortest_time,
)
from workbench.planning import dynamic as dp
from workbench.planning.kernel import Kernel
from workbench.planning.kernel_numpy import one, two
from workbench.run.reference import Waypoints

SUPPLIES = (
    oil(),
    PlannedConstantPressure(160e5, back=3e5),
    PlannedLoadSensing(),
    PlannedLoadSensing(back=4e5, η=0.8),
    ElectricLoadSensing(),
    TwoPressures(),
    Work(),
    Speed(),
    PlannedLoadSensing(
        map=EfficiencyMap((2e6, 1e7, 2e7), (1e-4, 6e-4), ((0.5, 0.7), (0.6, 0.85), (0.7, 0.8)))
    ),
)


@pytest.fixture(scope="module")
def plans():
    return {"CP": optimise(task(oil())), "LS": optimise(task())}


def test_the_known_optimum_of_oil_is_found_within_a_tenth_of_a_percent(plans):
    plan = plans["CP"]
    assert plan.energy == pytest.approx(CP, rel=1e-3)
    assert abs(plan.energy - CP) <= plan.estimate + 5e-8  # the published value has five digits


def test_load_sensing_is_no_worse_than_the_best_known(plans):
    assert plans["LS"].energy <= LS
    assert 0 < plans["LS"].estimate < 0.005 * LS
    assert plans["LS"].creeping() > 50  # the optimum leans on cylinders that creep


def test_more_steps_change_the_optimum_little():
    assert optimise(task(oil(), steps=300)).energy == pytest.approx(CP, rel=1e-3)


def test_the_energy_is_that_of_the_motion_reported(plans):
    for plan in plans.values():
        assert plan.energy == pytest.approx(plan.signals["E"].sum(), rel=1e-12)
        r = np.array([plan.task.crane.tip(q) for q in plan.signals["q"]])
        np.testing.assert_allclose(r, plan.task.tips, atol=1e-9)
        assert (
            np.abs(plan.signals["v"]).max(axis=0) <= np.array(plan.task.step.v_max) * (1 + 1e-9)
        ).all()


def test_refinement_never_costs(plans):
    for plan in plans.values():
        energies = [e for _, e in plan.history]
        assert (np.diff(energies) <= 0).all() and len(energies) > 5


@pytest.mark.parametrize("supply", SUPPLIES, ids=lambda s: type(s).__name__)
def test_compiled_and_numpy_recursion_agree(supply):
    t = short(supply)
    kernel = Kernel(t.step, dp.coefficients(t))
    g = dp.grid(t, np.linspace(0.0, 0.003, t.steps + 1), 0.0113, 92, {0: 2})
    last = np.where(g.ok[-1] > 0.5, 0.0, 1e30)
    J, best = kernel.one(g, last, t.reach)
    J2, best2 = one(t.step, g, last, t.reach)
    reached = J2 < 1e29
    assert reached.sum() > 300 and ((J < 1e29) == reached).all()
    np.testing.assert_allclose(J[reached], J2[reached], rtol=1e-12)
    assert (best[reached[:-1]] >= 0).all() and np.mean(best == best2) > 0.99


@pytest.mark.parametrize(
    "supply", [oil(), PlannedLoadSensing(back=3e5), TwoPressures()], ids=lambda s: type(s).__name__
)
def test_compiled_and_numpy_recursion_agree_on_two_states(supply):
    t = short(supply, order=2)
    kernel = Kernel(t.step, dp.coefficients(t))
    base = np.append(0.0, np.linspace(0.001, 0.003, t.steps))
    g = dp.grid(t, base, 0.0113, 92, {0: 2})
    given = (g, np.where(g.ok[-1] > 0.5, 0.0, 1e30), t.reach, t.push / 3, 23)
    (V, best), (V2, best2) = kernel.two(*given), two(t.step, *given)
    reached = V2 < 1e29
    assert 3000 < reached.sum() < 0.9 * V.size and ((V < 1e29) == reached).all()
    np.testing.assert_allclose(V[reached], V2[reached], rtol=1e-12)
    assert (best2[reached] >= 0).all() and np.mean(best == best2) > 0.99


def test_the_recursion_is_the_least_of_all_paths():
    """Every path of a small grid, one after the other."""
    t = short(steps=4, path=Waypoints("cartesian", ((2.3, 0.2), (2.6, 0.5)), 2.0))
    g = dp.grid(t, np.zeros(5), 0.03, 5, {0: 1})
    J, _ = Kernel(t.step, 9).one(g, np.where(g.ok[-1] > 0.5, 0.0, 1e30), t.reach)
    paths = np.stack(np.meshgrid([1], *[range(5)] * 4, indexing="ij"), -1).reshape(-1, 5)
    energies = [dp.energy(t, 0.03 * p) for p in paths]
    assert J[0, 1] == pytest.approx(min(energies), rel=1e-12)
    assert sum(e < 1e29 for e in energies) > 200


@pytest.mark.parametrize(
    "supply", [oil(), pytest.param(PlannedLoadSensing(), marks=pytest.mark.long)], ids=["CP", "LS"]
)
def test_two_states_are_the_least_of_all_paths_with_limited_accelerations(supply):
    t = short(supply, steps=4, path=Waypoints("cartesian", ((2.3, 0.2), (2.4, 0.3)), 2.0), order=2)
    t = replace(t, crane=smaller(t.crane, a_max=0.18))
    g = dp.grid(t, np.zeros(5), 0.03, 5, {0: 1})
    q, _ = recursion._one_pass(t, Kernel(t.step, dp.coefficients(t)), g, None)
    paths = np.stack(np.meshgrid([1], *[range(5)] * 4, indexing="ij"), -1).reshape(-1, 5)
    energies = np.array([dp.energy(t, 0.03 * p) for p in paths])
    free = np.array([dp.energy(replace(t, order=1), 0.03 * p) for p in paths])
    assert dp.energy(t, q) == pytest.approx(energies.min(), rel=1e-12)
    assert 5 < (energies < 1e29).sum() < 0.7 * (free < 1e29).sum()  # the limit matters


@pytest.mark.long
def test_limited_accelerations_cost_little_and_are_kept(plans):
    plan = optimise(task(order=2), Search(nodes=209, tube=33))
    assert plans["LS"].energy < plan.energy < 1.02 * plans["LS"].energy
    v = np.vstack([np.zeros(3), plan.signals["v"], np.zeros(3)])
    a = np.abs(np.diff(v, axis=0)).max(axis=0) / plan.task.dt
    assert (a <= np.array([0.2, 0.2, 0.5]) * (1 + 1e-6)).all()
    jumps = np.abs(np.diff(plans["LS"].signals["v"], axis=0)).max(axis=0) / plan.task.dt
    assert (jumps > np.array([0.2, 0.2, 0.5])).any()  # without the limit it is passed


def test_a_given_end_is_met_and_costs():
    free, held = optimise(short()), optimise(short(end=0.923456))
    assert held.q_3[-1] == pytest.approx(0.923456, abs=1e-12)
    assert held.energy > free.energy


@pytest.mark.parametrize("order", [1, 2])
def test_no_compiler_the_same_plan(monkeypatch, order):
    from workbench.planning import kernel as k

    t, coarse = short(order=order), Search(nodes=61, finest=1e-3, tube=11)
    compiled = optimise(t, coarse)
    monkeypatch.setattr(k, "library", lambda source: None)
    monkeypatch.setattr(k, "_compiled", {})
    plain = optimise(t, coarse)
    assert plain.energy == pytest.approx(compiled.energy, rel=1e-9)
    np.testing.assert_allclose(plain.q_3, compiled.q_3, atol=1e-9)


# ---- what cannot be done ------------------------------------------------------------------------------------------------
def refused(**changes) -> str:
    with pytest.raises(InputError) as why:
        optimise(task(**changes))
    return str(why.value)


def test_a_path_beyond_the_reach_says_where_and_by_how_much():
    said = refused(path=Waypoints("cartesian", ((6.0, 0.2), (2.3, 0.2)), 10.0))
    assert "beyond what the links reach" in said and "at t = " in said
    crane, at = planar_crane(), float(said.split("the tip (")[1].split(",")[0])
    assert np.hypot(at - crane.origin[0], 0.2 - crane.origin[1]) > crane.L_1 + crane.L_2 + 1.04


def test_a_path_beyond_a_joint_names_the_joint():
    said = refused(path=Waypoints("cartesian", ((2.3, 0.2), (4.9, 2.4), (2.3, 0.2)), 10.0))
    assert "q_2 would be" in said and "-22.82°" in said


@pytest.mark.long
def test_a_path_in_too_short_a_time_names_the_limit_and_a_time_that_will_do():
    said = refused(path=Waypoints("cartesian", TRIANGLE, 4.0))
    assert "the tilt cylinder would have to move at" in said and "above its 0.1 m/s" in said
    seconds = float(said.split("take ")[1].split(" s")[0])
    optimise(task(path=Waypoints("cartesian", TRIANGLE, seconds / 3)))
    with pytest.raises(InputError):
        optimise(task(path=Waypoints("cartesian", TRIANGLE, seconds / 3 / 1.03)))
    assert shortest_time(task()) == pytest.approx(seconds, rel=0.02)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"Q_max": 10e-3 / 60}, ("the pump flow would be", "above 10 l/min", "take ")),
        (
            {"p_max": 100e5},
            ("the pump pressure would be", "above 100 bar", "even a very slow motion"),
        ),
        (
            {"supply": TwoPressures(high=120e5)},
            ("the pump pressure would be", "above 120 bar", "even a very slow motion"),
        ),
    ],
)
def test_pump_limits_are_named(changes, words):
    with pytest.raises(InputError) as why:
        optimise(short(**changes), Search(nodes=105, finest=1e-3))
    assert all(word in str(why.value) for word in words)


@pytest.mark.long
def test_too_tight_accelerations_are_named():
    said = refused(crane=smaller(planar_crane(), a_max=0.02), order=2)
    assert "accelerations leave no motion" in said and "0.02 m/s² are allowed" in said


def test_a_start_that_does_not_fit_is_named():
    t = task(path=Waypoints("cartesian", ((1.2, 0.2), (2.3, 0.2)), 30.0), start=1.0)
    with pytest.raises(InputError, match="start: an extension of 1 m does not fit there"):
        optimise(t)


@pytest.mark.parametrize(
    "changes",
    [
        {"order": 3},
        {"steps": 1},
        {"start": 2.0},
        {"end": -0.1},
        {"path": Waypoints("cartesian", ((1.0, 1.0, 0.0), (2.0, 1.0, 0.0)), 1.0)},
        {"path": Waypoints("cartesian", ((2.3, 0.2), (2.3, 0.2)), 1.0)},
    ],
)
def test_wrong_tasks_are_refused(changes):
    with pytest.raises(InputError):
        task(**changes)


def test_a_slip_of_the_pen_in_the_steps_is_refused_before_anything_is_made():
    with pytest.raises(InputError, match="steps: 1000000000, expected at most 20000.* GB"):
        task(steps=1_000_000_000)
    assert task(steps=20_000).steps == 20_000


def test_wrong_supplies_are_refused():
    with pytest.raises(ValueError, match="low"):
        TwoPressures(low=2e7, high=1e7)
    with pytest.raises(ValueError, match="rising"):
        EfficiencyMap((2e6, 1e6), (1e-4, 6e-4), ((0.5, 0.7), (0.6, 0.8)))
    with pytest.raises(ValueError, match="rows"):
        EfficiencyMap((1e6, 2e6), (1e-4, 6e-4), ((0.5, 0.7),))
    with pytest.raises(ValueError):
        PlannedConstantPressure(0.0)


# ---- supplies in closed form --------------------------------------------------------------------------------------------
AREAS = [(5e-3, 3.4e-3), (4e-3, 3e-3), (2e-3, 1.3e-3)]


def test_slow_retraction_takes_oil():
    """(29) in (27) would give a negative flow here."""
    assert PlannedConstantPressure(2e7).power([-1e-3, 0.0, 0.0], [0.0] * 3, AREAS) == pytest.approx(
        2e7 * 3.4e-3 * 1e-3
    )


def test_load_sensing_by_hand():
    v, F = [0.02, -0.03, 0.0], [4e4, -1e4, 9e4]
    Q, p = (
        0.02 * 5e-3 + 0.03 * 3e-3,
        max(4e4 / 5e-3, 1e4 / 3e-3),
    )  # the resting cylinder asks for nothing: H(0) = 0
    assert PlannedLoadSensing(1.5e6).power(v, F, AREAS) == pytest.approx((p + 1.5e6) * Q)
    assert PlannedLoadSensing(1.5e6, η=0.7).power(v, F, AREAS) == pytest.approx(
        (p + 1.5e6) * Q / 0.7
    )
    back = PlannedLoadSensing(1.5e6, back=3e5).pressure(v, F, AREAS)
    assert back == pytest.approx((4e4 + 3e5 * 3.4e-3) / 5e-3 + 1.5e6)
    assert PlannedLoadSensing(1.5e6).pressure([-0.02, 0.03, 0.0], F, AREAS) == pytest.approx(
        1.5e6
    )  # both driven by their loads


def test_two_pressures_by_hand():
    v, F = [0.02, -0.03, 0.01], [4e4, -1e4, 9e3]
    supply = TwoPressures(low=5e6, high=1e7, margin=1e6)
    assert supply.power(v, F, AREAS) == pytest.approx(
        1e7 * 0.02 * 5e-3
        + 5e6 * 0.03 * 3e-3
        + 1e7 * 0.01 * 2e-3 * 0
        + 1e7 * 2e-5 * 0
        + (1e7 if 9e3 / 2e-3 + 1e6 > 5e6 else 5e6) * 0.01 * 2e-3
    )


def test_electric_load_sensing_by_hand():
    v, F = [0.02, 0.0, 0.0], [4e4, 0.0, 0.0]
    supply = ElectricLoadSensing(2e5, 1e6, 2e-4)
    assert supply.power(v, F, AREAS) == pytest.approx((8e6 + 2e5 + 1e6 * 0.25) * 1e-4)


def test_efficiency_is_that_of_scipy():
    from scipy.interpolate import RegularGridInterpolator

    p, Q, rows = (
        (2e6, 1e7, 2e7),
        (1e-4, 4e-4, 6e-4),
        ((0.5, 0.7, 0.6), (0.6, 0.85, 0.8), (0.7, 0.8, 0.9)),
    )
    peer, rng = RegularGridInterpolator((p, Q), np.array(rows)), np.random.default_rng(1)
    for a, b in zip(rng.uniform(2e6, 2e7, 20), rng.uniform(1e-4, 6e-4, 20)):
        assert EfficiencyMap(p, Q, rows).at(a, b) == pytest.approx(peer([a, b])[0], rel=1e-12)
    assert EfficiencyMap(p, Q, rows).at(1e5, 1.0) == pytest.approx(0.6)
