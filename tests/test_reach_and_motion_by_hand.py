"""Places over many poses, motion asked and given, matrices of bodies, files of planar cranes: each against its law."""

from dataclasses import replace
from types import SimpleNamespace

import mechanisms as made
import numpy as np
import pytest
from test_articulated_tree_by_hand import BODIES, T, Z, later, posed
from test_four_bar import ODD

from plants.components.spatial import Body as Solid
from plants.crane.planar import planar_crane, planar_cranes, read_planar
from plants.drives.laws import Force
from plants.multibody import drive_forces, dynamics, reach, required, surroundings
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Pin
from workbench.contract.errors import InputError

PUSH = Actuator("push", Force(), Pin("ground", (-1.0, 0.4, 0.0)), Pin("crank", (1.0, 0.1, 0.0)))


# ---- many poses at once ---------------------------------------------------------------------------------------------------
def test_a_pin_is_placed_in_every_pose():
    poses = np.array([Z, later([0.9, -0.4, 0.7, 1.1, 0.6, -0.8], 0.7), later([0.2] * 6, -1.1)])
    own = SimpleNamespace(bodies=BODIES, tree=T, number={"e": 4, "a": 0}.get)
    for name, j in (("e", 4), ("a", 0)):
        found = reach.placed(own, poses, SimpleNamespace(body=name, point=(0.3, -0.2, 0.5)))
        wanted = [r + R @ (0.3, -0.2, 0.5) for r, R in (posed(BODIES, T, z)[j] for z in poses)]
        assert found == pytest.approx(np.array(wanted))


def test_a_stroke_is_thinned_to_four_hundred_even_steps():
    stroke = SimpleNamespace(positions=((1.0, 2.0), (1.5, 2.1), (3.0, 1.0)))
    found = reach._thinned(stroke, np.array([1.0, 2.0]))
    assert found.shape == (400, 2) and found[0] == pytest.approx([0, 0])
    assert found[-1] == pytest.approx([2.0, -1.0])
    assert np.abs(np.diff(found, axis=0)).max(axis=1) == pytest.approx(2.0 / 399)


def test_ranges_are_of_cylinders_on_joints_whose_ends_are_known(monkeypatch):
    """Not of a motor without ends on a joint, nor of a cylinder between pins, which is followed."""
    monkeypatch.setattr(reach, "strokes", lambda m: [])
    monkeypatch.setattr(reach.acting, "joint_at", lambda m, a: ({"b": 1}[a.joint], 0))
    each = (
        ("slide", "b", (0.2, 0.9)),
        ("half", "a", (0.1, np.inf)),
        ("motor", "a", (-np.inf, np.inf)),
        ("lift", "", (1.0, 2.0)),
    )
    own = SimpleNamespace(
        actuators=[SimpleNamespace(name=n, joint=j, span=s) for n, j, s in each],
        coordinates=[SimpleNamespace(name=f"q_{n}") for n in "ab"],
    )
    assert reach.ranges(own) == {"q_b": (0.2, 0.9)}
    lift = SimpleNamespace(name="lift", positions=((-2.0, 0.5), (-1.5, 0.5), (-1.0, 0.5)))
    monkeypatch.setattr(reach, "strokes", lambda m: [lift])
    assert reach.ranges(own) == {"q_b": (0.2, 0.9), "q_a": (-2.0, -1.0)}


def test_poses_of_all_strokes_together_are_as_many_as_are_tried(monkeypatch):
    """A thousand: 31 along each of two cylinders, 10 of three."""
    monkeypatch.setattr(reach, "MOST", 1000)
    monkeypatch.setattr(reach, "_thinned", lambda stroke, start: stroke)
    monkeypatch.setattr(reach, "placed", lambda m, poses, pin: poses)
    way = lambda i: np.outer(np.linspace(0, 1, 400), np.eye(3)[i])
    own = SimpleNamespace(assembly=SimpleNamespace(z=(0.1, 0.2, 0.3)), tcp=None)
    for many, found in ((2, 31**2), (3, 9**3), (1, 400)):
        monkeypatch.setattr(reach, "strokes", lambda m, n=many: [way(i) for i in range(n)])
        assert len(reach.tool_points(own)) == found


