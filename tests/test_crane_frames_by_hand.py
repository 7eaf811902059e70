"""A manipulator's frames by rotation matrices, its names and state in order, its strokes and starts, one drawn at random."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from oracles.random_machines import pin_to_pin, random_machine, random_state
from scipy.spatial.transform import Rotation

from plants.components.friction import LuGre
from plants.crane import bodies
from plants.crane.bodies import At
from plants.multibody.parts import Body
from workbench.contract.errors import InputError

RNG = np.random.default_rng(4)
CRANE = random_machine(RNG, 2, (True, False))
Q, QD, _ = random_state(RNG, CRANE)
FIRST, SECOND = CRANE.structures


def frame(r, R=None):
    return np.array(r, float), np.eye(3) if R is None else R


def then(a, b):
    return a[0] + a[1] @ b[0], a[1] @ b[1]


def fixed(f):
    return np.array(f.r), np.array(f.R).reshape(3, 3)


def about_z(angle):
    return Rotation.from_rotvec([0.0, 0.0, angle]).as_matrix()


def by_hand():
    """Frames of Fig. 5: B0 at the cylinder's pin, B1 at the joint L ahead, T_c at the arm's end, case and piston in between."""
    at, found, q = fixed(CRANE.base), [], iter(Q)
    for s in CRANE.structures:
        own, r, q_j = {"B0": at}, s.revolute, next(q)
        own["B1"] = then(at, frame((r.L, 0, 0), about_z(q_j)))
        own["Tc"] = then(own["B1"], frame((r.L1, 0, 0)))
        x, y = r.L + r.L1 * np.cos(q_j), r.L1 * np.sin(q_j)
        own["B3"] = then(at, frame((0, 0, 0), about_z(np.arctan2(y, x))))
        own["B4"] = then(own["B3"], frame((np.hypot(x, y) - r.l_c, 0, 0)))
        at = own["E1"] = then(own["Tc"], fixed(r.end))
        if s.prismatic is not None:
            own["P2"] = at
            own["B5"] = then(then(at, fixed(s.prismatic.start)), frame((next(q), 0, 0)))
            own["P3"] = then(own["B5"], fixed(s.prismatic.rod_end))
            at = own["E2"] = then(own["P3"], fixed(s.prismatic.end))
        found.append(own)
    return found


# ---- where it is ----------------------------------------------------------------------------------------------------------
def test_frames_of_every_part():
    found = CRANE.frames(Q)
    for own, wanted in zip(found, by_hand()):
        assert set(own) == set(wanted)
        for name, (r, R) in wanted.items():
            assert own[name].r == pytest.approx(r, abs=1e-9), name
            assert own[name].R == pytest.approx(R.ravel(), abs=1e-9), name


def test_the_tool_is_at_the_last_frame():
    tip = by_hand()[-1]["E1"][0]
    assert CRANE.tool(Q) == pytest.approx(tip)
    assert CRANE.task("joint", Q) == list(Q)
    assert CRANE.task("cartesian", Q) == pytest.approx([tip[0], tip[1], Q[1]])
    lengths = [pin_to_pin(s.revolute, q) - s.revolute.x0 for s, q in ((FIRST, Q[0]), (SECOND, Q[2]))]  # fmt: skip
    pistons = [lengths[0], Q[1], lengths[1]]
    assert CRANE.task("piston", Q) == pytest.approx(pistons)
    x, rates, lever = CRANE.cylinder_motion(Q, QD)
    arms = [FIRST.revolute.lever(Q[0]), 1.0, SECOND.revolute.lever(Q[2])]
    assert x == pytest.approx(pistons) and lever == pytest.approx(arms)
    assert rates == pytest.approx([a * v for a, v in zip(arms, QD)])


def test_axes_of_bodies_while_all_joints_are_at_zero():
    """R_A: what the frames before a body turn."""
    found = CRANE.axes
    end, s = fixed(FIRST.revolute.end)[1], FIRST.prismatic
    rod = end @ fixed(s.start)[1]
    object_ = rod @ fixed(s.rod_end)[1]
    second = object_ @ fixed(s.end)[1]
    last = second @ fixed(SECOND.revolute.end)[1]
    wanted = {"s0.B0": np.eye(3), "s0.B4": np.eye(3), "s0.P2": end, "s0.B5": rod}
    wanted |= {"s0.P3": object_, "s1.B1": second, "s1.B3": second, "payload": last}
    for name, R in wanted.items():
        assert np.ravel(found[name]) == pytest.approx(R.ravel()), name
    assert len(found) == 4 + 3 + 4 + 1 and "s1.P2" not in found


def test_how_loops_are_closed():
    """Case and piston follow from the arm; the second structure's bodies come after seven."""
    one, two = CRANE.closings
    second = np.reshape(CRANE.axes["s1.B1"], (3, 3))
    for k, n, first, z in ((one, 0, 0, np.array([0, 0, 1.0])), (two, 1, 7, second[:, 2])):
        base, arm, case, piston = range(first, first + 4)
        assert (k.loop, k.base, k.chains, k.unknown) == (n, base, ((case, piston), (arm,)), (case, piston))  # fmt: skip
        assert k.signs == ((case, 1.0), (arm, 1.0)) and k.branch == 1 and k.turns == (0, 0)
        assert k.across == int(np.argmin(np.abs(z)))
    bare = random_machine(np.random.default_rng(1), 2, (False, False))
    assert bare.closings[1].base == 4
    made = bodies.mechanism(CRANE)
    assert {b.name for b in made.bodies if b.hold} == {"s0.B1", "s0.B5", "s1.B1"}
    assert [b.name for b in made.bodies if b.carried] == ["payload"]
    for structure, loop in zip(CRANE.structures, made.loops):
        R = np.reshape(CRANE.axes[f"{structure.name}.B0"], (3, 3))
        for place in (loop.a, loop.b):
            assert place.axis == pytest.approx(R[:, 2]) and place.normal == pytest.approx(R[:, 0])
    assert bodies.servo(CRANE, FIRST.revolute).closed == 0.0
    assert made.moving_ground is True and made.tool_wrench is True
    assert bodies._kept(CRANE) == (0, 1, 5, 6) == CRANE.mechanism.kept == CRANE.mechanism.used


