"""Planar loops anywhere in space: closed in closed form they close, by rotation matrices; rates and wrenches by differences."""

from math import pi
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from test_articulated_tree_by_hand import near, posed

from plants.multibody import closings, planar, planar_rates, reduced, tree
from plants.multibody.branching import tree as branched
from plants.multibody.parts import Body, Loop, Place
from workbench.contract.errors import InputError

TILT = Rotation.from_rotvec([0.7, -0.4, 0.3]).as_matrix()
AXIS = tuple(TILT[:, 2])
AGAINST = tuple(-1.7 * TILT[:, 2])


def at(x, y, z=0.0):
    """A point of the loop's plane, z beside it."""
    return tuple(TILT @ (x, y, z))


FRAME = Body("frame", joint="revolute", point=(0.3, -0.2, 0.5), axis=(1.0, 2.0, 0.5))
CRANK = Body("crank", "frame", "revolute", at(0.1, 0.2, 0.3), AXIS)
PLATE = Body("plate", "crank", "fixed", at(0.3, -0.1, 0.2))
WAY = tuple(TILT @ (0.6, 0.9, 0.0))
REACH = Body("reach", "plate", "prismatic", at(0.2, 0.1, 0.1), WAY)
COUPLER = Body("coupler", "reach", "revolute", at(0.3, -0.2, -0.4), AGAINST)
ROCKER = Body("rocker", "frame", "revolute", at(1.4, -0.1, 0.2), AXIS)
SECOND = Body("second", "coupler", "revolute", at(1.1, 0.2, 0.3), AXIS)
SLIDE = Body("slide", "frame", "prismatic", at(0.9, -0.7, 0.1), tuple(TILT @ (0.8, 0.3, 0.0)))
SWING = Body("swing", "frame", "revolute", at(1.2, 0.4, 0.1), AGAINST)
ROD = Body("rod", "swing", "prismatic", at(0.1, -0.2, 0.3), tuple(TILT @ (-0.7, 0.5, 0.0)))
LEFT = (FRAME, CRANK, PLATE, REACH)
KNOWN = {"frame": 0.8, "crank": 0.5, "reach": 0.25}
CASES = {
    "two turn": ((*LEFT, COUPLER, ROCKER), "coupler", "rocker", (4, 5), at(1.2, 0.1), at(0.9, 0.3, 0.2)),
    "nested": ((*LEFT, COUPLER, SECOND), "second", "frame", (4, 5), at(0.8, 0.2), at(1.5, -0.2, 0.4)),
    "slides on what is known": ((*LEFT, COUPLER, SLIDE), "coupler", "slide", (4, 5), at(2.4, 0.3), at(0.2, 0.15, 0.3)),
    "slides on what turns": ((*LEFT, SWING, ROD), "reach", "rod", (4, 5), at(0.2, 0.3), at(0.3, -0.1, 0.2)),
}  # fmt: skip


def machine(case, loops=1):
    bodies, a, b, unknown, on_a, on_b = CASES[case]
    T = branched(bodies)
    numbers = {body.name: j for j, body in enumerate(bodies)} | {"ground": -1}
    loop = Loop("ring", Place(a, on_a, AXIS), Place(b, on_b, AXIS))
    own = SimpleNamespace(bodies=bodies, tree=T, loops=(loop,), cuts=[(numbers[a], numbers[b])])
    base, chains = closings._chains(own, own.cuts[0])
    k = closings._closing(own, 0, base, chains, list(unknown))
    own.closings = (k,)
    return own


def closed(own, branch=1, turns=(0, 0)):
    """The closing on a branch and all positions with the two that follow."""
    k = own.closings[0]
    k = planar.Closing(k.loop, k.base, k.chains, k.unknown, k.signs, k.across, branch, turns)
    own.closings = (k,)
    z = [KNOWN.get(body.name, 77.0) for body in own.bodies if body.joint != "fixed"]
    values, room = planar.closed(own, k, z)
    for j, value in zip(k.unknown, values):
        z[own.tree.z[j][0]] = float(value)
    return k, z, float(room)


def apart(own, z):
    """From place a to place b across the loop's axis, in the axes of the frame."""
    poses = posed(own.bodies, own.tree, z)
    (a, b), loop = own.cuts[0], own.loops[0]
    (r, R), (q, S) = poses[a], poses[b]
    flat = TILT.T @ poses[0][1].T @ (q + S @ loop.b.point - r - R @ loop.a.point)
    return flat[:2]


every = pytest.mark.parametrize("case", CASES)
branches = pytest.mark.parametrize("branch", [1, -1])


