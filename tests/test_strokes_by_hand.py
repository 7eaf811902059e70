"""Cylinders followed over their strokes: lengths and arms by differences, steps that close loops, where a stroke ends and why."""

from types import SimpleNamespace

import mechanisms as made
import numpy as np
import pytest

from plants.drives.laws import Force
from plants.multibody import held, strokes
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body, Pin

J = (0.3, 0.4, 0.5, 0.01, -0.02, 0.03)
BODIES = (
    Body("a", axis=(0.0, 0.2, 1.0), mass=5.0, com=(0.4, 0.1, 0.2), inertia=J, start=0.3),
    Body("b", "a", axis=(1.0, 0.0, 0.3), point=(1.0, 0.1, 0.2), mass=3.0, com=(0.1, 0.5, 0.3), inertia=J, start=-0.4),
    Body("c", "b", "prismatic", (0.2, 0.6, 0.1), (0.3, 1.0, 0.2), 2.0, (0.1, 0.2, -0.1), J, start=0.2),
)  # fmt: skip
LIFT = Actuator("lift", Force(), Pin("ground", (0.2, -0.7, 0.4)), Pin("a", (0.7, 0.2, -0.1)))
TILT = Actuator("tilt", Force(), Pin("a", (0.5, -0.4, 0.3)), Pin("b", (0.2, 0.5, 0.4)))
PUSH = Actuator("push", Force(), joint="c")
Z = np.array([0.3, -0.4, 0.2])


def rig(**ends):
    lift = Actuator("lift", Force(), LIFT.a, LIFT.b, **ends)
    return Mechanism(BODIES, actuators=(lift, TILT, PUSH))


# ---- lengths and arms -----------------------------------------------------------------------------------------------------
def test_lengths_and_their_slopes():
    """∂s/∂z by differences; weight takes no part in it."""
    own = rig()
    s, table = strokes._lengths(own, Z)
    step = lambda d: strokes._lengths(own, Z + d)[0]
    slopes = np.array([(step(d) - step(-d)) / 2e-6 for d in 1e-6 * np.eye(3)]).T
    assert table == pytest.approx(slopes, abs=1e-8) and s[2] == 0.2
    assert table[2].tolist() == [0.0, 0.0, 1.0] and abs(table[1, 1]) > 0.1
    lengths, N, L = strokes._arms(own, Z)
    assert N.tolist() == np.eye(3).tolist() and L == pytest.approx(table) and lengths == pytest.approx(s)  # fmt: skip


def test_what_no_drive_feels_does_not_depend_on_the_weight():
    """Joints of the two other cylinders, in space."""
    for ks, free in (((2,), [0, 1]), ((1, 2), [0]), ((0, 2), [1])):
        N = held.free_motions(rig(longest=9.0), ks)
        wanted = np.zeros((3, 3))
        wanted[free, free] = 1.0
        assert N @ N.T == pytest.approx(wanted, abs=1e-12)


# ---- steps on loops -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("by", [0.04, -0.07])
def test_a_step_is_closed_again(by):
    own = made.four_bar()
    z = np.array(own.assembly.z)
    there = strokes._stepped(own, z, np.array([by, 0.0, 0.0]))
    rows = lambda z: np.array([row.value for row in own.rows(own.moving(list(z), None))], float)
    assert np.abs(rows(there)).max() < 1e-9 and np.abs(np.array(there) - z).max() > 0.01
    assert own.constraints(z + [by, 0, 0])[0] == pytest.approx(rows(z + [by, 0, 0]), abs=1e-15)


def test_a_step_too_far_from_its_loop_is_none():
    own = made.four_bar()
    assert strokes._stepped(own, own.assembly.z, np.array([0.0, 2.2, 0.0])) is None


# ---- followed -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_cylinder_is_followed_with_the_others_as_they_are(way):
    """In steps of 0.05 in the joint that moves most, the last one up to its end."""
    at = float(strokes._lengths(rig(), Z)[0][0])
    own = rig(shortest=at - 0.17, longest=at + 0.17)
    path, dead = strokes._followed(own, 0, way, Z)
    assert dead == () and path[0] == (pytest.approx(at), tuple(Z))
    assert path[-1][0] == pytest.approx(at + 0.17 * way, abs=1e-6)
    places = np.array([z for _, z in path])
    steps = np.abs(np.diff(places, axis=0)).max(axis=1)
    assert steps[:-1] == pytest.approx(0.05) and 0 < steps[-1] <= 0.05 + 1e-12
    lengths = np.array([strokes._lengths(own, z)[0] for z in places])
    assert np.abs(lengths[:, 1:] - lengths[0, 1:]).max() < 0.02
    assert lengths[:, 0] == pytest.approx([s for s, _ in path])