def test_a_cylinder_that_moves_what_another_one_moves_is_followed_beside_it(monkeypatch):
    """From places along the first one's motion; both together move what either does."""
    asked = []
    ways = [np.outer(np.linspace(0, 1, 5), v) for v in ([1.0, 0.5, 0.0], [0.0, 1.0, 0.3])]
    monkeypatch.setattr(reach, "strokes", lambda m: [SimpleNamespace(name=n, way=w) for n, w in zip("ab", ways)])  # fmt: skip
    monkeypatch.setattr(reach, "_thinned", lambda stroke, start: stroke.way)
    monkeypatch.setattr(reach, "placed", lambda m, poses, pin: poses)
    monkeypatch.setattr(reach, "_both", lambda m, name, motion, start: asked.append((name, motion)) or motion[:3])  # fmt: skip
    own = SimpleNamespace(assembly=SimpleNamespace(z=(0.1, 0.2, 0.3)), tcp=None)
    found = reach.tool_points(own)
    ((name, motion),) = asked
    assert name == "b" and motion is ways[0] and len(found) == 3
    assert found[0] == pytest.approx([0.1, 0.2, 0.3])


def test_a_demonstration_goes_from_where_the_machine_starts(monkeypatch):
    """From 0.5 between −1 and 3: by a fifth of the range to the farther end, by half of 1.5 to the nearer; a motor by its turn."""
    monkeypatch.setattr(reach.coordinates, "independent", lambda m: True)
    monkeypatch.setattr(reach, "ranges", lambda m: {"q_a": (-1.0, 3.0)})
    own = SimpleNamespace(
        actuators=[SimpleNamespace(joint="b"), SimpleNamespace(joint="")],
        own=((0, 1), ()),
        assembly=SimpleNamespace(z=(0.5, -0.2)),
        coordinates=[SimpleNamespace(name=f"q_{n}") for n in "ab"],
    )
    farther, nearer = reach.demo(own)
    assert farther[0] == pytest.approx(1.3) and nearer[0] == pytest.approx(-0.25)
    assert sorted((farther[1], nearer[1])) == pytest.approx([-0.5, 0.1])
    own.actuators = []
    assert reach.demo(own) is None


# ---- motion asked and given -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["projected", "minimal"])
def test_what_a_motion_asks_gives_that_motion(method):
    """Forces of q̇, q̈ by inverse dynamics; accelerations of these forces by forward dynamics, and the ground bears the sum."""
    rig = made.four_bar(actuators=(PUSH,), method=method)
    z = list(rig.assembly.z)
    q = [z[i] for i in rig.own[0]]
    qd = required.rates_at(rig, q, [0.8])
    G = np.array(rig.constraints(z)[1], float)
    if method == "projected":
        assert qd[0] == 0.8 and G @ qd == pytest.approx(np.zeros(5), abs=1e-12)
        more = required.accelerations_at(rig, q, qd, [-1.7])
        step = lambda t: np.array(rig.constraints(list(np.array(z) + t * np.array(qd)))[1], float) @ qd  # fmt: skip
        bias = (step(1e-6) - step(-1e-6)) / 2e-6
        assert more[0] == -1.7 and G @ more + bias == pytest.approx(np.zeros(5), abs=1e-6)
        assert required.rates_at(rig, q, [1.0, 2.0, 3.0]) == [1.0, 2.0, 3.0]
        assert required.accelerations_at(rig, q, qd, [1.0, 2.0, 3.0]) == [1.0, 2.0, 3.0]
    else:
        assert qd == [0.8] and required.accelerations_at(rig, q, qd, [-1.7]) == [-1.7]
    forces = drive_forces.asked(rig, q, qd, [-1.7])
    found = drive_forces.motion(rig, q, qd, forces)
    assert found[0] == pytest.approx(-1.7)
    at = required.whole(rig, q, qd)
    assert drive_forces.accelerations(rig, at, forces)[0] == pytest.approx(-1.7)
    true = required.required(rig, at, qd, [-1.7])[1]
    nets = [np.ravel(w) for w in required.net_wrenches(rig, at.motion, true)]
    assert np.ravel(drive_forces.borne(rig, q, qd, [-1.7])) == pytest.approx(sum(nets), abs=1e-9)


