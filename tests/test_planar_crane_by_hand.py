"""The planar crane with one redundant joint: triangles, places of the tip on both sides of its joints, motions, forces."""

from math import pi

import numpy as np
import pytest

from plants.crane.planar import Actuator, Link, PlanarCrane, Triangle
from workbench.contract.errors import InputError

LIFT = Triangle(1.2, 0.5, 0.9, 0.4)
TILT = Triangle(1.1, 0.45, 0.8, -2.9)
ROD = Actuator(0.1, 0.06, 0.6, 0.2, 1.0)
CRANE = PlanarCrane(
    "by hand", (0.25, 1.5), 2.5, 1.75, LIFT, TILT, (ROD, ROD, Actuator(0.08, 0.05, 1.5, 0.3, 2.0)),
    (Link(300.0, 1.1, 90.0, 0.05), Link(150.0, 0.6, 30.0, -0.1), Link(80.0, -0.7, 12.0, 0.02)), h=0.2, load=120.0, g=9.7,
)  # fmt: skip


# ---- triangles -----------------------------------------------------------------------------------------------------------------
def test_a_cylinder_between_two_sides():
    """Sides 3 and 4 at a right angle: 5 long, lever 3·4/5; back from the piston's place to the angle."""
    right = Triangle(3.0, 4.0, 4.5, 0.3)
    assert right.length(pi / 2 - 0.3) == pytest.approx(5.0)
    assert right.lever(pi / 2 - 0.3) == pytest.approx(2.4)
    assert right.angle(0.5) == pytest.approx(pi / 2 - 0.3)
    for x in (0.0, 0.3, 2.0):
        q = right.angle(x)
        assert right.length(q) == pytest.approx(4.5 + x)
        slope = np.imag(right.length(q + 1e-30j)) / 1e-30
        assert right.lever(q) == pytest.approx(slope)


def test_areas_of_a_cylinder():
    assert ROD.areas == pytest.approx((pi * 0.05**2, pi * (0.05**2 - 0.03**2)))
    with pytest.raises(InputError, match="rod: 0.1 m is not thinner than the bore, 0.1 m"):
        Actuator(0.1, 0.1, 0.6, 0.2, 1.0)
    assert Actuator(0.1, 0.0999, 0.6, 0.2, 1.0).areas[1] > 0


@pytest.mark.parametrize(
    "d_0, stroke, fits",
    [(0.701, 0.6, True), (0.7, 0.6, False), (0.9, 0.799, True), (0.9, 0.801, False)],
)
def test_a_cylinder_is_no_longer_than_its_sides_allow(d_0, stroke, fits):
    """Between |a − b| = 0.7 m and a + b = 1.7 m."""
    rods = (Actuator(0.1, 0.06, stroke, 0.2, 1.0), ROD, ROD)
    make = lambda: PlanarCrane(
        "one", CRANE.origin, 2.5, 1.75, Triangle(1.2, 0.5, d_0, 0.4), TILT, rods, CRANE.bodies
    )
    if fits:
        assert make().lift.d_0 == d_0
        return
    with pytest.raises(InputError, match=r"lift: .* m pin to pin is outside \(0.7, 1.7\) m"):
        make()


# ---- places ----------------------------------------------------------------------------------------------------------------------
def test_joints_between_the_ends_of_the_strokes():
    (low_1, high_1), (low_2, high_2), third = CRANE.joint_range()
    assert (low_1, high_1) == (LIFT.angle(0.0), LIFT.angle(0.6)) and third == (0.0, 1.5)
    assert (low_2, high_2) == (TILT.angle(0.0), TILT.angle(0.6))
    q = [0.5 * (low_1 + high_1), 0.5 * (low_2 + high_2), 0.7]
    pistons, levers = CRANE.pistons(q), CRANE.levers(q)
    assert pistons == pytest.approx([LIFT.length(q[0]) - 0.9, TILT.length(q[1]) - 0.8, 0.7])
    assert levers == pytest.approx([LIFT.lever(q[0]), TILT.lever(q[1]), 1.0])


def test_the_tip_of_two_links():
    """Straight on, beside it by h, and at a right angle."""
    assert CRANE.tip([0.0, 0.0, 0.5]) == pytest.approx([0.25 + 2.5 + 2.25, 1.5 + 0.2])
    assert CRANE.tip([0.0, -pi / 2, 0.5]) == pytest.approx([0.25 + 2.5 + 0.2, 1.5 - 2.25])
    assert CRANE.tip([pi / 2, -pi / 2, 0.5]) == pytest.approx([0.25 + 2.25, 1.5 + 2.5 + 0.2])


