"""URDF in: the dynamics of pinocchio on public robots; pins, loops and limits of a small one; hostile files refused in words."""

from pathlib import Path

import numpy as np
import pytest

from plants import from_urdf
from plants.drives.laws import Force, Torque
from workbench import ClosedLoop, InputError, Sampled, Scenario, simulate

pin = pytest.importorskip("pinocchio", reason="pinocchio (pip install pin) is not here")
DATA = Path(__file__).parent / "data" / "urdf"

# A boom and an arm behind a linkage, every frame turned against its parent's.
CRANE = """<?xml version="1.0"?>
<robot name="crane">
  <link name="base"/>
  <link name="boom"><inertial><origin xyz="0.9 0.02 0.1" rpy="0.1 0.2 0.3"/><mass value="110"/>
    <inertia ixx="3" ixy="0.2" ixz="-0.1" iyy="31" iyz="0.3" izz="30"/></inertial></link>
  <link name="arm"><inertial><origin xyz="0.1 0.5 0" rpy="0 0 0.4"/><mass value="45"/>
    <inertia ixx="6" ixy="0.1" ixz="0" iyy="1.1" iyz="0" izz="6.5"/></inertial></link>
  <link name="link"><inertial><origin xyz="0.35 0 0"/><mass value="9"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.4" iyz="0" izz="0.4"/></inertial></link>
  <link name="slide"><inertial><mass value="20"/>
    <inertia ixx="0.4" ixy="0" ixz="0" iyy="0.5" iyz="0" izz="0.6"/></inertial></link>
  <joint name="lift" type="revolute"><parent link="base"/><child link="boom"/>
    <origin xyz="0.1 0 0.6" rpy="0 0 0"/><axis xyz="0 -1 0"/>
    <limit lower="0.1" upper="1.4" effort="9000" velocity="1"/><dynamics damping="12"/></joint>
  <joint name="tilt" type="continuous"><parent link="boom"/><child link="arm"/>
    <origin xyz="1.9 0 0" rpy="1.5707963267948966 -1.2 0"/><axis xyz="0 0 -3"/></joint>
  <joint name="rocker" type="continuous"><parent link="boom"/><child link="link"/>
    <origin xyz="1.5 0 0.25" rpy="3.141592653589793 0.7 0"/><axis xyz="0 1 0"/></joint>
  <joint name="reach" type="prismatic"><parent link="arm"/><child link="slide"/>
    <origin xyz="0 0.8 0.1" rpy="0.3 -0.2 0.9"/><axis xyz="0 0.6 0.8"/>
    <limit lower="-0.2" upper="0.7" effort="0" velocity="1"/></joint>
</robot>"""
BESIDE = """
pins:
  base: {foot: [0.5, 0.1, 200 mm]}
  boom: {rod: [1.1, 0.1, -0.05]}
  slide: {tip: [0.0, 0.1, 0.2]}
actuators:
  hoist: {between: [base.foot, boom.rod], drive: {type: Force}}
  turn: {joint: tilt, drive: {type: Torque, limit: 300 N m}}
tcp: slide.tip
start: {lift: 30 deg}
"""


def oracle(path):
    model = pin.buildModelFromUrdf(str(path))
    return model, model.createData()


def theirs(model, mechanism, q, v, τ):
    """(q, v, τ, order) as pinocchio has them; order: our number of each of its rates. Its own damping is left to us."""
    moving = [b for b in mechanism.bodies if b.joint != "fixed"]
    at = {b.joint_name: i for i, b in enumerate(moving)}
    Q, V, T, order = np.zeros(model.nq), *np.zeros((2, model.nv)), np.zeros(model.nv, int)
    for j in range(1, model.njoints):
        joint, i = model.joints[j], at[model.names[j]]
        own = [q[i]] if joint.nq == 1 else [np.cos(q[i]), np.sin(q[i])]
        Q[joint.idx_q : joint.idx_q + joint.nq] = own
        V[joint.idx_v], T[joint.idx_v] = v[i], τ[i] - moving[i].damping * v[i]
        order[joint.idx_v] = i
    return Q, V, T, order


def small(tmp_path, urdf=CRANE, beside=None):
    path = tmp_path / "crane.urdf"
    path.write_text(urdf, "utf-8")
    if beside is None:
        return path
    other = tmp_path / "beside.yaml"
    other.write_text(beside, "utf-8")
    return path, other


