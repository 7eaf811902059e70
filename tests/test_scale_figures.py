"""Scales of machines from sizes given by hand, and strokes and reach of mechanisms from motions written down."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from plants import scales
from plants.drives.contract import Sizes
from plants.multibody import reach
from plants.multibody import strokes as strokes_of
from plants.multibody.strokes import Stroke
from workbench.contract.errors import InputError


def values(found):
    return {name: scale.value for name, scale in found.items()}


ONE = Sizes(2e7, "supply pressure", 900.0, 3e4, 0.5, 0.2)
OTHER = Sizes(1.5e7, "relief", 400.0, 5e4, 0.3, 0.7)


def test_of_several_drives_the_weakest_shortest_and_slowest_stand():
    assert values(scales.of_sizes([ONE])) == {
        "energy": 900.0,
        "pressure": 2e7,
        "force": 3e4,
        "length": 0.5,
        "velocity": 0.2,
    }
    both = scales.of_sizes([ONE, OTHER, ONE])
    assert values(both) == {
        "energy": 2200.0,
        "pressure": 1.5e7,
        "force": 3e4,
        "length": 0.3,
        "velocity": 0.2,
    }
    assert both["pressure"].source == "supply pressure or relief"
    assert both["force"].source == "supply pressure or relief × smallest rod side"


def test_motors_have_a_torque_a_turn_and_a_rate():
    alone = scales.of_drives([], [OTHER])
    assert values(alone) == {
        "energy": 400.0,
        "pressure": 1.5e7,
        "torque": 5e4,
        "angle": 0.3,
        "rate": 0.7,
    }
    assert not alone["energy"].source.endswith("cylinders")
    found = scales.of_drives([ONE], [OTHER])
    assert values(found) == {
        "energy": 1300.0,
        "pressure": 1.5e7,
        "force": 3e4,
        "length": 0.5,
        "velocity": 0.2,
        "torque": 5e4,
        "angle": 0.3,
        "rate": 0.7,
    }
    assert found["energy"].source.endswith("and the volume of the cylinders")
    assert scales.of_drives([OTHER], [ONE])["pressure"].source == "relief"
    assert values(scales.of_drives([ONE, OTHER], [])) == values(scales.of_sizes([ONE, OTHER]))


def actuator(limit=None, unit="N", span=None, sizes=None, turns=False, driven=True):
    drive = SimpleNamespace(
        sizes=lambda line: sizes,
        turns=turns,
        limit=limit,
        inputs=lambda name: (SimpleNamespace(unit=unit),) if driven else (),
    )
    low, high = span or (None, None)
    return SimpleNamespace(name="a", drive=drive, shortest=low, longest=high)


def mechanism(*actuators):
    return values(scales.of_mechanism(SimpleNamespace(actuators=actuators, line_at_most=None)))


def test_a_mechanism_by_its_oil_or_by_the_limits_of_its_actuators():
    """Forces and torques apart; an energy only of actuators that all have a span."""
    assert mechanism(actuator(9.0), actuator(sizes=ONE)) == values(scales.of_sizes([ONE]))
    assert mechanism(actuator(sizes=ONE), actuator(sizes=OTHER, turns=True)) == values(
        scales.of_drives([ONE], [OTHER])
    )
    pushes = (actuator(300.0, span=(0.5, 0.7)), actuator(200.0, span=(1.0, 1.5)))
    assert mechanism(*pushes) == pytest.approx({"force": 200.0, "length": 0.2, "energy": 160.0})
    turns = actuator(40.0, "N m", (-1.0, 2.0))
    assert mechanism(*pushes, turns) == pytest.approx(
        {"force": 200.0, "length": 0.2, "energy": 280.0, "torque": 40.0, "angle": 3.0}
    )
    assert mechanism(*pushes, actuator(100.0)) == pytest.approx({"force": 100.0, "length": 0.2})
    assert mechanism(actuator(100.0, driven=False), actuator(None, span=(0.0, 1.0))) == {}
    assert mechanism(actuator(5.0, "N m")) == {"torque": 5.0}


def test_an_ieha_by_its_load_at_full_speed():
    """b_v v + m g at the pump's largest eccentricity, over the smaller of its two areas."""
    plant = SimpleNamespace(
        stop_Y=SimpleNamespace(limit=0.03),
        stop_E=SimpleNamespace(limit=2e-3),
        velocity_gain=50.0,
        S_A=4e-4,
        S_B=5e-4,
        b_v=700.0,
        m=12.0,
    )
    force = 700.0 * 0.1 + 12.0 * 9.81
    assert values(scales.of_ieha(plant)) == pytest.approx(
        {
            "energy": force * 0.06,
            "pressure": force / 4e-4,
            "force": force,
            "length": 0.06,
            "velocity": 0.1,
        }
    )


