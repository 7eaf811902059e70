"""Wrenches at cuts, required motion and forces of bodies, places of tools: by vectors and small matrices."""

from types import SimpleNamespace

import numpy as np
import pytest
from test_articulated_tree_by_hand import (
    BODIES,
    GRAVITY,
    MOTION,
    OWN,
    RATES,
    UNITS,
    T,
    Z,
    later,
    near,
    poses,
    tensor,
    twists,
)

from plants.multibody import coordinates, cuts, drive_forces, lumped, required, tree
from plants.multibody.branching import tree as branched
from plants.multibody.parts import GROUND, Body
from plants.multibody.required import Lines, Required

ROD = ((1.0, -2.0, 0.5), (3.0, 0.7, -1.0))
PLAIN = SimpleNamespace(bodies=BODIES, tree=T, gravity=GRAVITY, closings=(), loops=())


# ---- multipliers of loops one after the other ------------------------------------------------------------------------------
def stairs():
    """Three loops in closed form, each with two rates that follow; its rows know the rates of those before it, too."""
    rng = np.random.default_rng(3)
    G = np.array(rng.normal(size=(6, 7)))
    G[0:2, 3:7] = 0.0
    G[2:4, 5:7] = 0.0
    closings = [SimpleNamespace(unknown=pair, loop=n) for n, pair in ((2, (1, 2)), (0, (3, 4)), (1, (5, 6)))]  # fmt: skip
    own = SimpleNamespace(closings=closings, tree=SimpleNamespace(v=[(i, 1) for i in range(7)]))
    return own, G


def test_multipliers_of_loops_that_carry_each_other():
    """Gᵀ μ = τ at the joints that follow, of later loops too."""
    own, G = stairs()
    τ = np.array([9.0, 0.7, -1.2, 0.4, 2.1, -0.6, 1.5])
    μ = cuts._multipliers(own, G.tolist(), list(τ))
    assert G.T[1:] @ μ == pytest.approx(τ[1:])
    assert cuts.closed(own) == [2, 0, 1]
    assert cuts.closed(SimpleNamespace(closings=(), loops=("a", "b"))) == [0, 1]


def test_what_acts_on_bodies_beside_their_joints():
    """Both ends of an actuator between pins, b first, and of every loop; nothing on the ground or by a drive on a joint."""
    pin = lambda body: SimpleNamespace(body=body)
    pairs = (("e", "a"), (GROUND, "b"), ("", ""))
    a, b, c = (SimpleNamespace(a=pin(p), b=pin(q)) for p, q in pairs)
    own = SimpleNamespace(
        actuators=(a, c, b),
        closings=(),
        loops=("ring",),
        cuts=[(4, -1)],
        number={"e": 4, "a": 0, "b": 1, GROUND: -1}.get,
    )
    lines = Lines([], [ROD, None, ROD], [], [])
    loop = ((7.0, 8.0, 9.0), (1.0, 2.0, 4.0))
    found = cuts._acting(own, lines, [2.0, 5.0, -3.0], [loop])
    wanted = [(0, 2.0), (4, -2.0), (1, -3.0)]
    assert [j for j, _ in found] == [j for j, _ in wanted] + [4]
    for (_, wrench), (_, f) in zip(found, wanted):
        assert near(wrench, f * np.ravel(ROD))
    assert near(found[-1][1], -np.ravel(loop))


def test_wrenches_are_summed_from_the_leaves_inwards():
    """Of every body with all that hangs on it; c carries a and b, b carries d, d carries e."""
    each = np.arange(1.0, 31.0).reshape(5, 2, 3)
    more = [(1, np.ones((2, 3))), (4, 10 * np.ones((2, 3))), (1, 0.5 * np.ones((2, 3)))]
    own = each.copy()
    own[1] += 1.5
    own[4] += 10.0
    found = cuts._inward(T, [tuple(map(tuple, w)) for w in each], more)
    wanted = [own[0], own[1] + own[3] + own[4], own.sum(axis=0), own[3] + own[4], own[4]]
    for one, other in zip(found, wanted):
        assert near(one, other)
    assert np.array(cuts._magnitudes(((-1.0, 2.0, -3.0), (4.0, -5.0, 0.0)))).tolist() == [[1, 2, 3], [4, 5, 0]]  # fmt: skip


# ---- required motion and what it asks --------------------------------------------------------------------------------------
WANTED, GAINED = [0.5, 0.8, -0.3, 0.6, -0.9, 1.2], [1.5, -0.7, 0.4, 0.9, 0.3, -1.1]


