"""Small places of mechanisms on numbers that are written down: surroundings, what drives are asked for, bodies of a linkage."""

from types import SimpleNamespace

import numpy as np
import pytest

from plants.crane.abilities import CraneAbilities
from plants.drives.behind_valves import BehindValves
from plants.four_bar import bodies
from plants.four_bar.linkage import FourBar
from plants.metered import crane_valves
from plants.metered.twin import MeteredTwin
from plants.multibody import assembly, drive_forces, dynamics, strokes, surroundings
from plants.multibody.abilities import Abilities
from plants.multibody.parts import GROUND
from plants.multibody.urdf.mechanism import from_urdf

REST = surroundings.REST


# ---- drives --------------------------------------------------------------------------------------------------------------------
def test_areas_of_a_rod_are_those_per_travel_of_its_joint():
    own = SimpleNamespace(i=4.0, section=SimpleNamespace(A_h=0.5, A_r=0.25))
    assert BehindValves.areas.fget(own) == (2.0, 1.0)


@pytest.mark.parametrize("steep, fixed, adaptive, stiff", [
    ((True, False), None, None, ("dq_b", "z_a", "z_b")),
    ((False, False), None, None, ()),
    ((True, True), "steps", None, ()),
    ((True, True), None, "adaptive", ()),
])  # fmt: skip
def test_states_may_be_fast_where_a_drive_is_steep_and_steps_do_not_find_themselves(
    steep, fixed, adaptive, stiff
):
    """Behind valves every rod is."""
    drive = lambda s: SimpleNamespace(steep=s, stiff=lambda name: (f"z_{name}",))
    own = SimpleNamespace(
        actuators=[SimpleNamespace(name=n, drive=drive(s)) for n, s in zip("ab", steep)], fixed=fixed, adaptive=adaptive,
        rates=[SimpleNamespace(name="dq_a"), SimpleNamespace(name="dq_b")], own=((0,), (1,)),
    )  # fmt: skip
    assert Abilities.stiff.fget(own) == stiff
    assert BehindValves.steep is True


def test_what_drives_are_asked_for_is_what_weight_and_motion_leave_to_them(monkeypatch):
    """Wanted forces less what springs and dampers give, and the tool's wrench on the body that has it."""
    given = {}
    nets = {2: ([1.0, 0.0, 0.0], [0.0, 2.0, 0.0])}
    at = SimpleNamespace(motion="motion", B="B")
    around = SimpleNamespace(gravity="gravity", wrench="wrench")
    tool = (2, ([10.0, 0.0, 0.0], [0.0, 20.0, 0.0]))
    patch = lambda of, name, value: monkeypatch.setattr(of, name, value)
    patch(drive_forces, "_moving", lambda *asked: (at, "rates", "true"))
    patch(drive_forces.required, "lumped_wrenches", lambda m, motion, true, gravity: nets)
    patch(drive_forces.surroundings, "at_tool", lambda m, motion, wrench: tool)
    patch(drive_forces.required, "lines", lambda m, at: "lines")
    patch(drive_forces, "spring_forces", lambda m, lines, rates: "springs")
    patch(drive_forces, "damped", lambda m, rates: "damped")
    patch(drive_forces, "with_springs", lambda m, lines, damped, springs: [0.5, -4.0])
    patch(
        drive_forces.required,
        "joint_forces",
        lambda m, motion, nets: given.update(nets) or [7.0, 3.0],
    )
    patch(drive_forces.linear, "times", lambda B, left: (B, left))
    patch(drive_forces, "shared", lambda rows, weights, left: left)
    patch(drive_forces, "driven_rows", lambda m, lines: None)
    patch(drive_forces, "weights", lambda m: None)
    assert drive_forces.asked(None, None, None, None, around) == ("B", [6.5, 7.0])
    assert given[2] == ([11.0, 0.0, 0.0], [0.0, 22.0, 0.0])


# ---- surroundings ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ground", [True, False])
@pytest.mark.parametrize("tool", [True, False])
def test_inputs_say_how_the_ground_moves_and_what_the_tool_touches(ground, tool):
    """Three numbers each, the last of all inputs: weight upwards, V, ω, A, α of the ground; force and moment on the tool."""
    own = SimpleNamespace(moving_ground=ground, tool_wrench=tool, gravity="gravity")
    many = 5 * ground + 2 * tool
    u = [99.0, 98.0, *np.arange(3.0 * many)]
    found = surroundings.given(own, u)
    rows = [[3.0 * k, 3.0 * k + 1, 3.0 * k + 2] for k in range(many)]
    if ground:
        assert found.ground == surroundings.Ground((rows[1], rows[2]), (rows[3], rows[4]))
        assert found.gravity == [-0.0, -1.0, -2.0]
    else:
        assert found.ground == REST and found.gravity == "gravity"
    assert found.wrench == (tuple(rows[-2:]) if tool else None)