@every
@branches
def test_a_loop_is_closed(case, branch):
    own = machine(case)
    k, z, room = closed(own, branch)
    assert apart(own, z) == pytest.approx([0.0, 0.0], abs=1e-12) and room > 0
    for j, (c, s) in planar.turned(own, k, z).items():
        angle = z[own.tree.z[j][0]]
        assert (float(c), float(s)) == pytest.approx((np.cos(angle), np.sin(angle)))
    turning = {j for j in k.unknown if own.bodies[j].joint == "revolute"}
    assert set(planar.turned(own, k, z)) == turning == set(reduced.directions(own, z))


@every
def test_both_branches_are_two_ways_to_close(case):
    one, other = (closed(machine(case), branch)[1] for branch in (1, -1))
    assert np.abs(np.subtract(one, other)).max() > 0.1


@every
@pytest.mark.parametrize("turns", [(4, 0), (-3, 5)])
def test_angles_are_near_so_many_quarter_turns(case, turns):
    """Seen along the loop's axis, sums of angles where one turns with the other; the loop is closed all the same."""
    own = machine(case)
    k, z, _ = closed(own, 1, turns)
    assert apart(own, z) == pytest.approx([0.0, 0.0], abs=1e-12)
    i, j = k.unknown
    signs = dict(k.signs)
    first = signs[i] * z[own.tree.z[i][0]]
    assert abs(first - turns[0] * pi / 2) <= pi
    if own.bodies[j].joint == "revolute":
        second = signs[j] * z[own.tree.z[j][0]] + (first if case == "nested" else 0.0)
        assert abs(second - turns[1] * pi / 2) <= pi


@every
def test_what_is_said_of_a_closing(case):
    own = machine(case)
    k = own.closings[0]
    assert (k.loop, k.base, k.branch, k.turns) == (0, 0, 1, (0, 0))
    against = {"coupler": -1.0, "swing": -1.0}
    for j, sign in k.signs:
        assert sign == against.get(own.bodies[j].name, 1.0)
    assert own.bodies[k.unknown[0]].joint == "revolute"
    e, f = planar.plane_axes(own, k)
    assert k.across == int(np.argmin(np.abs(AXIS)))
    assert np.array([e, f, AXIS]) @ np.array([e, f, AXIS]).T == pytest.approx(np.eye(3))
    assert np.cross(e, f) == pytest.approx(AXIS) and abs(e[k.across]) == max(map(abs, e))
    inside = at(0.3, -0.7)
    found = planar.plane(own, k)(at(0.3, -0.7, 5.0))
    assert found == pytest.approx([np.dot(e, inside), np.dot(f, inside)])


RATES = [0.9, 0.7, -0.4, 0.6, -1.1]


@every
def test_columns_of_a_loop_and_how_they_turn(case):
    """∂(b − a)/∂z in the frame's axes, at any positions, and its rate along any motion."""
    own = machine(case)
    k, z, _ = closed(own)
    z = np.array(z)
    h, e = 1e-6, np.array(planar.plane_axes(own, k))
    flat = lambda z: e @ (TILT[:, :2] @ apart(own, z))
    steps = np.eye(len(z)) * h
    numeric = np.array([(flat(z + d) - flat(z - d)) / (2 * h) for d in steps]).T
    assert near(planar_rates.jacobian(own, list(z)), numeric, 1e-7)
    required = [0.3, -0.8, 1.2, 0.5, 0.4]
    motion = consistent(own, k, z)
    ahead = np.array(planar_rates.jacobian(own, list(moved(own, k, z, motion, 1e-5))))
    behind = np.array(planar_rates.jacobian(own, list(moved(own, k, z, motion, -1e-5))))
    turning = (ahead - behind) / 2e-5
    assert near(planar_rates.biases(own, list(z), motion, required), turning @ required, 1e-6)


def consistent(own, k, z):
    """Rates with the loop closed: those of the joints that are known as given."""
    G = planar_rates.jacobian(own, list(z))
    rates = reduced.followed(own, G, RATES, [0.0, 0.0])
    assert np.array(G) @ rates == pytest.approx([0.0, 0.0], abs=1e-12)
    kept = [i for i in range(5) if i not in reduced.dependent(own)]
    assert [rates[i] for i in kept] == [RATES[i] for i in kept]
    return rates


def moved(own, k, z, rates, t):
    """Positions on the closed loop after t at the known joints' rates."""
    there = np.array(z) + t * np.array(rates)
    values, _ = planar.closed(own, k, list(there))
    for j, value in zip(k.unknown, values):
        there[own.tree.z[j][0]] = value
    return there