def test_required_twists_and_their_rates_along_the_true_motion():
    """Z_r = Σ b ż_r; Ż_r = Σ b z̈_r + ḃ ż_r with columns that turn as the bodies do."""
    found = required.swept(PLAIN, MOTION, WANTED, GAINED)
    h = 1e-5
    columns = [np.array([np.ravel(b) for b in tree.move(BODIES, T, later(RATES, k * h), RATES).b]) for k in (-1, 1)]  # fmt: skip
    turning = (columns[1] - columns[0]) / (2 * h)
    here = np.array([np.ravel(b) for b in MOTION.b])
    for j in range(5):
        on = [k in T.above[j] for k in range(6)]
        assert near(found.Z[j], np.array(WANTED)[on] @ here[on])
        rate = np.array(GAINED)[on] @ here[on] + np.array(WANTED)[on] @ turning[on]
        assert near(found.rate[j], rate, 1e-5)


@pytest.mark.parametrize("κ", [None, 0.0, 3.0])
def test_a_required_motion_is_drawn_to_the_true_one_by_as_much_as_is_said(κ):
    """z̈_r + κ (ż_r − ż); without κ by nothing."""
    own = SimpleNamespace(**vars(PLAIN), lead=tuple(range(6)))
    at = required.Whole(Z, RATES, MOTION, [], [])
    rates, found = required.required(own, at, WANTED, GAINED, **({} if κ is None else {"κ": κ}))
    gained = np.array(GAINED) + (κ or 0.0) * (np.array(WANTED) - RATES)
    swept = required.swept(PLAIN, MOTION, WANTED, list(gained))
    assert rates == WANTED and near(found.Z, swept.Z, 0) and near(found.rate, swept.rate, 1e-12)


def newton_euler(j, gravity):
    """The net wrench about the origin that a body's own motion takes, weight included."""
    Z_j, rate = twists(RATES)
    body, (r, R) = BODIES[j], poses(Z)[j]
    c, J, (v, ω), (a, α) = r + R @ body.com, tensor(BODIES[j], R), Z_j[j], rate[j]
    speeding = a + np.cross(α, c) + np.cross(ω, v + np.cross(ω, c))
    f = body.mass * (speeding - np.array(gravity))
    return np.array([f, J @ α + np.cross(ω, J @ ω) + np.cross(c, f)])


def test_net_wrenches_of_the_true_motion_are_those_of_newton_and_euler():
    true = Required(MOTION.Z, MOTION.bias)
    for gravity, asked in ((GRAVITY, None), ((0.4, 3.0, -8.0), (0.4, 3.0, -8.0))):
        found = required.net_wrenches(PLAIN, MOTION, true, asked)
        for j in range(5):
            assert near(found[j], newton_euler(j, gravity), 3e-5)
    asked = required.joint_forces(PLAIN, MOTION, found)
    forces = tree.forces(T, OWN, MOTION, (0.4, 3.0, -8.0), [None] * 5)
    assert asked == pytest.approx([-f for f in forces], rel=1e-9)


def test_bodies_that_are_fixed_ask_for_the_same_forces_lumped():
    """With any required motion, whose spin differs from the true one."""
    wanted = required.swept(PLAIN, MOTION, WANTED, GAINED)
    each = required.joint_forces(PLAIN, MOTION, required.net_wrenches(PLAIN, MOTION, wanted))
    lumped = required.lumped_wrenches(PLAIN, MOTION, wanted)
    assert required.joint_forces(PLAIN, MOTION, lumped) == pytest.approx(each, rel=1e-9)
    assert near(lumped[3], np.zeros(6), 0)


def test_momentum_of_a_twist():
    for j in (1, 4):
        p = required.momentum(BODIES[j], MOTION, j, MOTION.Z[j])
        assert near(p, OWN[j].times(MOTION.Z[j]), 1e-12)
        r, R = poses(Z)[j]
        assert near(required.centre(BODIES[j], MOTION, j), r + R @ BODIES[j].com, 1e-12)
    assert near(required.scaled(-2.5, ROD), -2.5 * np.ravel(ROD))
    assert near(required.against(ROD, ((1, 1, 1), (2, 2, 2))), np.ravel(ROD) - [1, 1, 1, 2, 2, 2])
    assert required.projected([[1.0, 2.0], [3.0, -1.0]], [5.0, 7.0]) == [19.0, 8.0]


@pytest.mark.parametrize("a, b", [(0, 4), (-1, 1), (4, -1)])
def test_lever_arms_of_a_line_are_its_power_at_unit_rates(a, b):
    names = {-1: GROUND, 0: "a", 1: "b", 4: "e"}
    pin = lambda j: SimpleNamespace(body=names[j])
    own = SimpleNamespace(tree=T, number={name: j for j, name in names.items()}.get)
    actuator = SimpleNamespace(a=pin(a), b=pin(b), joint="")
    found = required._lever(own, actuator, SimpleNamespace(wrench=ROD), MOTION.b)
    twist = lambda Z_j, j: np.zeros(6) if j < 0 else np.ravel(Z_j[j])
    assert near(found, [np.ravel(ROD) @ (twist(Z_j, b) - twist(Z_j, a)) for Z_j in UNITS])


