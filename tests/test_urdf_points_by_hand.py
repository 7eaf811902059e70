"""What stands beside a URDF: pins, loops, drives and starts of a robot that is written down, and what is refused."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from plants.multibody.urdf import mechanism as urdf
from plants.multibody.urdf.file import imported
from plants.multibody.urdf.mechanism import _Points, section_of
from plants.multibody.urdf.tree import Limb, Robot, read_robot
from workbench.cases.yaml_input import parse
from workbench.contract.errors import InputError

TURN = Rotation.from_rotvec([0.4, -0.7, 0.9]).as_matrix()


def limb(link, joint, parent, kind="revolute", low=-np.inf, high=np.inf, most=0.0, R=TURN):
    J = (0.3, 0.4, 0.5, 0.01, -0.02, 0.03)
    own = (0.1, 0.2, 0.3), (0.6, 0.0, 0.8), 5.0, (0.4, 0.5, 0.6), J, 1.5
    return Limb(link, joint, parent, kind, *own, low, high, most, R, "r.urdf", 7)


ROBOT = Robot(
    "r",
    "base",
    (
        limb("arm", "lift", "base", low=0.2, high=1.4, most=50.0),
        limb("plate", "weld", "arm", "fixed"),
        limb("hand", "reach", "plate", "prismatic", low=-0.5, high=-0.1, R=TURN @ TURN),
        limb("disc", "spin", "hand", most=0.5),
    ),
    "r.urdf",
)


def node(text):
    return parse(text, "beside.yaml")


def points(text="{base: {foot: [0.5, 0.1, 200 mm]}, hand: {eye: [1, 2, 3], tip: [10 cm, 0, 0]}}"):
    return _Points(ROBOT, node(text))


# ---- points ---------------------------------------------------------------------------------------------------------------
def test_pins_are_in_the_axes_of_their_bodies():
    """R_l times what is written in the link's own; the root stands as it is."""
    known = points()
    assert known.of("base") == {"foot": [0.5, 0.1, 0.2]} and known.of("arm") == {}
    assert known.of("hand")["eye"] == pytest.approx(TURN @ TURN @ [1.0, 2.0, 3.0])
    assert known.of("hand")["tip"] == pytest.approx(TURN @ TURN @ [0.1, 0.0, 0.0])
    assert (known.body("base"), known.body("hand")) == ("ground", "hand")
    assert known.split(node("hand.eye"), "k") == ("hand", "eye")
    assert known.renamed(node("base.foot")).value == "ground.foot"
    assert known.renamed(node("hand.tip")).value == "hand.tip"


@pytest.mark.parametrize(
    "text, said, mend",
    [
        ("hand", "expected a pin, got the text 'hand'", "write link.pin"),
        ("7", "expected a pin", "write link.pin"),
        ("hend.eye", "the URDF has no link 'hend'", "did you mean hand?"),
        ("qqq.eye", "the URDF has no link 'qqq'", "choose from base, arm, plate, hand, disc"),
        ("hand.ear", "hand has no pin 'ear'", "choose from hand.eye, hand.tip"),
        ("arm.ear", "arm has no pin 'ear'", "choose from none yet"),
    ],
)
def test_pins_that_there_are_not(text, said, mend):
    with pytest.raises(InputError) as refused:
        points().split(node(text), "loops.eye.between")
    assert said in str(refused.value) and mend in refused.value.mend
    assert "loops.eye.between" in str(refused.value)


@pytest.mark.parametrize(
    "text, unit, said",
    [
        ("[1, 2]", "m", "expected three numbers"),
        ("[1, 2, 3, 4]", "", "expected three numbers"),
        ("7", "m", "expected three numbers"),
        ("[1, 2, x]", "", "expected three numbers"),
        ("[1, 2, 3 s]", "m", "3 s"),
    ],
)
def test_points_are_three_numbers(text, unit, said):
    with pytest.raises(InputError) as refused:
        urdf._three(node(text), unit, "tcp")
    assert said in str(refused.value) and refused.value.mend == "write [x, y, z]"
    assert urdf._three(node("[1, 20 cm, 3]"), "m", "k").tolist() == [1.0, 0.2, 3.0]
    assert urdf._three(node("[0, 2, -3]"), "", "k").tolist() == [0.0, 2.0, -3.0]


