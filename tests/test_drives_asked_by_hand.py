"""What drives ask of their machine, one or many of them: steps, gains, pressures, errors, circuits that are drawn."""

from dataclasses import replace
from types import SimpleNamespace

import mechanisms as made
import pytest

from plants.drives.laws import Force, SpringDamper, Torque
from plants.drives.metered_section import MeteredSection
from plants.multibody import acting, drive_forces, metering, signals, starting, static
from plants.multibody.abilities import Abilities
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body, Pin
from plants.supplies.shared_pump import SharedPump
from workbench.numerics.adaptive import Fixed


def drives(*each):
    return SimpleNamespace(
        actuators=[SimpleNamespace(name=f"n{k}", drive=SimpleNamespace(**one)) for k, one in enumerate(each)]
    )  # fmt: skip


def test_equal_steps_are_asked_for_by_one_drive():
    for asks, wanted in (((True, False), Fixed()), ((False, False), None), ((), None)):
        machine = drives(*({"equal_steps": a} for a in asks))
        machine.adaptive = None
        assert Abilities.fixed.fget(machine) == wanted
    machine = drives({"equal_steps": True})
    machine.adaptive = "own"
    assert Abilities.fixed.fget(machine) is None


def test_a_position_loop_is_as_slow_as_the_slowest_drive():
    machine = drives({"loop_rate": 6.0, "integral_rate": 0.5}, {"loop_rate": 2.5, "integral_rate": 0.8})  # fmt: skip
    assert (Abilities.loop_rate.fget(machine), Abilities.integral_rate.fget(machine)) == (2.5, 0.5)
    assert (Abilities.loop_rate.fget(drives()), Abilities.integral_rate.fget(drives())) == (4.0, 4 / 9)  # fmt: skip


def test_springs_push_by_the_rates_of_all_joints(monkeypatch):
    """The second of three actuators is one: s of its own, ṡ = ∂s/∂z ż."""
    monkeypatch.setattr(drive_forces.coordinates, "driven", lambda m: [0, 2])
    spring = {"force": lambda x, s, rate, u, line: -10 * s - 3 * rate}
    lines = SimpleNamespace(s=[9.0, 0.4, 9.0], by_joint=[[9.0, 9.0], [0.5, -2.0], [9.0, 9.0]])
    found = drive_forces.spring_forces(drives({}, spring, {}), lines, [0.3, 0.7])
    assert found == {1: pytest.approx(-4.0 - 3 * (0.15 - 1.4))}


def test_commands_that_just_shut_valves_are_the_first_of_their_drives():
    signal = lambda name: SimpleNamespace(name=name)
    each = lambda shut: {"inputs": lambda label: (signal(f"u_{label}"),), "just_shut": shut}
    assert Abilities.just_shut.fget(drives(each(0.2), each(None), each(0.0))) == {"u_n0": 0.2, "u_n2": 0.0}  # fmt: skip


def test_gains_are_told_one_by_one_where_their_units_differ(monkeypatch):
    monkeypatch.setattr(acting, "velocity_gains", lambda machine: (0.3, 0.5))
    each = lambda unit, turns: {"inputs": lambda label: (SimpleNamespace(unit=unit),), "turns": turns}  # fmt: skip
    ask = Abilities.velocity_gains.fget
    assert ask(drives(each("V", False), each("V", False))) == ()
    assert ask(drives(each("V", False), each("V", True))) == (0.3, 0.5)
    assert ask(drives(each("V", False), each("1", False))) == (0.3, 0.5)
    assert Abilities.velocity_gain.fget(drives()) == pytest.approx(0.4)


@pytest.mark.parametrize("p_r, told", [(0.5, True), (0.0, False)])
def test_a_highest_pressure_is_told_where_pressures_count_from_nothing(p_r, told):
    machine = drives(
        {"pressures": lambda name: ("p",), "needs_supply": True, "pressure_limits": ()}
    )
    machine.supply = SimpleNamespace(most=SimpleNamespace(p_r=p_r))
    assert acting.highest_line(machine) is (machine.supply.most if told else None)


