"""URDF without another library: attitudes, inertia, axes and limits of a robot whose frames are turned, and what is refused."""

import numpy as np
import pytest

from controllers import OpenLoop
from plants import from_urdf
from plants.drives.laws import Force, Torque
from plants.multibody.urdf.tree import _plain, read_robot, rotation
from workbench import ClosedLoop, Scenario
from workbench.contract.errors import InputError
from workbench.verification.run import run as judged_run

INERTIAL = (
    '<inertial><origin xyz="0.1 0.2 0.3" rpy="0.2 -0.3 0.4"/><mass value="{m}"/>'
    '<inertia ixx="1.5" iyy="2" izz="2.5" ixy="0.1" ixz="-0.2" iyz="0.3"/></inertial>'
)
LINKS = '<link name="base"/>' + "".join(
    f'<link name="{name}">{INERTIAL.format(m=m)}</link>' for name, m in (("arm", 2), ("hand", 3))
)
TURN = (
    '<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="1 2 3" rpy="0.5 0.6 0.7"/>'
    '<axis xyz="0 3 4"/><limit lower="-1" upper="2" effort="50" velocity="1"/><dynamics damping="1.5"/></joint>'
)
SLIDE = (
    '<joint name="slide" type="prismatic"><parent link="arm"/><child link="hand"/><origin xyz="0.5 0 -0.5" rpy="-0.4 0 0.1"/>'
    '<limit effort="70" velocity="1"/></joint>'
)


def robot(tmp_path, *parts, beside=None):
    path = tmp_path / "r.urdf"
    path.write_text(f'<robot name="r">{"".join(parts)}</robot>', "utf-8")
    if beside is None:
        return path
    other = tmp_path / "beside.yaml"
    other.write_text(beside, "utf-8")
    return path, other


def tensor(six):
    xx, yy, zz, xy, xz, yz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def turned(axis, angle):
    """Rodrigues' formula."""
    k = np.eye(3)[axis]
    K = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def rpy(r, p, y):
    return turned(2, y) @ turned(1, p) @ turned(0, r)


# ---- frames --------------------------------------------------------------------------------------------------------------------
def test_roll_pitch_and_yaw_are_about_fixed_axes():
    assert rotation(0.3, -0.7, 1.1) == pytest.approx(rpy(0.3, -0.7, 1.1))


def test_bodies_are_in_the_axes_of_the_root(tmp_path):
    """R_l = R_p R(rpy); points by the parent's, axis, centre of mass and tensor by the link's own."""
    arm, hand = read_robot(robot(tmp_path, LINKS, TURN, SLIDE)).limbs
    R_arm = rpy(0.5, 0.6, 0.7)
    R_hand = R_arm @ rpy(-0.4, 0.0, 0.1)
    assert arm.point == pytest.approx((1, 2, 3)) and hand.point == pytest.approx(
        R_arm @ [0.5, 0, -0.5]
    )
    assert arm.axis == pytest.approx(R_arm @ [0, 0.6, 0.8]) and hand.axis == pytest.approx(
        R_hand[:, 0]
    )
    own = tensor((1.5, 2, 2.5, 0.1, -0.2, 0.3))
    for limb, R, m in ((arm, R_arm, 2.0), (hand, R_hand, 3.0)):
        S = R @ rpy(0.2, -0.3, 0.4)
        assert limb.mass == m and limb.com == pytest.approx(R @ [0.1, 0.2, 0.3])
        assert tensor(limb.inertia) == pytest.approx(S @ own @ S.T) and limb.moves
    assert (arm.parent, hand.parent, arm.joint, hand.joint) == ("base", "arm", "turn", "slide")
    assert (arm.damping, hand.damping) == (1.5, 0.0)
    assert (arm.low, arm.high, arm.most) == (-1.0, 2.0, 50.0)
    assert (hand.low, hand.high, hand.most) == (-np.inf, np.inf, 70.0)


@pytest.mark.parametrize(
    "limit, found",
    [
        ("", (-np.inf, np.inf, 0.0)),
        ('<limit effort="5" velocity="1"/>', (-np.inf, np.inf, 5.0)),
        ('<limit lower="0" upper="0" velocity="1"/>', (-np.inf, np.inf, 0.0)),
        ('<limit lower="-0.5" effort="5" velocity="1"/>', (-0.5, 0.0, 5.0)),
        ('<limit upper="0.5" velocity="1"/>', (0.0, 0.5, 0.0)),
    ],
)
@pytest.mark.parametrize("kind", ["revolute", "continuous"])
def test_limits_that_are_said_and_those_that_are_not(tmp_path, limit, found, kind):
    """A continuous joint has no ends, whatever is written; both at zero are none."""
    joint = f'<joint name="j" type="{kind}"><parent link="base"/><child link="arm"/>{limit}</joint>'
    (arm,) = read_robot(robot(tmp_path, '<link name="base"/><link name="arm"/>', joint)).limbs
    own = found if kind == "revolute" else (-np.inf, np.inf, found[2])
    assert (arm.low, arm.high, arm.most) == own
    assert arm.axis == (1.0, 0.0, 0.0) and (arm.mass, arm.com, arm.inertia) == (
        0.0,
        (0.0,) * 3,
        (0.0,) * 6,
    )


@pytest.mark.parametrize("lower, upper", [(0.5, 0.5), (1.0, 0.5)])
def test_a_joint_that_cannot_move_is_refused(tmp_path, lower, upper):
    limit = f'<limit lower="{lower}" upper="{upper}"/>'
    joint = (
        f'<joint name="j" type="revolute"><parent link="base"/><child link="arm"/>{limit}</joint>'
    )
    with pytest.raises(InputError, match="the upper limit must be above the lower one"):
        read_robot(robot(tmp_path, '<link name="base"/><link name="arm"/>', joint))


