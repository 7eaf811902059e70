"""Small mechanisms as a whole: what no drive holds, which rates lead, energy with a pump, quaternions put back, what is told."""

from dataclasses import replace
from types import SimpleNamespace

import mechanisms as made
import numpy as np
import pytest

from plants.drives.laws import Force, SpringDamper, Torque
from plants.drives.metered_section import MeteredSection
from plants.multibody import assembly, coordinates, fit, held, leading, signals, static, strokes
from plants.multibody.abilities import Abilities
from plants.multibody.built import Built
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body, Loop, Pin, Place
from plants.supplies.shared_pump import SharedPump
from workbench.contract.errors import InputError

CHAIN = (
    made.bar("a", "ground", 2.0, 16.0, start=0.4),
    made.bar("b", "a", 1.5, 9.0, point=(2.0, 0.0, 0.0), start=-0.7),
    Body("c", "b", "prismatic", (1.5, 0.0, 0.0), (1.0, 0.3, 0.0), mass=3.0, com=(0.2, 0.1, 0.0), inertia=(0.1,) * 3 + (0.0,) * 3),
)  # fmt: skip
LIFT = Actuator("lift", Force(), Pin("ground", (-0.7, -0.4, 0.0)), Pin("a", (1.1, 0.2, 0.0)))
PUSH = Actuator("push", Force(), joint="c")
BRACE = Actuator("brace", Force(), Pin("a", (0.5, 0.3, 0.0)), Pin("c", (0.2, -0.1, 0.0)))


# ---- what no drive holds --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "ks, free",
    [((), [0, 1, 2]), ((0,), [1, 2]), ((1,), [0, 1]), ((0, 1), [1]), ((1, 0), [1])],
)
def test_motions_that_no_drive_feels(ks, free):
    """Those of the joints that no drive is on, each of length one and across the others."""
    rig = Mechanism(CHAIN, actuators=(LIFT, PUSH))
    N = held.free_motions(rig, ks)
    assert N.shape == (3, len(free)) and N.T @ N == pytest.approx(np.eye(len(free)))
    wanted = np.zeros((3, 3))
    wanted[free, free] = 1.0
    assert N @ N.T == pytest.approx(wanted, abs=1e-12)


def test_a_motion_that_keeps_a_length_is_felt_by_no_drive():
    """Of the brace between a and c: its length stays along N, both ways of it."""
    rig = Mechanism(CHAIN, actuators=(LIFT, PUSH, BRACE))
    (way,) = held.free_motions(rig, (0, 2)).T
    z = np.array(rig.assembly.z)
    s = lambda t: [float(p.s) for p in pulls(rig, z + t * way)]
    slopes = np.subtract(s(1e-6), s(-1e-6)) / 2e-6
    assert slopes[[0, 2]] == pytest.approx([0.0, 0.0], abs=1e-8) and abs(slopes[1]) > 0.1


def pulls(rig, z):
    still = [0.0] * len(z)
    return rig.pulls(rig.moving(list(z), still), list(z), still, None, None)


def test_a_drive_of_a_tiny_lever_arm_holds_all_the_same():
    """Rows count by their direction: a line that passes the joint at five nanometres."""
    thin = replace(LIFT, a=Pin("ground", (-1.0, 1e-8, 0.0)), b=Pin("a", (1.0, 0.0, 0.0)))
    rig = Mechanism((replace(CHAIN[0], start=0.0), *CHAIN[1:]), actuators=(thin,))
    assert held.free_motions(rig, (0,)).shape == (3, 2)


def test_a_loop_leaves_one_motion_and_its_drive_none():
    bars = made.four_bar()
    (way,) = held.free_motions(bars, ()).T
    G = np.array(bars.constraints(list(bars.assembly.z))[1], float)
    assert G @ way == pytest.approx(np.zeros(5), abs=1e-12)
    assert held.free_motions(bars, (0,)).shape == (3, 0)
    assert held.free_joints(bars) == () and len(held.free_joints(bars, ("other",))) == 3


# ---- which rates lead -----------------------------------------------------------------------------------------------------
def test_a_rate_leads_where_it_shows_more_than_the_least():
    free = np.array([[0.2, 0.0], [0.0, 0.5], [0.6, 0.3]])
    assert leading._distinct(free, (0, 1, 2), 0.2) == [1, 2]
    assert leading._distinct(free, (0, 1, 2), 0.19) == [0, 1]
    assert leading._distinct(free, (2, 1, 0), 0.1) == [2, 1]