def test_a_line_is_told_where_all_chambers_are_fed_and_none_states_its_own():
    one = {"pressures": lambda name: ("p",), "needs_supply": True, "pressure_limits": ()}
    for other, told in (({}, True), ({"needs_supply": False}, False), ({"pressure_limits": (0.0, 9e6)}, None)):  # fmt: skip
        machine = drives(one, one | other)
        most = SimpleNamespace(p_r=1e5)
        machine.supply = SimpleNamespace(most=most, states=tuple, settles=False)
        assert acting.highest_line(machine) is (most if told else None)
        assert acting.constant_line(machine) is (most if told in (True, None) else None)


def test_a_supply_is_given_its_states_its_takers_and_its_own_inputs():
    """Inputs of drives come first, then those of the supply, then what the surroundings do."""
    machine = drives({"needs_supply": True}, {"needs_supply": False}, {"needs_supply": True})
    machine.supply = SimpleNamespace(inputs=lambda: ("a", "b"))
    pulls = [SimpleNamespace(u=[1.0]), SimpleNamespace(u=[2.0, 3.0]), SimpleNamespace(u=[])]
    own, takers, u = acting.on_supply(machine, pulls, [[0], [1], [2], [7, 8]], [1, 2, 3, 4, 5, 6])
    assert own == [7, 8] and u == [4, 5]
    assert [(d, p) for d, p in takers] == [(machine.actuators[k].drive, pulls[k]) for k in (0, 2)]


def test_a_damper_at_rest_gives_nothing():
    """Of virtual work: weight and what the spring holds."""
    spring = SpringDamper(k=900.0, s_0=0.2, d=5e4)
    load = Body("load", "ground", "prismatic", axis=(0.0, 1.0, 0.0), mass=10.0, start=0.5)
    rig = Mechanism((load,), actuators=(Actuator("s", spring, joint="load"),))
    known, shares, G = static._virtual_work(rig, [0.5])
    assert known == pytest.approx([-98.1 - 270.0]) and shares[0] == pytest.approx([1.0])
    assert G.shape == (0, 1)


@pytest.mark.parametrize(
    "kept, used, many", [((0, 1), (0, 1), 1), ((0,), (0, 1), 0), ((), (), 0), ((), (0,), 0)]
)
def test_a_bend_is_told_where_the_rows_that_act_are_independent(kept, used, many):
    own = SimpleNamespace(closings=(), kept=kept, used=used, loops=())
    assert [s.name for s in signals.bends(own)] == ["bend"] * many


def test_errors_of_steps_by_unit():
    """A nanometre, and a nanoradian; twenty times as much a second; a tenth of a pascal, a ten millionth of full voltage."""
    signal = lambda name, unit: SimpleNamespace(name=name, unit=unit)
    units = ("m", "rad", "m/s", "rad/s", "Pa", "V", "V/s", "K")
    own = {
        "states": lambda label: (signal("own", "Pa"),),
        "step_errors": lambda label: (7.0,),
        "edges": lambda label: ("", ()),
        "pulse": 0.0,
    }
    machine = drives(own)
    machine.states = (signal("own", "Pa"), *(signal(f"x_{u}", u) for u in units))
    found = acting.adaptive(machine).errors
    assert found == (7.0, 1e-9, 1e-9, 2e-8, 2e-8, 0.1, 1e-7, 1e-4, 1e-9)


def test_how_many_circuits_are_drawn(monkeypatch):
    """Three hundred for passivity, a hundred for one velocity, both from the seed 0."""
    pump = SimpleNamespace(settles=False, circuit_pump="pump")
    machine = SimpleNamespace(no_passivity="", supply=pump, actuators=())
    monkeypatch.setattr(metering, "Circuit", lambda sections, pump: "circuit")
    for name in ("check_passive", "check_unique"):
        monkeypatch.setattr(metering, name, lambda *given, held: (*given, held))
    valves = metering.MeteringValves(machine)
    assert valves.passivity() == ("circuit", 300, 0, True)
    assert valves.uniqueness() == ("circuit", {}, 100, 0, True)
    machine.supply.settles = True
    assert valves.passivity(5, 6) == ("circuit", 5, 6, False)


@pytest.mark.parametrize("regenerates, told", [((False, False), True), ((True, False), False), ((True, True), False)])  # fmt: skip
def test_sections_are_told_where_none_regenerates(monkeypatch, regenerates, told):
    monkeypatch.setattr(metering, "Circuit", lambda sections, pump: SimpleNamespace(sections=sections))  # fmt: skip
    monkeypatch.setattr(metering, "with_oil", lambda valves, circuit, u_b, names: (u_b, names))
    section = lambda name: SimpleNamespace(name=name)
    ways = ["by hand" if r else "none" for r in regenerates]
    each = [{"regeneration": way, "metering": section} for way in ways]
    machine = drives(*each)
    machine.supply = SharedPump(u_b=0.3)
    found = metering.MeteringValves(machine).valve_sections
    assert found == ((0.3, ["n0", "n1"]) if told else None)