def test_a_tensor_in_other_axes():
    R = Rotation.from_rotvec([0.4, -0.7, 0.9]).as_matrix()
    J = np.array([[3.0, 0.2, -0.4], [0.2, 2.5, 0.3], [-0.4, 0.3, 1.9]])
    six = lambda M: M[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    assert bodies._turned(list(R.ravel()), tuple(six(J))) == pytest.approx(six(R @ J @ R.T))


def test_where_a_body_is_attached():
    R = Rotation.from_rotvec([0.4, -0.7, 0.9]).as_matrix()
    at = At("base", [0.1, 0.2, 0.3], list(R.ravel()))
    for axis in range(3):
        assert at.along(axis) == pytest.approx(R[:, axis])
        assert at.along(axis, -2.5) == pytest.approx(-2.5 * R[:, axis])
    own = at.fixed("tip", FIRST.revolute.end)
    r, S = fixed(FIRST.revolute.end)
    assert own.parent == "tip" and own.point == pytest.approx(R @ r)
    assert np.ravel(own.R) == pytest.approx((R @ S).ravel())
    part = SimpleNamespace(mass=3.0, com=(0.4, -0.1, 0.2), inertia=(3.0, 2.5, 1.9, 0.2, -0.4, 0.3))
    made = bodies._body("b", at, "revolute", part)
    assert isinstance(made, Body) and (made.parent, made.point) == ("base", (0.1, 0.2, 0.3))
    assert made.axis == (0.0, 0.0, 1.0) and made.com == pytest.approx(R @ part.com)


# ---- what it is called ----------------------------------------------------------------------------------------------------
def test_names_in_the_papers_subscripts():
    assert CRANE.labels == ("1", "t1", "2") and CRANE.n == 3
    assert CRANE.joint_names == ("q_1", "x_t1", "q_2")
    units = [s.unit for s in CRANE.states]
    assert units == ["rad", "m", "rad", "rad/s", "m/s", "rad/s"] + ["Pa"] * 6
    pressures = ("p_a1", "p_b1", "p_at1", "p_bt1", "p_a2", "p_b2")
    assert CRANE.pressure_names == pressures
    assert tuple(s.name for s in CRANE.states) == (*CRANE.joint_names, "dq_1", "dx_t1", "dq_2", *pressures)  # fmt: skip
    assert CRANE.states[3].meaning == CRANE.states[0].meaning.replace("position", "rate")
    outputs = [s.name for s in CRANE.outputs]
    assert outputs[12:] == ["x_1", "x_2", "dx_1", "dx_2"]
    assert [s.name for s in CRANE.inputs[:3]] == ["u_1", "u_t1", "u_2"]
    monitors = [s.name for s in CRANE.monitors]
    assert monitors[:4] == outputs[12:]
    shown = [f"{n}{k}" for k in CRANE.labels for n in ("f_p", "f_f", "Q_s")]
    assert monitors[4:] == [*shown, "tcp_x", "tcp_y", "tcp_z"]
    assert CRANE.supplies == [CRANE.p_s] * 3
    assert replace(CRANE, base=CRANE.base).up == pytest.approx(fixed(CRANE.base)[1].T @ [0, CRANE.g, 0])  # fmt: skip


def test_signals_of_its_mechanism_have_its_names():
    found = CRANE.called
    assert found["p_a_t1"] == "p_at1" and found["Q_s_2"] == "Q_s2" and found["f_f_1"] == "f_f1"
    assert found["q_s0.B1"] == "q_1" and found["dq_s1.B1"] == "dq_2"
    assert found["x_s0.B5"] == "x_t1" and found["dx_s0.B5"] == "dx_t1"
    assert len(found) == 8 * 3 + 2 * 4


def test_a_state_by_meaning():
    """Joints, rates, pairs of pressures, then spools of all cylinders, then friction of all."""

    def own(cylinder, lag, friction):
        return replace(cylinder, valve=replace(cylinder.valve, lag=lag), friction=friction)

    lift = replace(FIRST.revolute, cylinder=own(FIRST.revolute.cylinder, "second", LuGre()))
    slide = replace(FIRST.prismatic, cylinder=own(FIRST.prismatic.cylinder, "ideal", LuGre()))
    crane = replace(CRANE, structures=(replace(FIRST, revolute=lift, prismatic=slide), SECOND))
    x = list(range(100, 112)) + [1.0, 2.0, 3.0, 4.0]
    parts = crane.split(x)
    assert len(crane.states) == len(x)
    assert (parts.q, parts.qd) == ([100, 101, 102], [103, 104, 105])
    assert parts.p == [(106, 107), (108, 109), (110, 111)]
    assert crane.initial()[12:] == [0.0] * 4
    assert parts.spool == [[1.0, 2.0], [], []] and parts.rub == [[3.0], [4.0], []]
    assert crane.stiff == ("dq_1", "dx_t1", "dq_2", "u_s_1", "du_s_1", "z_1", "z_t1")


# ---- how far it goes ------------------------------------------------------------------------------------------------------
def test_joints_between_the_ends_of_their_strokes():
    low, high = CRANE.joint_range()[0]
    r = FIRST.revolute
    ends = sorted(abs(r.angle(r.x0 + x)) for x in (0.0, r.cylinder.stroke))
    sign = np.sign(CRANE.pose[0])
    assert [low, high] == pytest.approx(sorted(sign * e for e in ends))
    assert CRANE.joint_range()[1] == (0.0, FIRST.prismatic.cylinder.stroke)
    free = replace(CRANE, pose=None)
    assert free.joint_range()[0] == pytest.approx((-ends[1], -ends[0]))
    middle = [(low + high) / 2 for low, high in free.joint_range()]
    assert free.initial()[:3] == pytest.approx(middle)


INSIDE = [(1e-6, True), (-1e-6, False), (1 - 1e-6, True), (1 + 1e-6, False), (0, False), (1, False)]


@pytest.mark.parametrize("share, fits", INSIDE)
def test_a_start_is_within_the_strokes(share, fits):
    stroke = FIRST.prismatic.cylinder.stroke
    pose = (CRANE.pose[0], share * stroke, CRANE.pose[2])
    if fits:
        assert replace(CRANE, pose=pose).pose == pose
        return
    with pytest.raises(InputError, match="pose: x_t1 = .* puts the extension0 piston at"):
        replace(CRANE, pose=pose)


def test_spaces_and_their_names():
    assert CRANE.task_names("joint") == ["q_1", "x_t1", "q_2"]
    assert CRANE.task_names("piston") == ["x_1", "x_t1", "x_2"]
    assert CRANE.task_names("cartesian") == ["tcp_x", "tcp_y", "x_t1"]
    for ask in (CRANE.task_names, lambda space: CRANE.task(space, Q)):
        with pytest.raises(InputError, match="there is no reference space 'polar'"):
            ask("polar")
    one = random_machine(np.random.default_rng(1), 1, (True,))
    with pytest.raises(InputError, match="needs two revolute segments, random has 1"):
        one.task_names("cartesian")


def test_an_extension_frozen_into_the_arm():
    """Mass and end frame are those of the machine at that extension; the other joints stay."""
    at = 0.4 * FIRST.prismatic.cylinder.stroke
    rigid = CRANE.locked(extension0=at)
    assert rigid.pose == (CRANE.pose[0], CRANE.pose[2]) and rigid.structures[0].prismatic is None
    s = FIRST.prismatic
    mass = FIRST.revolute.arm.mass + s.tube.mass + s.rod.mass + s.object.mass
    assert rigid.structures[0].revolute.arm.mass == pytest.approx(mass)
    assert rigid.tool([Q[0], Q[2]]) == pytest.approx(CRANE.tool([Q[0], at, Q[2]]))
    still = [0.0, 0.0, 0.0]
    whole, _ = CRANE.inverse_dynamics([Q[0], at, Q[2]], still, still)
    lumped, _ = rigid.inverse_dynamics([Q[0], Q[2]], still[:2], still[:2])
    assert lumped == pytest.approx([whole[0], whole[2]], rel=1e-9)
    for edge in (0.0, s.cylinder.stroke):
        assert CRANE.locked(extension0=edge).n == 2
    for off in (-1e-6, s.cylinder.stroke + 1e-6):
        with pytest.raises(InputError, match="lock: extension0 = .* m is outside its stroke"):
            CRANE.locked(extension0=off)
    with pytest.raises(InputError, match="no prismatic segment is called boom") as refused:
        CRANE.locked(boom=0.1)
    assert refused.value.mend == "choose from extension0"
    assert CRANE.locked().pose == CRANE.pose and CRANE.locked().structures == CRANE.structures


def test_a_pose_may_be_written_in_units():
    stroke = FIRST.prismatic.cylinder.stroke
    degrees = [float(np.degrees(CRANE.pose[i])) for i in (0, 2)]
    written = (f"{degrees[0]} deg", f"{500 * stroke} mm", f"{degrees[1]} deg")
    wanted = (CRANE.pose[0], stroke / 2, CRANE.pose[2])
    assert replace(CRANE, pose=written).pose == pytest.approx(wanted)
    for pose, said in (
        (("10 mm", 0.1, 0.2), "pose: q_1: "),
        ((0.1, "10 deg", 0.2), "pose: x_t1: "),
    ):
        with pytest.raises(InputError, match=said):
            replace(CRANE, pose=pose)
    with pytest.raises(InputError, match="pose: expected 3 joint positions .* got 2"):
        replace(CRANE, pose=wanted[:2])
    with pytest.raises(InputError, match="pose: expected 3 joint positions .* got 4"):
        replace(CRANE, pose=(*wanted, 0.1))


@pytest.mark.parametrize("p, fits", [(185e5, True), (185.1e5, False), (0.0, True), (-1.0, False)])
def test_pressures_at_the_start_are_pairs_that_the_supply_can_give(p, fits):
    pairs = ((p, 50e5), (40e5, 60e5), (30e5, 20e5))
    if fits:
        assert replace(CRANE, pressures=pairs).initial()[6:12] == [p, 50e5, 40e5, 60e5, 30e5, 20e5]
    else:
        with pytest.raises(InputError, match="pressures: p_a1 = .* bar is outside 0 … 185 bar"):
            replace(CRANE, pressures=pairs)
    with pytest.raises(InputError, match="expected 3 pairs"):
        replace(CRANE, pressures=pairs[1:])


def test_what_surrounds_a_crane(crane):
    """The wrench of the tool in the axes of its body; none is given as nothing."""
    f, m = (3.0, -2.0, 5.0), (1.0, 4.0, -7.0)
    R = np.reshape(crane.axes["payload"], (3, 3))
    around = crane.around(None, (f, m))
    assert np.array(around.wrench) == pytest.approx(np.array([R @ f, R @ m]))
    assert np.array(crane.around(None, None).wrench) == pytest.approx(np.zeros((2, 3)))
    up = np.reshape(crane.base.R, (3, 3)).T @ [0.0, crane.g, 0.0]
    assert around.gravity == pytest.approx(-up)
    u = [float(v) for v in range(crane.n + 21)]
    given = crane.given(u)
    assert given[: crane.n + 15] == u[: crane.n + 15]
    assert given[-6:-3] == pytest.approx(R @ u[-6:-3]) and given[-3:] == pytest.approx(R @ u[-3:])