# ---- energy and what is told ----------------------------------------------------------------------------------------------
def test_energy_is_that_of_bodies_drives_and_supply():
    drive, pump = MeteredSection(made.CYLINDER, 0.0), SharedPump()
    rig = made.lift(drive, supply=pump)
    x = rig.initial()
    names = [s.name for s in rig.states]
    x[names.index("dx_load")] = 0.7
    x[-1] = 9e6
    own = x[2 : len(x) - len(pump.states())]
    bodies = 310 * 0.49 / 2 + 310 * 9.81 * x[0]
    total = bodies + float(drive.stored(own, x[0])) + float(pump.stored(x[-1:]))
    assert float(rig.stored(0.0, x, [0.0])) == pytest.approx(total) and pump.stored(x[-1:]) > 100


def test_quaternions_have_four_names_and_rates_three():
    ball = Body("b", joint="spherical", mass=1.0)
    assert [s.name for s in signals.positions((ball,))] == ["e_b_0", "e_b_1", "e_b_2", "e_b_3"]
    assert [s.name for s in signals.rates((ball,))] == ["ω_b_x", "ω_b_y", "ω_b_z"]


def test_a_body_has_a_number_and_the_ground_minus_one():
    rig = Mechanism(CHAIN)
    assert [rig.number(name) for name in ("a", "c", "ground")] == [0, 2, -1]
    assert rig.pose_and_rates([1, 2, 3, 4, 5, 6, 7]) == ([1, 2, 3], [4, 5, 6])


def test_commands_are_cut_where_one_drive_cuts_them():
    drive = lambda cuts: SimpleNamespace(drive=SimpleNamespace(cuts_commands=cuts))
    machine = lambda *cuts: SimpleNamespace(actuators=list(map(drive, cuts)))
    ask = Abilities.cuts_commands.fget
    assert [ask(machine(*c)) for c in ((True, False), (False, False), ())] == [True, False, False]


def test_commands_at_which_valves_just_shut_are_the_plants_own():
    """By the plant's name; one that is no command of the plant is left out."""
    own = SimpleNamespace(
        inputs=[SimpleNamespace(name=n) for n in ("v", "w")],
        called={"u_1": "v", "u_2": "gone"},
        mechanism=SimpleNamespace(just_shut={"u_1": 0.2, "u_2": 0.3, "w": -0.4}),
    )
    assert Built.just_shut.fget(own) == {"v": 0.2, "w": -0.4}
    outer = Built.outer(SimpleNamespace(places=(2, "q", 0, 1), states="abc"), [5, 6, 7, 8])
    assert outer == [7, 8, 5]
    inner = Built.inner(SimpleNamespace(timed=lambda t: {"q": 3 * t}, places=(2, "q", 0)), [5, 6, 7])  # fmt: skip
    assert inner == [7, 0.0, 5]


# ---- back onto the loops --------------------------------------------------------------------------------------------------
CARRIER = Body("carrier", joint="spherical", mass=5.0, inertia=(1.0, 1.2, 0.9, 0.0, 0.0, 0.0))


def carried(method="minimal"):
    """The four-bar on a body that turns as it likes."""
    bars = made.four_bar()
    bodies = (CARRIER, replace(bars.bodies[0], parent="carrier"), *bars.bodies[1:])
    loop = Loop("E", Place("rocker", (5.0, 0.0, 0.0)), Place("carrier", (10.0, 0.0, 0.0)))
    return Mechanism(bodies, (loop,), method=method)


def test_quaternions_keep_their_length_where_loops_have_a_closed_form():
    rig = carried()
    x = rig.initial()
    e = np.array([0.9, 0.3, -0.2, 0.4])
    x[:4] = list(e)
    back = rig.project(0.0, x)
    assert back[:4] == pytest.approx(e / np.linalg.norm(e)) and back[4:] == pytest.approx(x[4:])
    assert made.hydraulic("minimal").project(0.0, [0.7, 0.1, 3.0]) == [0.7, 0.1, 3.0]


def test_joints_that_depend_on_each_other_are_named_but_for_quaternions():
    for method in ("minimal", "projected"):
        assert carried(method).joint_names == ("q_crank", "q_coupler", "q_rocker")
    assert made.four_bar(method="minimal").joint_names == ("q_crank",)