def test_a_robot_of_a_file_falls_downwards(tmp_path):
    """Where nothing else is said."""
    path = tmp_path / "one.urdf"
    path.write_text(
        '<robot name="one"><link name="base"/><link name="arm"><inertial><mass value="2"/>'
        '<origin xyz="0.5 0 0"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>',
        "utf-8",
    )
    made = from_urdf(path)
    assert made.gravity == (0.0, 0.0, -9.81) and made.bodies[0].mass == 2.0


# ---- machines --------------------------------------------------------------------------------------------------------------------
def test_a_four_bar_linkage_is_three_beams_in_a_plane():
    """Crank, coupler and rocker end to end, the rocker pinned to the ground; the cylinder from G behind the crank to F on it."""
    p = FourBar()
    made = bodies.mechanism(p, ())
    assert [b.name for b in made.bodies] == ["crank", "coupler", "rocker"] and made.gravity == (
        0.0,
        -p.g,
        0.0,
    )
    lengths, masses = (p.L_1, p.L_2, p.L_3), (p.m_1, p.m_2, p.m_3)
    for bar, L, m, at, hold in zip(
        made.bodies, lengths, masses, (0.0, p.L_1, p.L_2), (True, False, False)
    ):
        J = m * L**2 / 12
        assert (bar.point, bar.com, bar.mass) == ((at, 0.0, 0.0), (L / 2, 0.0, 0.0), m)
        assert bar.inertia == pytest.approx((J, J, J, 0.0, 0.0, 0.0)) and bar.hold is hold
    assert [b.parent for b in made.bodies] == [GROUND, "crank", "coupler"]
    (loop,) = made.loops
    assert loop.a.point == (p.L_3, 0.0, 0.0) and loop.b.point == (p.L_0, 0.0, 0.0)
    assert (loop.a.body, loop.b.body, loop.joint) == ("rocker", GROUND, "revolute")
    assert loop.a.axis == (0.0, 0.0, 1.0) and loop.b.normal == (1.0, 0.0, 0.0)
    (rod,) = made.actuators
    assert (
        rod.a.point == (-p.x_G, 0.0, 0.0)
        and rod.b.point == (p.x_F, 0.0, 0.0)
        and rod.b.body == "crank"
    )
    assert (made.kept, made.used, made.method) == ((0, 1), (0, 1), "minimal")


def test_limits_of_a_four_bar_linkage():
    """The crank between the ends of the stroke; a spool that may reach its own; as much of a reference both ways."""
    p = FourBar()
    limits = {limit.name: limit for limit in p.machine_limits()}
    spool, crank = limits["spool"], limits["crank"]
    assert (spool.low, spool.high, spool.bearable) == (-p.circuit.U_max, p.circuit.U_max, True)
    assert (crank.low, crank.high) == p.joint_range()[0] and not crank.bearable
    assert p.limits() == {"U_ref": (-p.circuit.limit, p.circuit.limit)}


@pytest.mark.parametrize("air, vacuum", [(0.0, 0.0), (1e-6, None)])
def test_oil_without_air_does_not_cavitate(air, vacuum):
    assert CraneAbilities.vacuum.fget(SimpleNamespace(oil=SimpleNamespace(air=air))) == vacuum


def test_a_twin_shows_the_length_of_every_arm_with_what_is_logged_of_it():
    arm = lambda name, k: SimpleNamespace(name=name, length=lambda θ: k * θ)
    at = {f"{key}_{n}": f"{key} {n}" for key in ("v", "f_p", "stretch") for n in "ab"}
    own = SimpleNamespace(
        logged=lambda t, x, u: at, of=SimpleNamespace(arms=(arm("a", 10.0), arm("b", 100.0)))
    )
    found = MeteredTwin.monitor(own, 0.0, [1.0, 9.0, 9.0, 2.0, 9.0, 9.0], None)
    assert found == [10.0, "v a", "f_p a", "stretch a", 200.0, "v b", "f_p b", "stretch b"]