@pytest.mark.parametrize(
    "q",
    [(0.4, -1.2, 0.3), (2.4, -0.3, 0.0), (-2.5, -2.0, 1.1), (3.0, -2.6, 0.8), (-3.0, -0.5, 0.2)],
)
def test_joints_follow_from_the_tip_and_the_extension(q):
    """On the branch of q_2 < 0, q_1 within a turn."""
    r = CRANE.tip(q)
    assert CRANE.joints(r, q[2]) == pytest.approx(list(q))
    ε = np.arctan2(0.2, 1.75 + q[2])
    assert CRANE.stretch(r, q[2]) == pytest.approx(np.cos(q[1] + ε))


def test_how_far_a_tip_is_out_of_reach():
    """1 where both links are straight, −1 where they lie on each other, beyond them farther away."""
    ρ = np.hypot(2.25, 0.2)
    for share in (1.0, 1.1, 0.9):
        far = share * (2.5 + ρ)
        found = CRANE.stretch([0.25 + 0.6 * far, 1.5 - 0.8 * far], 0.5)
        assert found == pytest.approx((far**2 - 2.5**2 - ρ**2) / (2 * 2.5 * ρ))
    near = 2.5 - np.hypot(2.25, 0.2)
    assert CRANE.stretch([0.25, 1.5 + near], 0.5) == pytest.approx(-1.0)


def test_rates_and_accelerations_along_a_path_of_the_tip():
    """A motion of the joints gives the tip's; back from it with the extension's come the joints'."""
    q, qd, qdd = np.array([0.5, -1.1, 0.4]), np.array([0.3, -0.7, 0.2]), np.array([-0.4, 0.9, 0.6])

    def moving(t):
        return CRANE.tip(q + qd * t + qdd * t * t / 2)

    def velocity(t):
        return np.imag(moving(t + 1e-30j)) / 1e-30

    r, rd = moving(0.0), velocity(0.0)
    rdd = (velocity(1e-5) - velocity(-1e-5)) / 2e-5
    found = CRANE.motion(r, rd, rdd, q[2], qd[2], qdd[2])
    for one, exact in zip(found, (q, qd, qdd)):
        assert one == pytest.approx(exact.tolist(), rel=1e-7)


# ---- forces ----------------------------------------------------------------------------------------------------------------------
def test_bodies_hang_on_each_other_and_the_load_on_the_tip():
    lift, tilt, extension, load = CRANE.mechanism.bodies
    assert (lift.point, tilt.point, extension.point) == (
        (0.25, 1.5, 0.0),
        (2.5, 0.0, 0.0),
        (1.75, 0.0, 0.0),
    )
    assert (lift.parent, tilt.parent, extension.parent, load.parent) == (
        "ground",
        "lift",
        "tilt",
        "extension",
    )
    assert (load.point, load.mass, load.joint) == ((0.0, 0.2, 0.0), 120.0, "fixed")
    assert CRANE.mechanism.gravity == (0.0, -9.7, 0.0) and extension.joint == "prismatic"
    assert [a.joint for a in CRANE.mechanism.actuators] == ["lift", "tilt", "extension"]


def test_cylinders_carry_the_weight_by_virtual_work():
    """At rest the force of each is the slope of the energy of weight by its length."""
    q = [0.3, -1.0, 0.6]

    def energy(q):
        c1, s1 = np.cos(q[0]), np.sin(q[0])
        c2, s2 = np.cos(q[0] + q[1]), np.sin(q[0] + q[1])
        y = 1.5
        one = y + 1.1 * s1 + 0.05 * c1
        two = y + 2.5 * s1 + 0.6 * s2 - 0.1 * c2
        three = y + 2.5 * s1 + (1.75 + q[2] - 0.7) * s2 + 0.02 * c2
        tip = y + 2.5 * s1 + (1.75 + q[2]) * s2 + 0.2 * c2
        return 9.7 * (300 * one + 150 * two + 80 * three + 120 * tip)

    slopes = [
        np.imag(energy([v + (1e-30j if k == i else 0) for k, v in enumerate(q)])) / 1e-30
        for i in range(3)
    ]
    found = CRANE.forces(q, [0.0] * 3, [0.0] * 3)
    assert found == pytest.approx([s / l for s, l in zip(slopes, CRANE.levers(q))])
