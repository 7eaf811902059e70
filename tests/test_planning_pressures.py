"""Constant pressure: no cylinder may need more than the line gives, and where none does nothing changes."""

from dataclasses import replace

import numpy as np
import pytest
from planning_cases import oil, short, smaller, task

from plants.crane.planar import planar_crane
from workbench import InputError
from workbench.planning import PlannedConstantPressure, PlannedLoadSensing, Search, optimise
from workbench.planning.curve import held
from workbench.planning.dynamic import energy
from workbench.planning.feasible import feasible
from workbench.planning.task import BIG
from workbench.planning.transcription import transcribe
from workbench.run.reference import Waypoints

FEW = Search(nodes=105, finest=1e-4)


def needs(plan) -> np.ndarray:
    """(N, 3) Pa, (34) by hand: a force along the motion over the area it acts on."""
    v, F = plan.signals["v"], plan.signals["F"]
    area = np.where(F > 0, *np.array(plan.task.step.areas).T[:, None, :])
    return np.where(F * v > 0, np.abs(F) / area, 0.0)


@pytest.fixture(scope="module")
def light():
    """Nothing asked of loads."""
    return optimise(short(oil()), FEW)


def test_large_cylinders_change_nothing(light):
    plan = optimise(short(PlannedConstantPressure(185e5)), FEW)
    np.testing.assert_array_equal(plan.q_3, light.q_3)
    assert (
        plan.energy == pytest.approx(185e5 * light.energy, rel=1e-12) and needs(plan).max() < 185e5
    )


def test_just_enough_is_enough_and_a_little_less_moves_the_plan(light):
    most = needs(light).max()
    same = optimise(short(PlannedConstantPressure(most * (1 + 1e-9))), FEW)
    np.testing.assert_array_equal(same.q_3, light.q_3)
    less = optimise(short(PlannedConstantPressure(0.99 * most)), FEW)
    assert needs(less).max() <= 0.99 * most * (1 + 1e-9)
    assert light.energy * (1 + 1e-6) < less.energy / (0.99 * most) < 1.01 * light.energy


@pytest.mark.long
def test_small_cylinders_are_refused_with_words():
    thin = smaller(planar_crane(), bore=0.055)
    assert optimise(short(oil(), crane=thin), FEW).energy > 0
    words = r"near \(.*\) m, the (lift|tilt) cylinder would need .* above the 185 bar it is given"
    with pytest.raises(InputError, match=words) as why:
        optimise(short(PlannedConstantPressure(185e5), crane=thin), FEW)
    enough = 1e5 * float(why.value.mend.split("in this time ")[1].split(" bar would do")[0])
    assert optimise(short(PlannedConstantPressure(enough), crane=thin)).energy > 0
    assert not feasible(short(PlannedConstantPressure(0.97 * enough), crane=thin))


def test_a_limit_below_the_line_is_asked_too():
    with pytest.raises(InputError, match="above the 100 bar it is given"):
        optimise(short(PlannedConstantPressure(185e5), p_max=100e5), FEW)


@pytest.mark.long
@pytest.mark.parametrize("order", [1, 2])
def test_what_is_allowed_is_what_load_sensing_may_with_that_pressure(order):
    """Random motions, back pressure and creep included."""
    rng, both = np.random.default_rng(order), [0, 0]
    path = Waypoints("cartesian", ((2.4, 0.2), (3.2, 0.9)), 9.0)
    way = dict(
        crane=smaller(planar_crane(), a_max=3.0, v_max=0.7),
        path=path,
        steps=12,
        start=0.3,
        order=order,
    )
    for _ in range(300):
        top, back, creep = rng.uniform((80e5, 0.0, 0.0), (180e5, 8e5, 5e-3))
        line = task(PlannedConstantPressure(top, back=back, creep=creep), **way)
        pump = task(PlannedLoadSensing(0.0, back=back, creep=creep), p_max=top, **way)
        q = np.append(0.3, 0.3 + np.cumsum(rng.uniform(-0.05, 0.08, 12)))
        allowed = energy(line, q) < BIG
        assert allowed == (energy(pump, q) < BIG)
        both[allowed] += 1
        for mine, theirs in zip(held(line), held(pump)):
            np.testing.assert_allclose(mine, theirs, rtol=1e-6)
    assert min(both) > 30


def test_the_direct_transcription_keeps_it_and_finds_no_less():
    tight = short(PlannedConstantPressure(150e5), steps=12)
    found = optimise(tight)
    assert found.energy > (1 + 1e-6) * 150e5 * optimise(replace(tight, supply=oil())).energy
    other, _ = transcribe(tight, 2)
    assert needs(other).max() <= 150e5 * (1 + 2e-6)
    assert found.energy * (1 - 1e-4) < other.energy < 1.2 * found.energy