def test_motions_that_a_loop_allows_are_found_in_any_plane(monkeypatch):
    """Two of the five rows of a loop in its plane are independent, whatever rounding leaves of the others."""
    rig = carried("projected")
    lengths = np.array([2.0]), np.arange(6.0)[None, :]
    monkeypatch.setattr(strokes, "_lengths", lambda m, z: lengths)
    z = np.array(rig.assembly.z)
    z[:4] = np.array([0.9, 0.3, -0.2, 0.4]) / np.linalg.norm([0.9, 0.3, -0.2, 0.4])
    s, N, L = strokes._arms(rig, list(z))
    G = np.array(rig.constraints(list(z))[1], float)
    assert N.shape == (6, 4) and G @ N == pytest.approx(np.zeros((5, 4)), abs=1e-9)
    assert s.tolist() == [2.0] and L == pytest.approx(np.arange(6.0)[None, :] @ N)


def test_rates_of_a_quaternion_beside_a_loop():
    """ė = ½ e ⊗ ω, and the crank's own rate; joints that follow are none of the states."""
    rig = carried()
    q, qd = [0.9, 0.3, -0.2, 0.4, 1.0], [0.5, -0.7, 0.2, 0.6]
    found = coordinates.velocities(rig, q, qd)
    e, ω = np.array(q[:4]), np.array(qd[:3])
    wanted = [-e[1:] @ ω / 2, *(e[0] * ω + np.cross(e[1:], ω)) / 2, 0.6]
    assert found == pytest.approx(wanted)


def test_an_assembly_tells_what_it_moved_and_by_how_much():
    found = made.four_bar(gravity=(0.3, -9.7, 0.0)).assembly
    assert set(found.moved) == {"q_coupler", "q_rocker"}
    for name, by in found.moved.items():
        at = {"q_coupler": (1, -37.90), "q_rocker": (2, -93.58)}[name]
        assert by == pytest.approx(found.z[at[0]] - np.radians(at[1]))
    assert found.mobility == 1 and found.kept == (0, 1) == found.used
    assert found.left_out == (("E", 2), ("E", 3), ("E", 4)) and found.residual < 1e-12
    assert isinstance(assembly.assemble(made.cart_pole()).moved, dict)


# ---- refused --------------------------------------------------------------------------------------------------------------
def test_a_machine_whose_loops_stay_open_is_drawn_with_its_pins():
    """Places by their names, by the loop's where they have none; those of the ground beside its own."""
    bars = made.four_bar()
    named = Loop("E", Place("rocker", (5.0, 0.0, 0.0), name="ear"), Place("ground", (10.0, 0.0, 0.0)))  # fmt: skip
    rig = replace(bars, loops=(named,), pins={"spare": (1.0, 2.0)})
    drawn = fit.opened(rig)
    assert [(p.name, p.point) for p in drawn.bodies[2].pins] == [("ear", (5.0, 0.0, 0.0))]
    assert [p.name for p in drawn.pins] == ["spare", "E"] and drawn.loops == ()
    assert drawn.method == "projected" and drawn.bodies[0].pins == ()


FOLLOW = "its joints do not follow from independent ones"


@pytest.mark.parametrize(
    "rig, space, why",
    [
        (lambda: made.four_bar(method="penalty"), "joint", f"{FOLLOW}; write 'method: minimal'"),
        (lambda: made.four_bar(tcp=Pin("coupler")), "cartesian", FOLLOW),
        (lambda: Mechanism(CHAIN), "piston", "it takes one driven actuator for each coordinate"),
        (lambda: Mechanism(CHAIN), "cartesian", "it takes a tool (tcp: {body: …, point: …}) and two or three coordinates"),
        (lambda: Mechanism((CARRIER,)), "joint", "its joints follow from a ball joint, whose position is no single number"),
        (lambda: Mechanism(CHAIN), "polar", "its paths are given in other spaces"),
    ],
)  # fmt: skip
def test_spaces_that_a_mechanism_does_not_have(rig, space, why):
    with pytest.raises(InputError) as refused:
        coordinates.check(rig(), space)
    assert f"mechanism has no {space} space: {why}" in refused.value.message