@pytest.mark.parametrize("name", ["ur5_robot", "solo12", "kinova", "crane"])
def test_masses_and_accelerations_are_those_of_pinocchio(name, tmp_path):
    path = small(tmp_path) if name == "crane" else DATA / f"{name}.urdf"
    mechanism = from_urdf(path)
    model, data = oracle(path)
    rng = np.random.default_rng(7)
    n = model.nv
    for _ in range(3):
        q, v, τ = rng.normal(size=(3, n)) * [[1.0], [1.5], [20.0]]
        Q, V, T, order = theirs(model, mechanism, q, v, τ)
        M = pin.crba(model, data, Q)
        M = np.triu(M) + np.triu(M, 1).T
        mine = np.array(mechanism.mass_matrix(list(q)), float)[np.ix_(order, order)]
        np.testing.assert_allclose(mine, M, rtol=0, atol=1e-10 * np.abs(M).max())
        wanted = pin.aba(model, data, Q, V, T)
        found = np.array(mechanism.rhs(0.0, [*q, *v], list(τ)), float)[n:][order]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())


def test_pins_and_cylinders_are_where_pinocchio_has_them(tmp_path):
    path, beside = small(tmp_path, beside=BESIDE)
    mechanism = from_urdf(path, beside)
    model, data = oracle(path)
    assert mechanism.initial()[0] == pytest.approx(np.pi / 6)
    own = [a for a in mechanism.actuators if not a.name.startswith("ends_of_")]
    assert [type(a.drive) for a in own] == [Force, Torque]
    ends = {a.joint: a.span for a in mechanism.actuators if a not in own}
    assert ends.keys() == {"boom", "slide"} and ends["boom"] == (0.1, 1.4)
    q = np.array([0.5, -0.7, 1.1, 0.3])
    Q, *_ = theirs(model, mechanism, q, q, q)
    pin.forwardKinematics(model, data, Q)
    at = lambda joint, p: data.oMi[model.getJointId(joint)].act(np.array(p))  # noqa: E731
    measured = dict(
        zip([s.name for s in mechanism.outputs], mechanism.out(0.0, [*q, *np.zeros(4)]))
    )
    span = at("lift", [1.1, 0.1, -0.05]) - [0.5, 0.1, 0.2]
    assert measured["s_hoist"] == pytest.approx(np.linalg.norm(span), rel=1e-13)
    np.testing.assert_allclose(mechanism.tool(list(q)), at("reach", [0.0, 0.1, 0.2]), atol=1e-13)


def test_a_loop_is_closed_between_its_pins(tmp_path):
    """The link's far end on the arm; where pinocchio puts both ends of the closed start, they meet."""
    loops = """
pins: {link: {far: [0.6, 0, 0.0]}, arm: {ear: [0.1, 0.3, 0]}}
loops: {eye: {between: [link.far, arm.ear], axis: [0, 1, 0]}}
actuators: {turn: {joint: rocker, drive: {type: Torque}}}
"""
    with pytest.raises(InputError, match="boom is at -4.948 deg .* from 5.73 to 80.21 deg"):
        from_urdf(*small(tmp_path, beside=loops))
    loops += "start: {lift: 20 deg}\nhold: [lift]\n"
    path, beside = small(tmp_path, beside=loops)
    mechanism = from_urdf(path, beside)
    model, data = oracle(path)
    q = np.array(mechanism.initial()[: model.nv])
    Q, *_ = theirs(model, mechanism, q, q, q)
    pin.forwardKinematics(model, data, Q)
    far = data.oMi[model.getJointId("rocker")].act(np.array([0.6, 0, 0.0]))
    ear = data.oMi[model.getJointId("tilt")].act(np.array([0.1, 0.3, 0.0]))
    np.testing.assert_allclose(far, ear, atol=1e-9)
    assert mechanism.assembly.mobility == 2


def test_joints_keep_their_limits_and_the_start_is_inside(tmp_path):
    mechanism = from_urdf(small(tmp_path))
    lift, tilt, _, reach = mechanism.actuators
    assert (lift.shortest, lift.longest, lift.drive.limit) == (0.1, 1.4, 9000.0)
    assert tilt.span == (-np.inf, np.inf) and tilt.drive.limit is None
    assert isinstance(reach.drive, Force) and mechanism.initial()[0] == 0.1


def test_it_runs(tmp_path):
    mechanism = from_urdf(small(tmp_path))
    hold = lambda t, y, r: [0.0] * 4  # noqa: E731
    log = simulate(ClosedLoop(mechanism, Sampled(hold, 0.01)), Scenario(0.05, max_step=5e-3))
    assert log.status.completed and log.array("q_boom")[-1] < 0.1  # it falls


# ---- refusals ----------------------------------------------------------------------------------------------------------
def edited(old, new):
    assert old in CRANE
    return CRANE.replace(old, new, 1)