def test_positions_over_a_stroke_are_in_order_and_the_middle_is_there_once(monkeypatch):
    ways = {-1: [(5.0, "z5"), (4.0, "z4"), (3.0, "z3")], 1: [(5.0, "z5"), (6.0, "z6")]}
    monkeypatch.setattr(strokes, "_index", lambda mechanism, name: 7)
    monkeypatch.setattr(strokes, "_followed", lambda mechanism, k, way, z: (ways[np.sign(way)], ()))
    assert strokes.beside(None, "lift", None) == ["z3", "z4", "z5", "z6"]


@pytest.mark.parametrize("k_b, P", [(4e-7, (2e-3 / 4e-7) ** 2), (0.0, np.inf)])
def test_the_pressure_at_which_a_bleed_takes_all(k_b, P):
    own = SimpleNamespace(of=SimpleNamespace(supply=(2e-3, None, k_b)))
    assert MeteredTwin._bled(own) == pytest.approx(P)


def test_limits_of_a_metered_crane_are_its_strokes_and_those_of_its_valves(monkeypatch):
    """What else the crane itself states is of its own valves, which it does not have here."""
    limit = lambda kind: SimpleNamespace(kind=kind)
    monkeypatch.setattr(crane_valves, "chamber_limits", lambda *given: given)
    monkeypatch.setattr(crane_valves, "pump_limit", lambda *given: given)
    monkeypatch.setattr(crane_valves, "command_limits", lambda plant: ("commands",))
    crane = SimpleNamespace(
        machine_limits=lambda: [limit("stroke"), limit("valve"), limit("stroke")]
    )
    own = SimpleNamespace(
        crane=crane, pressure_names=("p",), pressure_limits=(1.0, 2.0), pump="pump", G=3.0
    )
    first, second, *others = crane_valves.MeteredCraneValves.machine_limits(own)
    assert first.kind == second.kind == "stroke"
    assert others == [("p",), 1.0, 2.0, ("pump", 3.0, "pump.P_M"), "commands"]


# ---- loops -----------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "G, rows",
    [
        (
            [[1.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 2.0]],
            (1, 2),
        ),  # the first is along the second
        ([[2.0, 0.0], [4.0, 0.0], [0.0, 1e-3]], (1, 2)),
        ([[1.0, 0.0, 0.0], [3.0, 0.5, 0.0], [0.0, 0.0, 2.0], [3.1, 0.5, 2.0]], (0, 2, 3)),
        ([[1.0, 2.0], [2.0, 4.0]], (1,)),
        ([[1.0, 0.0], [0.0, 1.0]], (0, 1)),
        (np.zeros((0, 3)), ()),
    ],
)
def test_rows_of_loops_that_say_something_of_their_own(G, rows):
    """As many as the rank, the longest first, then what is longest across those before."""
    assert assembly.independent(G) == rows


@pytest.mark.parametrize(
    "inverses, size, bend",
    [((0.5, 4.0), (1.0, 3.0), np.sqrt(1 / 8)), ((0.25, 0.125), (1.0, 1.0), 1.0)],
)
def test_how_far_a_loop_is_from_a_dead_point(monkeypatch, inverses, size, bend):
    """The least pivot over the mean size of a row, one at most; its root, as of the sine's square."""
    rows = [[s if i == j else 9.0 for j in range(2)] for i, s in enumerate(size)]
    held = SimpleNamespace(rows=rows, S=SimpleNamespace(inverse=inverses))
    monkeypatch.setattr(dynamics.articulated, "branches", lambda *given: None)
    monkeypatch.setattr(dynamics.tree, "inertias", lambda *given: None)
    monkeypatch.setattr(dynamics.loops, "jacobian", lambda *given: None)
    monkeypatch.setattr(dynamics, "kept", lambda *given: None)
    monkeypatch.setattr(dynamics.linear, "held", lambda M, G: held)
    rig = SimpleNamespace(closings=(), kept=(0, 1), used=(0, 1), tree=None, bodies=None)
    motion = SimpleNamespace(b=None)
    assert dynamics.bends(rig, None, motion) == [pytest.approx(bend)]
    rig.used = (0, 1, 2)
    assert dynamics.bends(rig, None, motion) == []
    monkeypatch.setattr(dynamics.planar, "closed", lambda m, k, z: (None, k))
    rig.closings = (0.25, -1e-9)
    assert dynamics.bends(rig, None, motion) == [0.5, 0.0]