@every
def test_accelerations_that_keep_a_loop_closed(case):
    """z̈ of the joints that follow, with biases, by second differences of the closed form."""
    own = machine(case)
    k, z, _ = closed(own)
    rates = consistent(own, k, z)
    ahead, here, behind = (np.array(moved(own, k, z, rates, t)) for t in (1e-4, 0.0, -1e-4))
    assert near((ahead - behind) / 2e-4, rates, 1e-6)
    γ = planar_rates.biases(own, list(z), rates, rates)
    G = planar_rates.jacobian(own, list(z))
    assert near(reduced.followed(own, G, [0.0] * 5, γ), (ahead - 2 * here + behind) / 1e-8, 1e-5)
    columns = np.array(reduced.basis(own, G))
    assert np.array(G) @ columns.T == pytest.approx(np.zeros((2, 3)), abs=1e-12)
    follow = [own.tree.z[j][0] for j in k.unknown]
    known = [v for i, v in enumerate(z) if i not in follow]
    assert reduced.positions(own, known) == pytest.approx(list(z))


@every
def test_wrenches_of_a_closing_have_its_power(case):
    """On place b, against place a: Φ̇ of each row."""
    own = machine(case)
    k, z, _ = closed(own)
    motion = tree.move(own.bodies, own.tree, list(z), RATES)
    G = np.array(planar_rates.jacobian(own, list(z)))
    twist = lambda j: np.ravel(motion.Z[j])
    a, b = own.cuts[0]
    powers = [np.ravel(w) @ (twist(b) - twist(a)) for w in planar_rates.wrenches(own, k, motion)]
    assert powers == pytest.approx(list(G @ RATES), abs=1e-9)


@every
def test_a_start_that_does_not_close_in_one_of_both_joints_is_refused(case):
    own = machine(case)
    k, z, _ = closed(own)
    for j in k.unknown:
        off = list(z)
        off[own.tree.z[j][0]] += 0.1
        with pytest.raises(InputError, match="it starts at a dead centre of"):
            closings._started(own, k, off)


def test_independent_coordinates_have_the_inertia_and_forces_of_all():
    """(Bᵀ M B) ÿ = Bᵀ (Q − M ζ)."""
    M = np.array([[4.0, 1.0, 0.3], [1.0, 5.0, -0.7], [0.3, -0.7, 6.0]])
    B = np.array([[1.0, 0.2, -0.5], [0.0, 1.0, 0.8]])
    Q, ζ = np.array([3.0, -1.0, 2.0]), np.array([0.4, -0.2, 0.6])
    wanted = np.linalg.solve(B @ M @ B.T, B @ (Q - M @ ζ))
    assert reduced.accelerations(M.tolist(), list(Q), B.tolist(), list(ζ)) == pytest.approx(wanted)


@pytest.mark.parametrize(
    "case, change, said",
    [
        ("two turn", {"coupler": {"axis": at(0.1, 0.0, 1.0)}}, "its joints are not in one plane"),
        ("two turn", {"reach": {"axis": at(0.6, 0.9, 0.01)}}, "its joints are not in one plane"),
        ("two turn", {"reach": {"joint": "spherical"}}, "it takes revolute and prismatic joints in the tree, and a cut that turns"),
        ("slides on what turns", {"swing": {"joint": "prismatic"}}, "rod slides too; hold one of the two"),
    ],
)  # fmt: skip
def test_loops_that_have_no_closed_form(case, change, said):
    own = machine(case)
    own.bodies = tuple(SimpleNamespace(**vars(body) | change.get(body.name, {})) for body in own.bodies)  # fmt: skip
    base, chains = closings._chains(own, own.cuts[0])
    with pytest.raises(InputError) as refused:
        closings._closing(own, 0, base, chains, list(own.closings[0].unknown))
    assert refused.value.message == f"method: minimal cannot close ring: {said}"


@every
@branches
@pytest.mark.parametrize("turns", [(0, 0), (4, 0), (-3, 5)])
def test_a_loop_starts_with_the_branch_and_the_turns_of_its_start(case, branch, turns):
    """From the positions alone the same closing is found."""
    own = machine(case)
    k, z, room = closed(own, branch, turns)
    bare = planar.Closing(k.loop, k.base, k.chains, k.unknown, k.signs, k.across)
    found = closings._started(own, bare, z)
    values, _ = planar.closed(own, found, z)
    assert found.branch == branch and room > 1e-6
    assert values == pytest.approx([z[own.tree.z[j][0]] for j in k.unknown])