# ---- bodies ---------------------------------------------------------------------------------------------------------------
def bodies(**given):
    written = {key: node(text) for key, text in given.items()}
    return {name: made.plain() for name, made in urdf._bodies(ROBOT, points(), written).items()}


def test_bodies_of_a_robot():
    found = bodies()
    arm = found["arm"]
    assert (arm["parent"], arm["joint"], arm["joint_name"]) == ("ground", "revolute", "lift")
    assert (arm["mass"], arm["damping"], arm["hold"], arm["pins"]) == (5.0, 1.5, False, {})
    assert list(arm["point"]) == [0.1, 0.2, 0.3] and list(arm["axis"]) == [0.6, 0.0, 0.8]
    assert list(arm["com"]) == [0.4, 0.5, 0.6] and list(arm["inertia"]) == [0.3, 0.4, 0.5, 0.01, -0.02, 0.03]  # fmt: skip
    assert {"axis", "damping", "hold", "start"} & set(found["plate"]) == set()
    assert found["hand"]["parent"] == "plate" and set(found["hand"]["pins"]) == {"eye", "tip"}


def test_bodies_start_at_zero_or_as_near_as_they_can_or_where_it_is_said():
    found = bodies()
    assert [found[k]["start"] for k in ("arm", "hand", "disc")] == [0.2, -0.1, 0.0]
    found = bodies(start="{lift: 25 deg}", hold="[reach]")
    assert found["arm"]["start"] == "25 deg" and found["hand"]["start"] == -0.1
    assert [found[k]["hold"] for k in ("arm", "hand", "disc")] == [False, True, False]


@pytest.mark.parametrize(
    "given, said",
    [
        ({"start": "{weld: 1}"}, "start.weld"),
        ({"hold": "[elbow]"}, "hold.elbow"),
        ({"hold": "lift"}, "expected a list"),
        ({"start": "[1, 2]"}, "start: expected a mapping"),
    ],
)
def test_starts_and_holds_are_of_joints_that_move(given, said):
    with pytest.raises(InputError, match=said) as refused:
        bodies(**given)
    if "." in said:
        assert refused.value.mend == "choose from lift, reach, spin"


# ---- loops and drives -----------------------------------------------------------------------------------------------------
def test_loops_between_pins():
    ring = "{between: [hand.eye, base.foot], axis: [0, 1, 0], normal: [1, 0, 0]}"
    ball = "{between: [base.foot, hand.tip], joint: spherical}"
    text = f"{{ring: {ring}, ball: {ball}}}"
    found = urdf._loops(points(), node(text)).plain()
    ring, ball = found["ring"], found["ball"]
    assert ring["joint"] == "revolute" and ball["joint"] == "spherical"
    assert (ring["a"]["body"], ring["a"]["name"]) == ("hand", "eye")
    assert ring["a"]["point"] == pytest.approx(TURN @ TURN @ [1.0, 2.0, 3.0])
    assert (ring["b"]["body"], ring["b"]["point"]) == ("ground", [0.5, 0.1, 0.2])
    for side in "ab":
        assert (ring[side]["axis"], ring[side]["normal"]) == ([0.0, 1.0, 0.0], [1.0, 0.0, 0.0])
        assert "axis" not in ball[side]


@pytest.mark.parametrize(
    "text, said",
    [
        ("{k: {axis: [0, 1, 0]}}", "a loop closes between two pins"),
        ("{k: {between: [hand.eye], axis: [0, 1, 0]}}", "a loop closes between two pins"),
        ("{k: {between: [hand.eye, base.foot]}}", "loops.k.axis: it has no axis"),
        ("{k: {betwen: [hand.eye, base.foot]}}", "there is no key 'betwen' here"),
        ("{k: {zzz: 1}}", "loops.k.zzz: there is no key 'zzz' here"),
        ("{k: 7}", "loops.k: expected a mapping"),
        ("7", "loops: expected a mapping"),
    ],
)
def test_loops_that_cannot_be(text, said):
    with pytest.raises(InputError) as refused:
        urdf._loops(points(), node(text))
    assert said in str(refused.value)
    if "betwen" in text:
        assert refused.value.mend == "did you mean between?"
    if "zzz" in text:
        assert refused.value.mend == "choose from between, joint, axis, normal"