def test_a_tool_that_pushes_is_borne_by_drives_and_ground():
    rig = made.four_bar(actuators=(PUSH,), method="minimal", tcp=Pin("crank", (1.5, 0.2, 0.0)), tool_wrench=True)  # fmt: skip
    q = [rig.assembly.z[0]]
    idle, at_work = surroundings.at_rest(rig), surroundings.at_rest(rig)
    at_work = at_work._replace(wrench=((30.0, -20.0, 0.0), (0.0, 0.0, 7.0)))
    free, loaded = (drive_forces.asked(rig, q, [0.0], [0.0], around)[0] for around in (idle, at_work))  # fmt: skip
    c, s = np.cos(q[0]), np.sin(q[0])
    f = np.array([30 * c + 20 * s, 30 * s - 20 * c])
    place = np.array([1.5 * c - 0.2 * s, 1.5 * s + 0.2 * c])
    moment = 7.0 + place[0] * f[1] - place[1] * f[0]
    (arm,) = required.lines(rig, required.whole(rig, q, [0.0])).by_coordinate[0]
    assert loaded - free == pytest.approx(moment / arm)
    bears = [np.ravel(drive_forces.borne(rig, q, [0.0], [0.0], a)) for a in (idle, at_work)]
    assert bears[1] - bears[0] == pytest.approx([*f, 0, 0, 0, moment], abs=1e-9)


def test_accelerations_of_joints_that_follow():
    rig = made.four_bar(actuators=(PUSH,), method="minimal")
    at = required.whole(rig, [rig.assembly.z[0]], [0.8])
    found = dynamics.all_accelerations(rig, at.motion, at.rates, [-1.7])
    step = lambda t: np.array(rig.constraints(list(np.array(at.z) + t * np.array(at.rates)))[1], float) @ at.rates  # fmt: skip
    bias = (step(1e-6) - step(-1e-6)) / 2e-6
    G = np.array(rig.constraints(at.z)[1], float)
    assert found[0] == -1.7 and G @ found + bias == pytest.approx(np.zeros(5), abs=1e-5)
    free = made.cart_pole()
    assert dynamics.all_accelerations(free, None, [0.0, 0.0], [3.0, 4.0]) == [3.0, 4.0]


# ---- bodies and files -----------------------------------------------------------------------------------------------------
def test_the_matrix_of_a_body_is_that_of_its_energy():
    """Of unit twists: m |v + ω × c|² + ωᵀ J ω, and between two of them."""
    own = Solid(3.0, (0.4, -0.2, 0.5), (0.6, 0.7, 0.8, 0.05, -0.04, 0.03))
    J = np.array([[0.6, 0.05, -0.04], [0.05, 0.7, 0.03], [-0.04, 0.03, 0.8]])
    unit = np.eye(6)
    wanted = np.zeros((6, 6))
    for i in range(6):
        for k in range(6):
            (v, ω), (w, ψ) = (unit[n].reshape(2, 3) for n in (i, k))
            wanted[i, k] = 3 * (v + np.cross(ω, own.com)) @ (w + np.cross(ψ, own.com)) + ω @ J @ ψ
    assert own.matrix() == pytest.approx(wanted)


def test_files_of_planar_cranes(tmp_path):
    path = tmp_path / "c.yaml"
    for text, said in (
        ("[1, 2]", "a planar crane's file needs a crane: section"),
        ("plant: {}", "a planar crane's file needs a crane: section"),
        ("crane: {}\nother: 1", "other"),
    ):
        path.write_text(text, "utf-8")
        with pytest.raises(InputError, match=said):
            read_planar(path)
    assert "hiab-reduced" in planar_cranes() and planar_crane() == planar_crane("hiab-reduced")
    with pytest.raises(InputError, match="no planar crane called 'q' is shipped"):
        planar_crane("q")


def test_spaces_of_a_four_bar():
    assert ODD.task_names("joint") == ("z_1",) and ODD.task_names("piston") == ("s",)
    assert ODD.task("joint", [0.9]) == [0.9] and ODD.task("piston", [0.9]) == [ODD.length(0.9)]
    with pytest.raises(InputError, match="has no cartesian space"):
        ODD.task("cartesian", [0.9])
    assert (ODD.n, ODD.spaces, ODD.joint_names) == (1, ("joint", "piston"), ("z_1",))
    rest = ODD.rest([0.95])
    assert rest[:2] == [0.95, 0.0] and rest == replace(ODD, z_10=0.95, F_0=None).initial()
    with pytest.raises(InputError, match="start: "):
        ODD.check_pose([1e-9], "start")
    assert isinstance(ODD.mechanism, Mechanism)