BOMB = '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>\n<robot name="&b;"/>'
LEAK = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="r">&x;</robot>'
WRONG = {
    "bomb": (BOMB, r"crane.urdf, line 1: it declares a document type"),
    "leak": (LEAK, r"declares a document type"),
    "type of document": ('<!DOCTYPE robot SYSTEM "http://a.b/c.dtd"><robot/>', r"a document type"),
    "deep": ("<robot>" + "<a>" * 100, r"deeper than 64"),
    "long": (f'<robot name="{"x" * 5000}"/>', r"longer than 4000 letters"),
    "broken": ("<robot><link", r"line 1: this is no XML: unclosed token"),
    "empty": ("", r"this is no XML: no element found"),
    "binary": ("\0\1\2", r"this is no XML"),
    "other": ("<sdf/>", r"<sdf>: a URDF begins with <robot>"),
    "macro": ('<robot xmlns:xacro="x"><xacro:include/></robot>', r"<xacro:include>: this is a macro"),
    "no link": ("<robot/>", r"<robot>: it has no <link>"),
    "number": (edited('value="45"', 'value="4f5"'), r'line 6: <mass>: value="4f5": expected one'),
    "infinite": (edited('value="45"', 'value="1e999"'), r"one finite number"),
    "negative": (edited('value="45"', 'value="-45"'), r"-45 kg; a mass is not negative"),
    "no body": (edited('ixx="6"', 'ixx="60"'), r"line 15, robot.bodies.arm.inertia.*no body"),
    "type": (edited('"tilt" type="continuous"', '"tilt" type="floating"'), r"line 15: <joint>: tilt is floating"),
    "mimic": (edited('<axis xyz="0 1 0"/>', '<mimic joint="tilt"/>'), r"<mimic>: rocker moves with"),
    "friction": (edited('damping="12"', 'friction="3"'), r"lift has dry friction.*\n.*--without|leave"),
    "unknown": (edited('<child link="arm"/>', '<child link="arn"/>'), r"<child>: there is no link 'arn'"),
    "twice": (edited('<child link="link"/>', '<child link="arm"/>'), r"arm hangs on another joint"),
    "circle": (edited('<parent link="base"/>', '<parent link="arm"/>'), r"boom hangs on a circle"),
    "axis": (edited('xyz="0 -1 0"', 'xyz="0 0 0"'), r"<axis>: it has no direction"),
    "limits": (edited('upper="1.4"', 'upper="-1"'), r"from 0.1 to -1"),
}  # fmt: skip


@pytest.mark.parametrize("urdf, words", WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_with_file_and_element(urdf, words, tmp_path):
    with pytest.raises(InputError, match=words) as refused:
        from_urdf(small(tmp_path, urdf))
    assert "crane.urdf" in str(refused.value) and refused.value.mend


def test_a_mesh_is_never_opened(tmp_path):
    mesh = '<link name="boom"><visual><geometry><mesh filename="/dev/zero"/></geometry></visual>'
    assert from_urdf(small(tmp_path, edited('<link name="boom">', mesh))).bodies


def test_a_file_that_is_too_large_is_refused(tmp_path):
    with pytest.raises(InputError, match="expected at most 8 MB"):
        from_urdf(small(tmp_path, "<robot>" + " " * 8_000_001))


def test_friction_may_be_left_out_knowingly(tmp_path):
    path = small(tmp_path, edited('damping="12"', 'damping="12" friction="3"'))
    assert from_urdf(path, without=("friction",)).bodies[0].damping == 12.0


BESIDES = {
    "key": ("pin: {}", r"no key 'pin' here.*\n.*did you mean pins"),
    "link": ("pins: {bom: {a: [0, 0, 0]}}", r"beside.yaml, line 1, pins.bom: .*no link 'bom'.*\n.*boom"),
    "point": ("pins: {boom: {a: [0, 0]}}", r"pins.boom.a: expected three numbers"),
    "pin": ("tcp: boom.tip", r"boom has no pin 'tip'.*\n.*add it under pins"),
    "joint": ("start: {lft: 1}", r"no joint that moves is called 'lft'"),
    "axis": ("pins: {link: {a: [1, 0, 0]}, arm: {b: [0, 1, 0]}}\nloops: {eye: {between: [link.a, arm.b]}}",
             r"line 2, loops.eye.axis: it has no axis"),
    "drive": ("actuators: {a: {joint: tild, drive: {type: Torque}}}", r"no joint 'tild'.*\n.*tilt"),
    "list": ("[1, 2]", r"expected a mapping, got a list"),
}  # fmt: skip


@pytest.mark.parametrize("beside, words", BESIDES.values(), ids=BESIDES)
def test_what_is_wrong_beside_it_is_said_with_its_key(beside, words, tmp_path):
    with pytest.raises(InputError, match=words):
        from_urdf(*small(tmp_path, beside=beside))
