"""The planar crane of a whole machine: the same triangles, tips and masses, however it stands; and what it cannot be."""

from dataclasses import replace
from math import pi
from types import SimpleNamespace

import numpy as np
import pytest
from oracles.random_machines import random_machine
from scipy.spatial.transform import Rotation
from test_four_bar import ODD

from plants.components.spatial import Frame
from plants.crane.planar import Actuator, Link, PlanarCrane, Triangle
from plants.crane.planar_whole import WholeCrane, _check_build, _folded, _seen, reduced, whole_crane
from workbench.contract.errors import InputError


def standing(crane, angle=0.0, at=(0.0, 0.0, 0.0)):
    """The crane on a base that is turned in its plane."""
    R = Rotation.from_rotvec([0.0, 0.0, angle]).as_matrix() @ np.reshape(crane.base.R, (3, 3))
    return replace(crane, base=Frame(at, tuple(map(float, R.ravel()))))


STANDS = [(0.0, (0.0, 0.0, 0.0)), (0.35, (0.7, -0.4, 1.3)), (-0.5, (-0.2, 0.9, -0.6))]


@pytest.mark.parametrize("angle, at", STANDS)
def test_cylinders_of_the_planar_crane_are_those_of_the_machine(crane, angle, at):
    own = WholeCrane.of(standing(crane, angle, at))
    plan, machine = own.planar, own.machine
    for share in (0.2, 0.7):
        q = [low + share * (high - low) for low, high in plan.joint_range()]
        joints = own.positions(q)
        assert all(low < v < high for v, (low, high) in zip(joints, machine.joint_range()))
        pistons = [float(v) for v in plan.pistons(q)]
        assert machine.task("piston", joints) == pytest.approx(pistons)
        x, y, *_ = machine.tool(joints)
        assert plan.tip(q) == pytest.approx([x, y])
    for mine, its in zip(plan.cylinders, machine.cylinders):
        assert (mine.bore, mine.rod, mine.stroke) == (its.bore, its.rod, its.stroke)
    assert plan.name == machine.name and plan.g == machine.g and plan.load == 0.0


@pytest.mark.parametrize("angle, at", STANDS)
def test_three_links_have_the_masses_and_moments_of_the_machine(crane, angle, at):
    """Mass and first moment about the lift joint of all bodies but the cylinders of lift and tilt."""
    machine = standing(crane, angle, at)
    plan, q = reduced(machine), [-1.2, -1.9, 0.3]
    joints = WholeCrane(plan, machine).positions(q)
    first, second = machine.frames(joints)
    one, two = machine.structures
    slide = two.prismatic
    parts = [
        (first["B1"], one.revolute.arm), (second["B0"], two.revolute.link), (second["B1"], two.revolute.arm),
        (second["P2"], slide.tube), (second["B5"], slide.rod), (second["P3"], slide.object), (second["E2"], machine.payload),
    ]  # fmt: skip
    mass = sum(b.mass for _, b in parts)
    moment = sum(b.mass * (np.array(f.r) + np.reshape(f.R, (3, 3)) @ b.com) for f, b in parts)
    e = lambda φ: np.array([np.cos(φ), np.sin(φ)])
    n = lambda φ: np.array([-np.sin(φ), np.cos(φ)])
    o, a, b = np.array(plan.origin), q[0], q[0] + q[1]
    elbow = o + plan.L_1 * e(a)
    out = elbow + (plan.L_2 + q[2]) * e(b)
    own = zip(plan.bodies, (o, elbow, out), (a, b, b))
    at_mine = sum(l.mass * (start + l.r * e(φ) + l.s * n(φ)) for l, start, φ in own)
    assert sum(l.mass for l in plan.bodies) == pytest.approx(mass)
    assert at_mine == pytest.approx(moment[:2])


def test_forces_of_the_whole_machine_are_its_own(crane):
    own = WholeCrane.of(crane)
    q, qd, qdd = [-1.2, -1.9, 0.3], [0.2, -0.3, 0.1], [0.4, 0.5, -0.6]
    forces, _ = crane.inverse_dynamics(own.positions(q), qd, qdd)
    assert own.forces(q, qd, qdd) == pytest.approx(forces)
    assert own.L_1 == own.planar.L_1 and own.positions([0.0, 0.0, 0.4])[2] == 0.4
    with pytest.raises(AttributeError):
        own.__missing__  # noqa: B018
    lumped = whole_crane("hiab-xs031", whole=False)
    assert isinstance(lumped, PlanarCrane) and isinstance(whole_crane("hiab-xs031"), WholeCrane)
    with pytest.raises(InputError, match="four-bar is no crane"):
        whole_crane("four-bar")


def test_machines_that_are_no_planar_crane(crane):
    with pytest.raises(InputError, match="a planar crane has a lift, a tilt and an extension"):
        reduced(crane.locked(extension=0.3))
    tilted = standing(crane)
    R = Rotation.from_rotvec([1e-6, 0.0, 0.0]).as_matrix() @ np.reshape(crane.base.R, (3, 3))
    with pytest.raises(InputError, match="its extension leaves the plane of its links"):
        reduced(replace(tilted, base=Frame((0.0, 0.0, 0.0), tuple(map(float, R.ravel())))))
    kinds = [SimpleNamespace(prismatic=None), SimpleNamespace(prismatic="out")]
    for lows, fits in (((0.5, -1.0), False), ((-1.0, 0.5), False), ((-1.0, -2.0), True)):
        build = SimpleNamespace(name="rig", structures=kinds, joint_range=[(v, 3.0) for v in lows].copy)  # fmt: skip
        if fits:
            _check_build(build)
            continue
        with pytest.raises(InputError, match="rig: a joint has its cylinder on the other side"):
            _check_build(build)
    other = random_machine(np.random.default_rng(4), 2, (False, True))
    up = replace(other, pose=None)
    with pytest.raises(InputError, match="leaves the plane|on the other side"):
        reduced(up)