def arms(monkeypatch, table):
    """Three cylinders on three joints with lever arms that are written down, and no loops."""
    monkeypatch.setattr(strokes, "_arms", lambda m, z: (np.array(z), np.eye(3), np.diag(table(z[0]))))  # fmt: skip
    monkeypatch.setattr(strokes, "_lengths", lambda m, z: (np.array(z), None))
    monkeypatch.setattr(strokes, "_stepped", lambda m, z, move: [a + b for a, b in zip(z, move)])
    own = SimpleNamespace(actuators=[SimpleNamespace(span=(-9.0, 0.42))] + [SimpleNamespace(span=(-9.0, 9.0))] * 2)  # fmt: skip
    return strokes._followed(own, 0, 1.0, [0.1, 0.0, 0.0])


def test_the_least_of_all_arms_counts_against_its_own_largest(monkeypatch):
    """0.5 at first: dead below 0.005, whatever the other arms are."""
    for least, ends in ((0.0049, True), (0.0051, False)):
        path, dead = arms(monkeypatch, lambda z, k=least: (3.0, 2.0, 0.5 if z < 0.22 else k))
        assert [s for s, _ in path][:4] == pytest.approx([0.1, 0.15, 0.2, 0.25])
        assert dead == ((pytest.approx(0.25),) if ends else ())
        assert path[-1][0] == pytest.approx(0.25 if ends else 0.42)


def test_an_arm_that_turns_round_between_two_steps_is_a_dead_point(monkeypatch):
    path, dead = arms(monkeypatch, lambda z: (3.0 * (0.22 - z), 2.0, 1.0))
    assert dead == (pytest.approx(0.25),) and len(path) == 4


def test_a_loop_that_no_longer_closes_ends_a_stroke_where_it_was(monkeypatch):
    monkeypatch.setattr(strokes, "_onward", lambda m, spans, z, s, move: (None, s, True))
    monkeypatch.setattr(strokes, "_arms", lambda m, z: (np.array([5.0]), np.eye(1), np.eye(1)))
    own = SimpleNamespace(actuators=[SimpleNamespace(span=(0.0, 9.0))])
    assert strokes._followed(own, 0, 1.0, [0.1]) == ([(5.0, (0.1,))], (5.0,))


# ---- ends within a step -----------------------------------------------------------------------------------------------------
def onward(monkeypatch, curve, spans, at=0.0, move=1.0):
    """A step of the joint, with a cylinder whose length is a curve of it."""
    looked = []
    monkeypatch.setattr(strokes, "_stepped", lambda m, z, step: looked.append(step[0]) or [z[0] + step[0]])  # fmt: skip
    monkeypatch.setattr(strokes, "_lengths", lambda m, z: (np.array([curve(z[0])]), None))
    found = strokes._onward(None, np.array([spans]), [at], np.array([curve(at)]), np.array([move]))
    return found, looked


def test_an_end_within_a_step_is_found_by_shares(monkeypatch):
    """Of a curved length each share is taken again, four times at most, until the end is met to a billionth."""
    (z, s, ended), looked = onward(monkeypatch, lambda q: q * (1 + 0.3 * q), (-9.0, 0.4))
    assert ended is True and s[0] == pytest.approx(0.4, abs=2e-3) and len(looked) == 4
    assert looked[:2] == pytest.approx([1.0, 0.4 / 1.3])
    (z, s, ended), looked = onward(monkeypatch, lambda q: 2 * q, (-9.0, 0.4))
    assert z == pytest.approx([0.2]) and ended is True and looked == pytest.approx([1.0, 0.2])


def test_a_step_that_stays_within_or_begins_at_its_end(monkeypatch):
    (z, _, ended), looked = onward(monkeypatch, lambda q: q, (-9.0, 1.5))
    assert (z, ended, looked) == ([1.0], False, [1.0])
    (z, s, ended), looked = onward(monkeypatch, lambda q: q, (-9.0, 0.0))
    assert (z, s.tolist(), ended, looked) == ([0.0], [0.0], True, [1.0])
    (z, _, ended), looked = onward(monkeypatch, lambda q: 3.0, (-9.0, 4.0))
    assert ended is False and looked == [1.0]


def test_a_motion_that_turns_by_less_than_a_right_angle_goes_on(monkeypatch):
    """First the one joint, then more of the other: 0.3 of the way is still the same."""
    ways = lambda z: np.array([[1.0, 0.0], [0.0, 1.0]] if z < 0.12 else [[0.3, 0.0], [1.0, 1.0]])
    monkeypatch.setattr(strokes, "_arms", lambda m, z: (np.array(z), ways(z[0]), np.eye(2)))
    monkeypatch.setattr(strokes, "_lengths", lambda m, z: (np.array(z), None))
    monkeypatch.setattr(strokes, "_stepped", lambda m, z, move: [a + b for a, b in zip(z, move)])
    own = SimpleNamespace(actuators=[SimpleNamespace(span=(-9.0, 0.19)), SimpleNamespace(span=(-9.0, 9.0))])  # fmt: skip
    path, dead = strokes._followed(own, 0, 1.0, [0.0, 0.0])
    assert dead == () and path[-1][0] == pytest.approx(0.19)