def test_a_drive_on_a_joint_has_an_arm_of_one_there():
    own = SimpleNamespace(tree=T, number={"e": 4, "c": 2}.get)
    for joint, arms in (("e", [0, 0, 0, 0, 0, 1]), ("c", [0, 0, 0, 0, 1, 0])):
        on = SimpleNamespace(joint=joint)
        assert required._lever(own, on, SimpleNamespace(wrench=None), MOTION.b) == arms


# ---- shares of drives --------------------------------------------------------------------------------------------------------
def test_drives_share_a_load_by_their_weights():
    """f = W J (Jᵀ W J)⁻¹ τ, three drives on two coordinates."""
    J = np.array([[0.5, -0.2], [0.1, 0.9], [0.4, 0.3]])
    W, τ = np.diag([1.0, 0.25, 0.6]), np.array([7.0, -3.0])
    wanted = W @ J @ np.linalg.solve(J.T @ W @ J, τ)
    assert drive_forces.shared(J.tolist(), [1.0, 0.25, 0.6], list(τ)) == pytest.approx(wanted)


def test_damping_and_springs_act_on_the_joints():
    own = SimpleNamespace(
        bodies=[SimpleNamespace(damping=d) for d in (2.0, 3.0, 0.5)],
        tree=SimpleNamespace(body_of=[2, 0, 1, 1]),
        actuators=("spring", "drive", "spring", "drive"),
    )
    rates = [0.4, -0.3, 0.2, 0.7]
    passive = drive_forces.damped(own, rates)
    assert passive == pytest.approx([-0.2, 0.6, -0.6, -2.1])
    lines = Lines([], [], [[1.0, 0.0, 2.0, 0.5], [9.0] * 4, [0.3, -1.0, 0.0, 0.2], [9.0] * 4], [])
    total = drive_forces.with_springs(own, lines, passive, {0: 10.0, 2: -4.0})
    assert total == pytest.approx([-0.2 + 10 - 1.2, 0.6 + 4, -0.6 + 20, -2.1 + 5 - 0.8])
    assert passive == pytest.approx([-0.2, 0.6, -0.6, -2.1])
    assert drive_forces.every(own, {0: 10.0, 2: -4.0}, [3.0, 7.0]) == [10.0, 3.0, -4.0, 7.0]


# ---- tools ------------------------------------------------------------------------------------------------------------------
ARM = (
    Body("boom", "base", "revolute", (0.3, 0.4, 0.0)),
    Body("base", joint="fixed", point=(0.2, 0.1, 0.0)),
    Body("slide", "boom", "prismatic", (0.5, 0.0, 0.0), (1.0, 0.0, 0.0)),
    Body("hand", "slide", "revolute", (0.6, -0.1, 0.0), (0.0, 0.0, -1.0)),
)


def test_a_tool_has_a_place_and_the_sum_of_the_angles_above_it():
    """An axis against z counts against it; a slide and what is fixed do not count."""
    T = branched(ARM)
    own = SimpleNamespace(
        bodies=ARM,
        tree=T,
        closings=(),
        tcp=SimpleNamespace(body="hand", point=(0.7, 0.2, 0.0)),
        number={body.name: j for j, body in enumerate(ARM)}.get,
        closed=lambda z, rates: tree.move(ARM, T, z, rates),
    )
    (x, y, z), angle = coordinates.place(own, [0.5, 0.25, 0.9])
    turned = lambda φ, v: np.array([[np.cos(φ), -np.sin(φ)], [np.sin(φ), np.cos(φ)]]) @ v
    wanted = np.array([0.5, 0.5]) + turned(0.5, [1.35, -0.1]) + turned(-0.4, [0.7, 0.2])
    assert [x, y, z] == pytest.approx([*wanted, 0.0]) and angle == pytest.approx(-0.4)


def test_nothing_fixed_to_nothing_is_nothing():
    both = lumped.joined(lumped.NOTHING, lumped.NOTHING, (1.0, 2.0, 3.0))
    assert both.mass == 0.0 and list(both.com) == [0.0, 0.0, 0.0] and not any(both.inertia)
    one = lumped.joined(
        lumped.Lump(0.25, (2.0, 0.0, 0.0), (0.0,) * 6),
        lumped.Lump(0.75, (0.0, 4.0, 0.0), (0.0,) * 6),
        (0.0, 0.0, 0.0),
    )
    assert one.com == pytest.approx((0.5, 3.0, 0.0)) and one.spread == pytest.approx(0.1875 * 20)