@pytest.mark.parametrize("angle, folded", [(3 * pi, pi), (-0.3, -0.3), (2 * pi + 0.3, 0.3), (-4.0, 2 * pi - 4.0)])  # fmt: skip
def test_angles_within_a_turn(angle, folded):
    assert _folded(angle) == pytest.approx(folded)
    assert _seen((3.0, 5.0), (1.0, 2.0), 0.4) == pytest.approx(
        (2 * np.cos(0.4) + 3 * np.sin(0.4), 3 * np.cos(0.4) - 2 * np.sin(0.4))
    )


# ---- edges of planar cranes -------------------------------------------------------------------------------------------------
ROD = Actuator(0.1, 0.06, 0.5, 0.2, 1.0)
BODIES = (Link(300.0, 1.1, 90.0, 0.05), Link(150.0, 0.6, 30.0, -0.1), Link(80.0, -0.7, 12.0, 0.02))


LIFT = Triangle(1.25, 0.5, 0.875, 0.4)


def planar(lift=LIFT, stroke=0.5, **other):
    rods = (replace(ROD, stroke=stroke), ROD, ROD)
    return PlanarCrane("one", (0.25, 1.5), 2.5, 1.75, lift, Triangle(1.25, 0.5, 0.875, -2.9), rods, BODIES, **other)  # fmt: skip


@pytest.mark.parametrize(
    "d_0, stroke, fits",
    [(0.75, 0.5, False), (0.7501, 0.5, True), (0.875, 0.875, False), (0.875, 0.8749, True)],
)
def test_a_cylinder_stays_within_its_sides(d_0, stroke, fits):
    """Strictly between 1.25 − 0.5 and 1.25 + 0.5 m."""
    make = lambda: planar(Triangle(1.25, 0.5, d_0, 0.4), stroke)
    if fits:
        assert make().lift.d_0 == d_0
        return
    with pytest.raises(InputError, match=r"lift: .* m pin to pin is outside \(0.75, 1.75\) m"):
        make()


def test_a_planar_crane_without_numbers():
    own = planar()
    moments = [body.inertia for body in own.mechanism.bodies[:3]]
    assert moments == [(0.0, 0.0, J, 0.0, 0.0, 0.0) for J in (90.0, 30.0, 12.0)]
    assert (own.h, own.load, own.g) == (0.0, 0.0, 9.81) and Link(1.0, 2.0, 3.0).s == 0.0


@pytest.mark.parametrize("q_1", [-3.05, -2.9, 3.1, 3.0])
@pytest.mark.parametrize("q_2", [-0.4, -2.6])
def test_lifts_are_found_within_a_turn(q_1, q_2):
    own = planar(h=0.2)
    q = [q_1, q_2, 0.3]
    assert own.joints(own.tip(q), 0.3) == pytest.approx(q)


def test_a_tip_out_of_reach_has_links_that_are_nearly_straight():
    """1 − c² counts as at least 1e-12."""
    own = planar()
    _, q_2, _ = own.joints([0.25 + 2.5 + 2.05, 1.5], 0.3)
    assert float(q_2) == pytest.approx(-1e-6, rel=1e-3)


# ---- a four-bar that logs -------------------------------------------------------------------------------------------------
def test_what_a_four_bar_logs():
    x = ODD.initial()
    x[1] = 0.3
    shown = dict(zip([s.name for s in ODD.monitors], map(float, ODD.monitor(0.0, x, [2.0]))))
    at, s, lever = ODD.pose(x[0]), float(ODD.length(x[0])), float(ODD.lever(x[0]))
    values = list(shown.values())
    assert values[:5] == pytest.approx([at.a_2 - x[0], at.a_3 - at.a_2, s, 0.3 * lever, pi / 2 - x[0]])  # fmt: skip
    assert values[5] == pytest.approx(ODD.circuit.force(x[2:], s, 0.3 * lever))
    assert values[6] == pytest.approx(ODD.circuit.rubbing(x[2:], 0.3 * lever))
    assert values[7] + values[8] + values[9] == pytest.approx(ODD.stored(0.0, x, [2.0]))
    assert values[9] == pytest.approx(ODD.circuit.stored(x[2:], s))
    heights = [0.85 * np.sin(x[0]), 1.7 * np.sin(x[0]) + 2.95 * np.sin(at.a_2), -2.05 * np.sin(at.a_3)]  # fmt: skip
    weights = [m * 9.3 * h for m, h in zip((13.0, 57.0, 31.0), heights)]
    assert values[7] == pytest.approx(sum(weights))
    assert ODD.out(0.0, x) == pytest.approx([s, 0.3 * lever, *x[:5], pi / 2 - x[0]])


def test_a_crank_in_line_with_its_cylinder_is_refused():
    for z_10 in (1e-9, -1e-9):
        with pytest.raises(InputError, match="z_10: at .* rad the cylinder points through the crank's joint"):  # fmt: skip
            replace(ODD, z_10=z_10, L_0=7.3)
    with pytest.raises(InputError, match="at the start, the cylinder reaches from"):
        replace(ODD, z_10=1e-4, x_F=0.01)  # in line is less than a millionth of x_F