def test_metered_arms_with_rods_and_motors():
    """A rod goes twice its longest lever, a motor its ratio times the range; rates are the gain times range over way."""

    def arm(A_h, A_r, turns=False, i=3.0, lever=0.4):
        return SimpleNamespace(
            section=SimpleNamespace(A_h=A_h, A_r=A_r), turns=turns, i=i, longest_lever=lever
        )

    def found(*arms, ranges=((-1.0, 1.0), (0.0, 1.5))):
        plant = SimpleNamespace(
            pump=SimpleNamespace(P_M=2e7),
            arms=arms,
            joint_range=lambda: ranges[: len(arms)],
            velocity_gain=0.6,
        )
        return values(scales.of_arms(plant))

    rods = found(arm(3e-3, 2e-3), arm(2e-3, 1e-3, lever=0.25))
    assert rods == pytest.approx(
        {
            "pressure": 2e7,
            "angle": 1.5,
            "energy": 2e7 * (3e-3 * 0.8 + 2e-3 * 0.5),
            "force": 2e7 * 1e-3,
            "length": 0.5,
            "velocity": 0.6,
            "rate": min(0.6 * 2.0 / 0.8, 0.6 * 1.5 / 0.5),
        }
    )
    mixed = found(arm(3e-3, 2e-3), arm(2e-5, 1e-5, turns=True))
    assert mixed == pytest.approx(
        {
            "pressure": 2e7,
            "angle": 1.5,
            "energy": 2e7 * (3e-3 * 0.8 + 2e-5 * 4.5),
            "force": 2e7 * 2e-3,
            "length": 0.8,
            "torque": 2e7 * 1e-5,
            "rate": min(0.6 * 2.0 / 0.8, 0.6 / 3.0),
        }
    )


# ---- strokes ---------------------------------------------------------------------------------------------------------------
SPANS = np.array([[0.5, 1.0], [-np.inf, np.inf], [2.0, 2.5]])


@pytest.mark.parametrize(
    "there, share",
    [
        (
            [0.8, 9.0, 2.4],
            1.5,
        ),  # three steps of 0.1 m to the one end, one and a half of 0.2 m to the other
        ([0.9, 9.0, 2.2], 1.5),
        ([1.1, 9.0, 2.2], 0.75),
        ([0.4, 9.0, 2.2], 2 / 3),
        ([0.7, 9.0, 2.2], math.inf),
        ([0.8, 9.0, 1.8], 0.5),
    ],
)
def test_the_share_of_a_step_after_which_an_actuator_leaves_its_span(there, share):
    found = strokes_of._left(SPANS, np.array([0.7, 0.0, 2.2]), np.array(there))
    assert found == pytest.approx(share)


def test_an_actuator_beyond_its_span_already_leaves_it_at_once():
    assert strokes_of._left(SPANS[:1], np.array([1.1]), np.array([1.2])) == 0.0
    assert strokes_of._left(SPANS[:1], np.array([1.1]), np.array([1.1 + 5e-10])) == math.inf