def test_joints_keep_their_limits_whatever_moves_them(tmp_path):
    """One without an actuator is watched by a spring of no stiffness; an actuator on the joint may state ends of its own."""
    slide = SLIDE.replace("<limit effort", '<limit lower="-0.2" upper="0.7" effort')
    push = "actuators: {push: {joint: slide, drive: {type: Force}, longest: 0.5}}"
    mechanism = from_urdf(*robot(tmp_path, LINKS, TURN, slide, beside=push))
    assert {a.name: a.span for a in mechanism.actuators} == {
        "push": (-0.2, 0.5),
        "ends_of_arm": (-1.0, 2.0),
    }
    narrow = TURN.replace('"-1" upper="2"', '"-0.05" upper="0.05"')
    loose = from_urdf(*robot(tmp_path, LINKS, narrow, SLIDE, beside=push.replace("0.5", "99")))
    run = judged_run(ClosedLoop(loose, OpenLoop()), Scenario(2.0, max_step=5e-3))
    assert "the joint (s_ends_of_arm) leaves its stroke" in run.end
    free = from_urdf(
        *robot(tmp_path, LINKS, TURN.replace("revolute", "continuous"), SLIDE, beside=push)
    )
    assert [a.name for a in free.actuators] == ["push"]


def test_what_rounding_leaves_of_a_zero_is_taken_out():
    assert _plain([1e5, 0.9e-10, 1.1e-10, -0.9e-10]) == (1e5, 0.0, 1.1e-10, 0.0)
    assert _plain([0.0, 0.0]) == (0.0, 0.0) and _plain([]) == ()


def joined(parent, child, name="j", kind="fixed", inside=""):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


A, B, C = (f'<link name="{name}"/>' for name in "abc")
WRONG = {
    "no link": ("", "it has no <link>"),
    "twice": (A + A, "there are two called 'a'"),
    "a dot": ('<link name="a.b"/>', "has a dot, which divides a body from its pins"),
    "two roots": (A + B, "links that hang on nothing: a, b; expected one"),
    "all in a circle": (A + B + joined("a", "b", "j") + joined("b", "a", "k"), "hang on nothing: none"),
    "a circle beside": (A + B + C + joined("b", "c", "j") + joined("c", "b", "k"), "b hangs on a circle of joints"),
    "two parents": (A + B + C + joined("a", "c", "j") + joined("b", "c", "k"), "c hangs on another joint already"),
    "unknown link": (A + joined("a", "x"), "there is no link 'x'"),
    "no child": (A + '<joint name="j" type="fixed"><parent link="a"/></joint>', "it has no <child>"),
    "floating": (A + B + joined("a", "b", kind="floating"), "j is floating; a body hangs on a revolute, continuous"),
    "mimic": (A + B + joined("a", "b", kind="revolute", inside='<mimic joint="k"/>'), "moves with another joint"),
    "friction": (A + B + joined("a", "b", kind="revolute", inside='<dynamics friction="1"/>'), "has dry friction"),
    "no direction": (A + B + joined("a", "b", kind="revolute", inside='<axis xyz="0 0 0"/>'), "it has no direction"),
    "ground": (A + '<link name="ground"/>' + joined("a", "ground"), "only the root may be called 'ground'"),
    "half a body": (A + '<link name="b"><inertial><mass value="1"/></inertial></link>' + joined("a", "b"), "it has no <inertia>"),
    "negative": (A + f'<link name="b">{INERTIAL.format(m=-1)}</link>' + joined("a", "b"), "-1 kg; a mass is not negative"),
    "macro": ("<xacro:include/>" + A, "this is a macro"),
}  # fmt: skip


@pytest.mark.parametrize("parts, words", WRONG.values(), ids=WRONG)
def test_what_is_no_tree_of_bodies_is_refused_in_words(tmp_path, parts, words):
    with pytest.raises(InputError, match=words):
        read_robot(robot(tmp_path, parts))


def test_dry_friction_and_a_fixed_joint_without_a_direction_are_taken_knowingly(tmp_path):
    inside = '<axis xyz="0 0 0"/><dynamics friction="1"/>'
    fixed = robot(tmp_path, A, B, joined("a", "b", inside=inside))
    (limb,) = read_robot(fixed, ("friction",)).limbs
    assert not limb.moves and limb.axis == (1.0, 0.0, 0.0)


# ---- beside it -----------------------------------------------------------------------------------------------------------------
def test_joints_have_drives_where_none_are_given(tmp_path):
    """A torque or force with the effort for a limit, over the range of the joint."""
    made = from_urdf(robot(tmp_path, LINKS, TURN, SLIDE))
    turn, slide = made.actuators
    assert isinstance(turn.drive, Torque) and turn.drive.limit == 50.0
    assert (turn.shortest, turn.longest) == (-1.0, 2.0) and isinstance(slide.drive, Force)
    assert slide.drive.limit == 70.0 and made.gravity == (0.0, 0.0, -9.81)


@pytest.mark.parametrize(
    "kind, axis, fits",
    [("spherical", "", True), ("revolute", "", False), ("revolute", ", axis: [0, 1, 0]", True)],
)
def test_a_loop_that_turns_about_something_says_what(tmp_path, kind, axis, fits):
    beside = f"""
pins: {{hand: {{eye: [0, 0, 0]}}, base: {{ear: [1, 1, 1]}}}}
loops: {{pin: {{between: [hand.eye, base.ear], joint: {kind}{axis}}}}}
"""
    given = robot(tmp_path, LINKS, TURN, SLIDE, beside=beside)
    with pytest.raises(InputError) as why:
        from_urdf(*given)
    assert ("loops.pin.axis: it has no axis" in str(why.value)) is (not fits)