def test_a_tool_in_the_plane_has_two_places_and_an_angle(monkeypatch):
    monkeypatch.setattr(coordinates, "place", lambda m, q: ([1.0, 2.0, 3.0], 0.7))
    monkeypatch.setattr(coordinates, "check", lambda m, space: None)
    assert coordinates.task(None, "cartesian", [0, 0, 0]) == [1.0, 2.0, 0.7]
    assert coordinates.task(None, "cartesian", [0, 0]) == [1.0, 2.0]


def test_a_spring_is_no_drive_that_holds():
    braced = Mechanism(CHAIN, actuators=(replace(LIFT, drive=SpringDamper(k=9.0)), PUSH))
    assert held.driven(braced, None) == (1,)
    assert [j.name for j in held.free_joints(braced)] == ["a", "b"]
    assert [j.unit for j in held.free_joints(braced, ())] == ["rad", "rad", "m"]


# ---- two of everything ----------------------------------------------------------------------------------------------------
def test_energy_of_two_drives_and_their_pump():
    """Two loads on slides, each lifted by a section of its own."""
    pump, drive, bodies, actuators = SharedPump(), MeteredSection(made.CYLINDER, 0.0), [], []
    for k, mass in enumerate((310.0, 170.0)):
        own = {"point": (1.0 * k, 0.0, 0.0), "axis": (0.0, 1.0, 0.0), "start": 0.3}
        bodies.append(Body(f"load{k}", joint="prismatic", mass=mass, **own))
        actuators.append(Actuator(f"c{k}", drive, joint=f"load{k}"))
    rig = Mechanism(tuple(bodies), actuators=tuple(actuators), supply=pump)
    x = rig.initial()
    x[-1] = 9e6
    n = len(drive.states("c"))
    drives = sum(float(drive.stored(x[at : at + n], 0.3)) for at in (4, 4 + n))
    height = 9.81 * (310 * x[0] + 170 * x[1])
    whole = float(rig.stored(0.0, x, [0.0, 0.0]))
    assert whole == pytest.approx(height + drives + float(pump.stored(x[-1:])))
    z, rates, own = rig.split(x)
    at_work = rig.pulls(rig.moving(z, rates), z, rates, own, [0.2, -0.3])
    assert [pull.line.p_s for pull in at_work] == [9e6, 9e6]
    assert [pull.u for pull in at_work] == [[0.2], [-0.3]]


def test_lengths_have_the_units_of_what_they_are_on():
    turn = Actuator("turn", Torque(), joint="b")
    rig = Mechanism(CHAIN, actuators=(LIFT, PUSH, turn))
    units = [s.unit for s in signals.lengths(rig)]
    assert units == ["m", "m", "rad", "m/s", "m/s", "rad/s"]
    assert [s.unit for s in signals.forces(rig)] == ["N", "N", "N m"]
    assert [static._unit(rig, a) for a in rig.actuators] == ["N", "N", "N m"]


def test_a_fault_says_once_where_to_start(monkeypatch):
    monkeypatch.setattr(fit, "_fitting", lambda m, k: "a between 1 and 2 m")
    machine = SimpleNamespace(actuators=[SimpleNamespace(name="lift")])
    fault = InputError(
        "actuators.lift: short", mend="start elsewhere, do not start elsewhere twice"
    )
    found = fit._advised(machine, fault).mend
    assert found == "start a between 1 and 2 m (the other joints as they are), do not start elsewhere twice"  # fmt: skip


def test_a_cylinder_without_a_shortest_length_fits_where_it_likes():
    own = SimpleNamespace(actuators=[SimpleNamespace(span=(-np.inf, 2.0), joint="", name="lift")])
    assert fit._fitting(own, 0) is None


def test_a_rest_takes_as_many_positions_as_there_are():
    assert Mechanism(CHAIN).rest([0.1, 0.2, 0.3]) == [0.1, 0.2, 0.3, 0.0, 0.0, 0.0]
    with pytest.raises(InputError, match="expected up to 3 positions"):
        Mechanism(CHAIN).rest([0.1, 0.2, 0.3, 0.4])
    ball = Mechanism((CHAIN[0], replace(CARRIER, parent="a")))
    with pytest.raises(InputError, match="slide: q_a, e_carrier_0, e_carrier_1, e_carrier_2, e_carrier_3"):  # fmt: skip
        ball.rest([0.1, 0.2])