def onward(monkeypatch, move, length=lambda x: x, span=(0.0, 1.0), start=0.7):
    """One actuator whose length is a function of the one position."""
    monkeypatch.setattr(strokes_of, "_stepped", lambda mechanism, z, move: [z[0] + move[0]])
    monkeypatch.setattr(
        strokes_of, "_lengths", lambda mechanism, z: (np.array([length(z[0])]), None)
    )
    spans, s = np.array([span]), np.array([length(start)])
    z, s, ended = strokes_of._onward(None, spans, [start], s, np.array([move]))
    return z[0], s[0], ended


def test_a_step_ends_where_the_span_does(monkeypatch):
    """A step that stays inside is taken whole; one over the end is cut there, also along a curve."""
    assert onward(monkeypatch, 0.2) == pytest.approx((0.9, 0.9, False))
    assert onward(monkeypatch, -0.2) == pytest.approx((0.5, 0.5, False))
    assert onward(monkeypatch, 0.6) == pytest.approx((1.0, 1.0, True))
    assert onward(monkeypatch, -1.4) == pytest.approx((0.0, 0.0, True))
    assert onward(monkeypatch, 0.3) == pytest.approx((1.0, 1.0, True))
    z, s, ended = onward(monkeypatch, 0.5, length=lambda x: x**2)
    assert ended and 0.99 < s <= 1.0 and z == pytest.approx(math.sqrt(s))  # secants from inside


def test_a_dead_point_in_a_stroke_is_refused_with_a_length_before_it(monkeypatch):
    """A fiftieth of the way back towards the start, on the side where it lies."""
    assert strokes_of._inside(1.0, 0.5) == pytest.approx(0.99)
    assert strokes_of._inside(0.2, 0.7) == pytest.approx(0.21)
    own = SimpleNamespace(
        actuators=(
            SimpleNamespace(name="other", span=(0.0, 9.0)),
            SimpleNamespace(name="lift", span=(0.4, 1.5)),
        ),
        assembly=SimpleNamespace(z=(0.0,)),
    )
    monkeypatch.setattr(strokes_of, "_lengths", lambda m, z: (np.array([5.0, 0.7]), None))
    for dead, side, stop in (((1.2,), "longest", "1.19"), ((0.5,), "shortest", "0.504")):
        monkeypatch.setattr(
            strokes_of,
            "strokes",
            lambda m, dead=dead: (Stroke("other", (), (), ()), Stroke("lift", (), (), dead)),
        )
        with pytest.raises(InputError) as why:
            strokes_of.check_strokes(own)
        assert "actuators.lift: its stroke, 0.4 … 1.5 m" in why.value.message
        assert f"dead point at {dead[0]:g} m" in why.value.message
        assert "(it is 0.7 m long at the start)" in why.value.message
        assert f"'{side}: {stop} m'" in why.value.mend
    monkeypatch.setattr(strokes_of, "strokes", lambda m: (Stroke("lift", (), (), ()),))
    strokes_of.check_strokes(own)


# ---- reach -----------------------------------------------------------------------------------------------------------------
def moving(monkeypatch, *paths, start=(0.0, 0.0, 0.0), own=(0, 1)):
    """A mechanism of three positions whose cylinders go through these."""
    found = tuple(Stroke(f"c{k}", (), tuple(map(tuple, path)), ()) for k, path in enumerate(paths))
    monkeypatch.setattr(reach, "strokes", lambda mechanism: found)
    monkeypatch.setattr(reach.coordinates, "independent", lambda mechanism: True)
    monkeypatch.setattr(reach, "placed", lambda mechanism, poses, pin: poses)
    return SimpleNamespace(
        coordinates=tuple(SimpleNamespace(name=f"q{i}") for i in range(3)),
        assembly=SimpleNamespace(z=start),
        own=(own,),
        tcp=None,
        actuators=(),
    )