def test_joints_have_a_torque_or_a_force_of_their_own():
    found = urdf._actuators(ROBOT, points(), {}, node("{}")).plain()
    assert found == {
        "lift": {"joint": "arm", "drive": {"type": "Torque", "limit": 50.0}, "shortest": 0.2, "longest": 1.4},
        "reach": {"joint": "hand", "drive": {"type": "Force"}, "shortest": -0.5, "longest": -0.1},
        "spin": {"joint": "disc", "drive": {"type": "Torque", "limit": 0.5}},
    }  # fmt: skip


def test_drives_beside_a_robot():
    text = "{hoist: {between: [base.foot, hand.eye], drive: {type: Force}}, turn: {joint: spin, drive: {type: Torque}}}"
    given = {"actuators": node(text)}
    found = urdf._actuators(ROBOT, points(), given, node("{}")).plain()
    assert found["hoist"]["between"] == ["ground.foot", "hand.eye"]
    assert found["turn"]["joint"] == "disc" and found["turn"]["drive"] == {"type": "Torque"}
    for joint, mend in (("spn", "did you mean spin?"), ("q", "one of lift, weld, reach, spin")):
        with pytest.raises(InputError, match=f"the URDF has no joint {joint!r}") as refused:
            urdf._actuators(ROBOT, points(), {"actuators": node(f"{{t: {{joint: {joint}}}}}")}, node("{}"))  # fmt: skip
        assert refused.value.mend == mend


def test_keys_of_the_file_beside_a_robot(tmp_path):
    path = tmp_path / "beside.yaml"
    path.write_text("pinz: {}\n", "utf-8")
    with pytest.raises(InputError) as refused:
        urdf._given(path)
    assert "pinz: there is no key 'pinz' here" in str(refused.value)
    assert refused.value.mend == "did you mean pins?" and urdf._given(None) == {}
    with pytest.raises(InputError, match="the file: expected a mapping, got"):
        urdf._check_keys(node("7"), ("pins",), "")
    assert urdf.DOWN == (0.0, 0.0, -9.81)


def test_plain_data_as_nodes_at_one_place():
    place = SimpleNamespace(line=4, column=2, file="f")
    made = urdf._node({"a": [1, {"b": 2}], "c": node("7")}, place)
    assert made.plain() == {"a": [1, {"b": 2}], "c": 7}
    assert (made.value["a"].line, made.value["a"].column) == (4, 2)
    assert made.value["c"].line == 1


@pytest.mark.parametrize("mass, fits", [(0.4, True), (0.0, True), (-0.1, False)])
def test_a_mass_is_not_negative(tmp_path, mass, fits):
    own = f'<inertial><mass value="{mass}"/><inertia ixx="0" iyy="0" izz="0"/></inertial>'
    path = tmp_path / "r.urdf"
    path.write_text(
        f'<robot name="r"><link name="base">{own}</link><link name="arm">{own}</link>'
        '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>',
        "utf-8",
    )
    if fits:
        assert read_robot(path).limbs[0].mass == mass
        return
    with pytest.raises(InputError, match="a mass is not negative"):
        read_robot(path)


# ---- a case file ----------------------------------------------------------------------------------------------------------
def test_a_case_file_has_lines_of_at_most_120_characters(tmp_path):
    """What is longer is folded."""
    mass = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    links = "".join(f'<link name="{n}">{mass}</link>' for n in ("base", "arm" * 7))
    joint = f'<joint name="{"swing" * 5}" type="continuous"><parent link="base"/><child link="{"arm" * 7}"/></joint>'
    path = tmp_path / "r.urdf"
    path.write_text(f'<robot name="r">{links}{joint}</robot>', "utf-8")
    section = section_of(path, None, ())
    assert {section.value[key].line for key in ("name", "gravity", "method", "bodies")} == {1}
    assert section.line == 1 and section.value["method"].value == "minimal"
    beside = tmp_path / "beside.yaml"
    pins = f"pins: {{base: {{p: [0, 0, 1]}}, {'arm' * 7}: {{q: [0, 0, 1]}}}}"
    loops = f"loops: {{k: {{between: [base.p, {'arm' * 7}.q], axis: [0, 0, 1]}}}}"
    beside.write_text(f"{pins}\n{loops}\n", "utf-8")
    looped = section_of(path, beside, ())
    assert looped.value["method"].value == "projected"
    text = imported(str(path))
    assert max(map(len, text.splitlines())) <= 120 and "# From r.urdf." in text