# ---- forces at rest -------------------------------------------------------------------------------------------------------
def crane(**limits):
    """A boom of 100 kg on a joint that a cylinder lifts with 0.4 m of lever, and a torque beside it."""
    boom = Body("boom", mass=100.0, com=(1.2, 0.0, 0.0), inertia=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0))
    rod = Actuator("rod", Force(limit=limits["rod"]), Pin("ground", (0.4, -1.0, 0.0)), Pin("boom", (0.4, 0.0, 0.0)))  # fmt: skip
    turn = Actuator("turn", Torque(limit=limits["turn"]), joint="boom")
    return Mechanism((boom,), actuators=(rod, turn))


@pytest.mark.parametrize(
    "rod, turn, force, torque",
    [
        (2500.0, 900.0, None, None),
        (1000.0, 900.0, None, None),
        (4000.0, 200.0, None, None),
        (1000.0, 100.0, 0.4 * 1177.2 / 1.16, 1177.2 / 1.16),
    ],
)
def test_drives_hold_a_weight_within_their_limits(rod, turn, force, torque):
    """0.4 F + M = 1177.2 N m by the least squares that limits allow; where they do not, by those without any."""
    one, other = static.holding(crane(rod=rod, turn=turn), [0.0, 0.0])
    assert 0.4 * one.needs + other.needs == pytest.approx(1177.2, rel=1e-9)
    assert (one.unit, other.unit) == ("N", "N m")
    assert (one.low, one.high, other.high) == (-rod, rod, turn)
    if force is not None:
        assert (one.needs, other.needs) == pytest.approx((force, torque), rel=1e-6)
    else:
        assert abs(one.needs) <= rod * (1 + 1e-9) and abs(other.needs) <= turn * (1 + 1e-9)


def test_what_nobody_holds_leaves_the_others_within_their_limits():
    """A bob that hangs level from the boom turns freely: what is left over is its own, with bounds and without."""
    rig = crane(rod=1000.0, turn=900.0)
    bob = Body("bob", "boom", point=(1.0, 0.0, 0.0), mass=2.0, com=(0.5, 0.0, 0.0))
    rig = replace(rig, bodies=(*rig.bodies, bob))
    one, other = static.holding(rig, rig.initial())
    asked = 1177.2 + 2.0 * 9.81 * 1.5
    assert abs(one.needs) <= 1000.0 + 1e-6 and abs(other.needs) <= 900.0 + 1e-6
    assert 0.4 * one.needs + other.needs == pytest.approx(asked, rel=0.02)


def test_a_drive_that_is_a_law_gives_nothing_without_a_command():
    rig = crane(rod=2500.0, turn=900.0)
    assert starting.holding_forces(rig, [0.3]) == [0.0, 0.0]
    damped = Actuator("s", SpringDamper(k=50.0, s_0=0.1, d=4e3), joint="boom")
    sprung = replace(rig, actuators=(*rig.actuators, damped))
    assert starting.holding_forces(sprung, [0.3]) == pytest.approx([0.0, 0.0, -10.0])


def test_two_cylinders_hold_their_own_loads():
    """On slides that slant towards z: m g cos, each its own."""
    bodies, actuators, drive = [], [], MeteredSection(made.CYLINDER, 0.0)
    for k, mass in enumerate((310.0, 170.0)):
        own = {"point": (1.0 * k, 0.0, 0.0), "axis": (0.0, 0.8, 0.6), "start": 0.3}
        bodies.append(Body(f"load{k}", joint="prismatic", mass=mass, **own))
        actuators.append(Actuator(f"c{k}", drive, joint=f"load{k}"))
    rig = Mechanism(tuple(bodies), actuators=tuple(actuators), supply=SharedPump())
    found = starting.holding_forces(rig, [0.3, 0.3])
    assert found == pytest.approx([310 * 9.81 * 0.8, 170 * 9.81 * 0.8])
    assert rig.upward == (0.0, 9.81, 0.0) == tuple(-v for v in rig.gravity)