def test_ranges_over_all_strokes(monkeypatch):
    """A joint that two cylinders move has the range of both; one that none moves has none."""
    m = moving(
        monkeypatch, [(-1.0, 0.0, 0.0), (0.5, 0.0, 5e-7)], [(0.0, -2.0, 0.0), (0.8, 3.0, 0.0)]
    )
    assert reach.ranges(m) == {"q0": (-1.0, 0.8), "q1": (-2.0, 3.0)}


def test_a_demonstration_goes_towards_the_farther_end(monkeypatch):
    """By 20 % of the range, or half of the way to an end; then to the other side. None for a joint without a range."""
    paths = [(-1.0, 0.0, 0.0), (0.5, 0.0, 0.0)], [(0.0, -2.0, 0.0), (0.0, 3.0, 0.0)]
    both = reach.demo(moving(monkeypatch, *paths))
    assert np.allclose(both, ((-0.3, 1.0), (0.25, -1.0)))
    assert np.allclose(reach.demo(moving(monkeypatch, *paths, own=(1,))), ((1.0,), (-1.0,)))
    assert reach.demo(moving(monkeypatch, *paths, own=(2,))) is None
    even = [(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)]
    assert np.allclose(reach.demo(moving(monkeypatch, even, own=(0,))), ((-0.4,), (0.4,)))
    monkeypatch.setattr(reach.coordinates, "independent", lambda mechanism: False)
    m = moving(monkeypatch, *paths)
    monkeypatch.setattr(reach.coordinates, "independent", lambda mechanism: False)
    assert reach.demo(m) is None


def test_motions_of_cylinders_add_up(monkeypatch):
    """All pairs of steps of two cylinders that move different joints; side by side they are one motion."""
    start = (0.1, 0.2, 0.3)
    a = [(0.1 + v, 0.2, 0.3) for v in (-1.0, 0.0, 1.0)]
    b = [(0.1, 0.2 + v, 0.3) for v in (-2.0, 0.0, 3.0)]
    found = reach.tool_points(moving(monkeypatch, a, b, start=start))
    each = int(math.sqrt(reach.MOST))
    assert len(found) == min(each, 400) ** 2
    assert found.min(axis=0) == pytest.approx([-0.9, -1.8, 0.3])
    assert found.max(axis=0) == pytest.approx([1.1, 3.2, 0.3])
    corners = {tuple(np.round(p, 9)) for p in found}
    assert {(-0.9, -1.8, 0.3), (1.1, 3.2, 0.3), (-0.9, 3.2, 0.3)} <= corners
    twin = reach.tool_points(moving(monkeypatch, a, a, start=start))
    assert len(twin) == 400
    assert reach.tool_points(moving(monkeypatch, start=start)) == pytest.approx(np.array([start]))


def test_some_steps_of_a_motion_with_its_ends():
    motion = np.arange(20.0).reshape(10, 2)
    assert reach._some(motion, 4)[:, 0].tolist() == [0, 6, 12, 18]
    assert reach._some(motion, 99).tolist() == motion.tolist()
    assert reach._moved(np.array([[0.0, -2e-6, 1e-7], [0.0, 0.0, 0.0]])) == {1}


def test_a_motion_is_even_in_the_joint_that_moves_most():
    """400 points; the second joint goes 3 in the second of two steps, where the first goes 1 in the first."""
    stroke = Stroke("c", (), ((1.0, 0.0), (2.0, 0.5), (2.5, 3.5)), ())
    found = reach._thinned(stroke, np.array([1.0, 0.0]))
    assert found.shape == (400, 2)
    way = np.linspace(0.0, 4.0, 400)
    assert found[:, 0] == pytest.approx(np.interp(way, [0, 1, 4], [0, 1, 1.5]))
    assert found[:, 1] == pytest.approx(np.interp(way, [0, 1, 4], [0, 0.5, 3.5]))
