"""What a mechanism refuses when it is built, one check after the other; settings of a PID for plants without valves."""

from types import SimpleNamespace

import numpy as np
import pytest

from controllers.pid.suited import says_nothing, suited
from plants.multibody import branching, checks, metering, strokes, tree, virtual_work
from plants.multibody.metering import MeteringValves
from plants.multibody.oil import Oil
from plants.multibody.parts import GROUND
from plants.multibody.signals import flow_name
from workbench.contract.errors import Faults, InputError


def body(name, joint="revolute"):
    return SimpleNamespace(name=name, joint=joint)


def ends(a, b):
    return {"a": SimpleNamespace(body=a), "b": SimpleNamespace(body=b)}


class Cylinder(SimpleNamespace):
    """A drive between two pins, or on a joint that slides."""


class Motor(SimpleNamespace):
    """A drive on a joint that turns."""


def cylinder(**other):
    return Cylinder(**{"anywhere": False, "turns": False, "needs_supply": False} | other)


def motor(**other):
    return Motor(**{"anywhere": False, "turns": True, "needs_supply": False} | other)


def actuator(name="lift", drive=None, joint="", a=None, b=None):
    return SimpleNamespace(name=name, drive=drive or cylinder(), joint=joint, a=a, b=b)


def between(name, a, b, drive=None):
    return SimpleNamespace(name=name, drive=drive or cylinder(), joint="", **ends(a, b))


BODIES = (
    body("boom"),
    body("slide", "prismatic"),
    body("ball", "spherical"),
    body("plate", "fixed"),
)


def machine(**other):
    given = {"bodies": BODIES, "loops": (), "actuators": (), "tree": None, "supply": None}
    return SimpleNamespace(**given | other)


def refused(check, *given):
    with pytest.raises(InputError) as why:
        check(*given)
    return f"{why.value.message} | {why.value.mend}"


# ---- names and drives --------------------------------------------------------------------------------------------------
def test_a_machine_whose_names_exist():
    lift, turn = between("lift", GROUND, "boom"), actuator("turn", motor(), "boom")
    push, any_one = (
        actuator("push", cylinder(), "slide"),
        actuator("any", motor(anywhere=True), "slide"),
    )
    loop = SimpleNamespace(name="eye", **ends("plate", "ball"))
    checks.check_names(machine(actuators=(lift, turn, push, any_one), loops=(loop,)))


@pytest.mark.parametrize(
    "change, said",
    [
        ({"actuators": (between("lift", GROUND, "arm"),)}, "actuators.lift.b.body: there is no body 'arm'"),
        ({"actuators": (between("lift", "arm", "boom"),)}, "actuators.lift.a.body: there is no body 'arm'"),
        ({"actuators": (actuator("turn", motor(), "arm"),)}, "actuators.turn.joint: there is no body 'arm'"),
        ({"loops": (SimpleNamespace(name="eye", **ends("boom", "arm")),)}, "loops.eye.b.body: there is no body"),
        ({"actuators": (between("lift", GROUND, "boom"),) * 2}, "actuators: 'lift' is there twice"),
        ({"loops": (SimpleNamespace(name="eye", **ends("boom", "ball")),) * 2}, "loops: 'eye' is there twice"),
        ({"actuators": (actuator("turn", motor(), "ball"),)}, "ball has a spherical joint"),
        ({"actuators": (actuator("turn", motor(), "plate"),)}, "plate has a fixed joint"),
        ({"actuators": (actuator("turn", motor(), GROUND),)}, f"{GROUND} has a fixed joint"),
    ],
)  # fmt: skip
def test_names_and_drives_that_do_not_fit(change, said):
    assert said in refused(checks.check_names, machine(**change))


ACTS = "a {} acts on {}, and here it is on {} | {}"
TWO_WAYS = "two pins or a prismatic joint"


@pytest.mark.parametrize(
    "one, told",
    [
        (
            actuator("turn", motor(), "slide"),
            (
                "Motor",
                "a revolute joint",
                "the prismatic joint of slide",
                "write 'joint: revolute' at slide",
            ),
        ),
        (
            actuator("push", cylinder(), "boom"),
            (
                "Cylinder",
                TWO_WAYS,
                "the revolute joint of boom",
                "write 'joint: prismatic' at boom",
            ),
        ),
        (
            between("turn", GROUND, "boom", motor()),
            (
                "Motor",
                "a revolute joint",
                "two pins",
                "name the body whose joint it turns in place",
            ),
        ),
    ],
)
def test_drives_on_joints_of_another_kind(one, told):
    assert ACTS.format(*told) in refused(checks.check_names, machine(actuators=(one,)))


# ---- supplies ----------------------------------------------------------------------------------------------------------
def a_supply(settles=False):
    served = []
    return SimpleNamespace(settles=settles, check=served.append, served=served)


def test_oil_is_taken_from_a_supply_and_none_stands_idle():
    taker, other = actuator("lift", cylinder(needs_supply=True)), actuator("turn", motor())
    supply = a_supply()
    checks.check_supply(machine(actuators=(taker, other), supply=supply))
    assert supply.served == [[taker]]
    checks.check_supply(machine(actuators=(other,)))
    assert "supply: lift takes oil" in refused(
        checks.check_supply, machine(actuators=(other, taker))
    )
    idle = machine(actuators=(other,), supply=a_supply())
    assert "none of the drives takes oil" in refused(checks.check_supply, idle)


def test_a_line_without_oil_serves_drives_without_oil():
    class Behind(Cylinder):
        def behind(self):
            return None

    class Plain(Cylinder):
        behind = checks.Drive.behind

    given = {"anywhere": False, "turns": False, "needs_supply": True}
    plain, behind = actuator("a", Plain(**given)), actuator("b", Behind(**given))
    own = actuator("c", Plain(**given | {"needs_supply": False}))
    checks.check_supply(machine(actuators=(behind, own), supply=a_supply(settles=True)))
    checks.check_supply(machine(actuators=(plain,), supply=a_supply()))
    said = refused(checks.check_supply, machine(actuators=(behind, plain), supply=a_supply(True)))
    assert "actuators.a.drive: the flow of a Plain depends" in said


# ---- surroundings and signals ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "method, wrench, moving, tcp, said",
    [
        ("projected", True, True, "tool", ""),
        ("projected", True, False, None, "tool_wrench: the mechanism has no tool"),
        ("projected", False, True, None, ""),
        ("penalty", False, False, "tool", ""),
        ("penalty", True, False, "tool", "tool_wrench: method penalty"),
        ("penalty", False, True, "tool", "moving_ground: method penalty"),
    ],
)
def test_what_acts_from_outside(method, wrench, moving, tcp, said):
    made = SimpleNamespace(method=method, tool_wrench=wrench, moving_ground=moving, tcp=tcp)
    if said:
        assert said in refused(checks.check_surroundings, made)
    else:
        checks.check_surroundings(made)


def test_no_two_signals_of_one_name():
    def made(states=("a", "b"), monitors=("c",), inputs=("d",), powers=("p", "q")):
        sets = [[SimpleNamespace(name=n) for n in group] for group in (states, monitors, inputs)]
        return SimpleNamespace(
            states=sets[0], monitors=sets[1], inputs=sets[2], power_names=list(powers)
        )

    checks.check_signals(made())
    checks.check_signals(made(powers=("a", "b")))
    assert "called 'b'" in refused(checks.check_signals, made(monitors=("b",)))
    assert "called 'c'" in refused(checks.check_signals, made(inputs=("c",)))
    assert "called 'stored'" in refused(checks.check_signals, made(powers=("p", "stored")))


# ---- where it starts ---------------------------------------------------------------------------------------------------
def test_pins_on_each_other_have_no_direction(monkeypatch):
    """All that lie on each other are told; apart in one coordinate is apart."""
    monkeypatch.setattr(checks, "point", lambda motion, body, at: (at, None))
    pin = lambda *at: SimpleNamespace(body=GROUND, point=at)
    told = [
        SimpleNamespace(name="a", joint="", a=pin(1, 2, 3), b=pin(1, 2, 3)),
        SimpleNamespace(name="b", joint="", a=pin(1, 2, 3), b=pin(1, 2.1, 3)),
        SimpleNamespace(name="c", joint="", a=pin(1, 2, 3), b=pin(1, 2 - 0.5e-9, 3)),
        SimpleNamespace(name="d", joint="", a=pin(1, 2, 3), b=pin(1, 2, 3 - 2e-9)),
        SimpleNamespace(name="e", joint="boom"),
    ]
    made = SimpleNamespace(
        actuators=told,
        assembly=SimpleNamespace(z=None, rates=None),
        moving=lambda z, rates: None,
        number=lambda body: 0,
    )
    with pytest.raises(Faults) as why:
        checks.check_pins_apart(made)
    assert [one.message.partition(":")[0] for one in why.value.each] == [
        "actuators.a",
        "actuators.c",
    ]
    made.actuators = [told[1], told[3], told[4]]
    checks.check_pins_apart(made)


@pytest.mark.parametrize(
    "s, shortest, longest, off",
    [
        (0.95, 1.0, 1.5, "0.05 m less than retracted"),
        (1.0, 1.0, 1.5, ""),
        (1.5, 1.0, 1.5, ""),
        (1.55, 1.0, 1.5, "0.05 m more than extended"),
        (-7.0, None, 1.5, ""),
        (1.75, None, 1.5, "can only span 0 … 1.5 m; 0.25 m more"),
        (7.0, 1.0, None, ""),
        (0.5, 1.0, None, "can only span 1 … inf m; 0.5 m less"),
    ],
)
def test_a_cylinder_starts_within_its_stroke(s, shortest, longest, off):
    one = SimpleNamespace(name="lift", shortest=shortest, longest=longest)
    if off:
        assert off in refused(checks._check_length, one, s)
    else:
        checks._check_length(one, s)


def masses(M):
    """Bodies of one, two and one rates."""
    bodies = [body(name) for name in "abc"]
    made = SimpleNamespace(bodies=bodies, tree=SimpleNamespace(body_of=(0, 1, 1, 2)))
    return refused(checks.check_masses, made, np.array(M, float))


def test_every_motion_moves_some_mass():
    sound = np.diag([1e-9, 5.0, 1e6, 2.0])
    made = SimpleNamespace(
        bodies=[body(n) for n in "abc"], tree=SimpleNamespace(body_of=(0, 1, 1, 2))
    )
    checks.check_masses(made, sound)
    assert "bodies: all of them are fixed" in masses(np.zeros((0, 0)))
    still = sound.copy()
    still[2, 2] = 0.0
    assert "bodies.b: moving its joint moves no mass" in masses(still)
    both = sound.copy()
    both[0, 3] = both[3, 0] = np.sqrt(2e-9)
    both[3, 1] = both[1, 3] = 0.0
    assert "can move together without moving any mass" in masses(both)
    nearly = sound.copy()
    nearly[0, 3] = nearly[3, 0] = np.sqrt(2e-9) * (1 - 1e-9)
    checks.check_masses(made, nearly)


def test_axes_of_a_closed_cut_point_the_same_way(monkeypatch):
    facings = {"eye": (0.9, 1.0), "other": (0.5, -0.5), "free": ()}
    monkeypatch.setattr(checks, "facing", lambda loop, motion, a, b: facings[loop.name])

    def made(*names):
        loops = [SimpleNamespace(name=n) for n in names]
        return SimpleNamespace(
            loops=loops, cuts=[(0, 1)] * len(loops), moving=lambda z, rates: None
        )

    checks.check_faces(made("eye", "free"), None)
    assert "loops.other: closes" in refused(checks.check_faces, made("eye", "other"), None)


# ---- a PID for a plant without valves ----------------------------------------------------------------------------------
def plant(**other):
    given = {
        "cylinders": (),
        "notched": (),
        "velocity_gains": (),
        "velocity_gain": None,
        "loop_rate": 45.0,
        "n": 0,
    }
    return SimpleNamespace(**given | {"integral_rate": None, "limits": dict} | other)


def test_settings_follow_from_the_velocity_gain():
    """K_p = 45/k, K_i = 5 K_p, K_v = 1/k; the limit is the least of the larger ends."""
    limits = lambda: {"u": (-4.0, 3.0), "v": (0.0, 5.0)}
    found = suited(plant(velocity_gain=0.5, limits=limits))
    assert found.pop("u_max") == 4.0
    assert found == {
        "feed": "gain",
        "damping": "none",
        "K_p": (90.0,),
        "K_i": (450.0,),
        "K_v": (2.0,),
    }
    own = suited(
        plant(velocity_gains=(0.5, 2.0), velocity_gain=9.0, loop_rate=18.0, integral_rate=3.0)
    )
    assert own["K_p"] == (36.0, 9.0) and own["K_i"] == (108.0, 27.0) and own["K_v"] == (2.0, 0.5)
    assert suited(plant(velocity_gain=3.0, loop_rate=18.0))["K_i"] == (pytest.approx(12.0),)
    assert suited(plant()) == {"feed": "gain", "damping": "none"}
    assert suited(plant(cylinders=("c",))) == {} and "K_p" in suited(
        plant(cylinders=("c",), velocity_gains=(1.0,))
    )


@pytest.mark.parametrize(
    "given, nothing",
    [
        ({}, True),
        ({"cylinders": ("c",)}, False),
        ({"n": 1}, False),
        ({"velocity_gains": (1.0,)}, False),
        ({"velocity_gain": 0.5}, False),
    ],
)
def test_a_plant_that_says_nothing_of_itself(given, nothing):
    assert bool(says_nothing(plant(**given))) is nothing


# ---- oil ---------------------------------------------------------------------------------------------------------------
OWN = {name: answer for name, answer in vars(Oil).items() if isinstance(answer, property)}
Oily = type("Oily", (), OWN)  # a mechanism of which only what its oil answers is asked


def oily(supply=None, **drives):
    """Actuators whose drives answer like this."""
    made = Oily()
    made.actuators = tuple(
        SimpleNamespace(name=name, drive=drive) for name, drive in drives.items()
    )
    made.supply = supply
    return made


def drive(vacuum=None, needs=True, chambers=("a", "b")):
    return SimpleNamespace(
        pressures=lambda name: tuple(f"p_{c}{name}" for c in chambers),
        needs_supply=needs,
        vacuum=vacuum,
    )


def test_chambers_flows_and_vacua_of_all_drives():
    made = oily(
        lift=drive(-1e5),
        turn=drive(0.0, needs=False, chambers=()),
        tilt=drive(needs=False, chambers=("a",)),
    )
    assert made.pressure_names == ("p_alift", "p_blift", "p_atilt")
    assert made.flow_names == (flow_name("lift"),)
    assert made.vacua == {"p_alift": -1e5, "p_blift": -1e5}
    assert oily(lift=drive(0.0)).vacua == {"p_alift": 0.0, "p_blift": 0.0}


def test_pressures_of_a_supply(monkeypatch):
    from plants.multibody import oil

    line = SimpleNamespace(p_s=2e7, p_r=3e5)
    for name in ("constant_line", "highest_line"):
        monkeypatch.setattr(oil.acting, name, lambda made: line if made.supply else None)
    supply = SimpleNamespace(
        most="most", unloaded="unloaded", pressure_names=("p_s",), range=(1.0, 2.0)
    )
    own, none = oily(supply), oily()
    assert (own.p_s, own.p_r, own.p_top) == (2e7, 3e5, 2e7) and (
        none.p_s,
        none.p_r,
        none.p_top,
    ) == (None,) * 3
    assert (own.line_at_most, own.line_unloaded) == ("most", "unloaded")
    assert (none.line_at_most, none.line_unloaded) == (None, None)
    assert own.supply_names == ("p_s",) and own.supply_range == (1.0, 2.0)
    assert none.supply_names == () and none.supply_range is None


# ---- a step of a stroke ------------------------------------------------------------------------------------------------
def stepped(rows, move=(0.5, 0.0)):
    """Positions after a move, on loops whose rows are Φ(z)."""
    made = SimpleNamespace(
        tree=SimpleNamespace(n_v=2),
        moved=lambda z, move: [a + b for a, b in zip(z, move)],
        constraints=lambda z: (np.array(rows(z), float), slope(rows, z)),
    )
    return strokes._stepped(made, [0.25, 0.1], move)


def slope(rows, z, h=1e-6):
    columns = [
        (np.array(rows(np.array(z) + h * e)) - np.array(rows(np.array(z) - h * e))) / (2 * h)
        for e in np.eye(2)
    ]
    return np.column_stack(columns)


def test_a_step_closes_its_loops_or_there_is_none():
    """z_2 = z_1² after the move; two rows of which one does not close are none, and what is too far is none."""
    parabola = lambda z: [z[1] - z[0] ** 2]
    z = stepped(parabola)
    assert z[1] == pytest.approx(z[0] ** 2, abs=1e-12) and 0.25 < z[0] < 0.75
    assert stepped(lambda z: np.zeros(0)) == [0.75, 0.1]
    assert stepped(lambda z: [z[1] - z[0] ** 2, 1e-3 + 0.0 * z[0]]) is None
    assert stepped(parabola, (3.0, 0.0)) is None


# ---- metering valves --------------------------------------------------------------------------------
def metered(settles=False, bleed=None, no_passivity="", **drives):
    """A machine whose drives have these sections (None: no valves), velocities and forces of their rods."""
    actuators = [
        SimpleNamespace(
            name=name,
            drive=SimpleNamespace(
                metering=lambda name, s=s: s, regeneration=bleed or "none", damping=7.0
            ),
        )
        for name, s in drives.items()
    ]
    supply = SimpleNamespace(settles=settles, circuit_pump="pump", u_b=0.3)
    named = lambda *found: [SimpleNamespace(name=n) for n in found]
    machine = SimpleNamespace(
        actuators=actuators, supply=supply, no_passivity=no_passivity,
        states=named("q", "rod_a", "rod_c"), monitors=named("f_p_c", "f_p_a", "other"),
        rhs=lambda t, x, u: [x, x + 1 + t, x + 2 + t], monitor=lambda t, x, u: [u + t, u + 1 + t, u + 2],
    )  # fmt: skip
    return MeteringValves(machine)


def test_valves_of_the_drives_that_have_some(monkeypatch):
    monkeypatch.setattr(metering, "Circuit", lambda sections, pump: (sections, pump))
    own = metered(a="first", b=None, c="second")
    assert list(own.drives) == ["a", "c"] and own.circuit == (("first", "second"), "pump")
    assert own.held and not metered(settles=True, a="first").held
    assert own.rods(10.0, 20.0) == ([11.0, 12.0], [21.0, 20.0])


def test_what_the_circuit_of_a_machine_is_asked(monkeypatch):
    monkeypatch.setattr(metering, "Circuit", lambda sections, pump: "circuit")
    monkeypatch.setattr(metering, "check_passive", lambda *given, held: (*given, held))
    monkeypatch.setattr(metering, "check_unique", lambda *given, held: (*given, held))
    own = metered(a="first", c="second")
    assert own.passivity(5, 6) == ("circuit", 5, 6, True)
    damping = {"a: damping of the oil": 7.0, "c: damping of the oil": 7.0}
    assert own.uniqueness(5, 6) == ("circuit", damping, 5, 6, True)
    with pytest.raises(InputError, match="incremental-passivity: it follows the loads"):
        metered(no_passivity="it follows the loads", a="first").passivity()


def test_sections_for_reports_where_the_line_holds_oil(monkeypatch):
    sections = [SimpleNamespace(name="a"), SimpleNamespace(name="c")]
    monkeypatch.setattr(metering, "Circuit", lambda own, pump: SimpleNamespace(sections=sections))
    monkeypatch.setattr(metering, "with_oil", lambda valves, circuit, u_b, called: (u_b, called))
    assert metered(a="first").valve_sections is None, "its pump holds none"
    monkeypatch.setattr(metering, "SharedPump", SimpleNamespace)
    assert metered(a="first", c="second").valve_sections == (0.3, ["a", "c"])
    assert metered(bleed="input", a="first").valve_sections is None


# ---- strokes, rates of ball joints ---------------------------------------------------------------------------------------------
def test_lengths_change_by_wrenches_and_by_what_acts_on_a_joint_directly(monkeypatch):
    """Of two actuators, one between pins and one on a joint."""
    pulls = [SimpleNamespace(s=0.5), SimpleNamespace(s=0.75)]
    made = SimpleNamespace(
        tree=SimpleNamespace(n_v=2),
        bodies=(),
        moving=lambda z, rates: None,
        pulls=lambda motion, z, v, x, u: pulls,
    )
    monkeypatch.setattr(virtual_work.tree, "inertias", lambda *given: None)
    monkeypatch.setattr(
        virtual_work.acting,
        "applied",
        lambda mechanism, pulls, one: (one, [10 * one[1], 20 * one[0]]),
    )
    monkeypatch.setattr(
        virtual_work.tree, "forces", lambda tree, own, motion, g, one: [one[0], 3 * one[1]]
    )
    motion, at = virtual_work.at_rest(made, [0.1, 0.2])
    assert at == pulls
    assert virtual_work.lever_arms(made, motion, at) == [[1.0, 20.0], [10.0, 3.0]]


def followed(monkeypatch, closes_until, arm=lambda z: 1.0, span=(0.0, 9.0), way=1.0):
    """A cylinder of length s = 1 + z whose lever arm is given, on a loop that closes up to z."""
    made = SimpleNamespace(actuators=[SimpleNamespace(span=span)])
    monkeypatch.setattr(
        strokes,
        "_arms",
        lambda mechanism, z: (np.array([1 + z[0]]), np.eye(1), np.array([[arm(z[0])]])),
    )
    monkeypatch.setattr(strokes, "_lengths", lambda mechanism, z: (np.array([1 + z[0]]), None))
    step = lambda mechanism, z, move: (
        None if abs(z[0] + move[0]) > closes_until else [z[0] + move[0]]
    )
    monkeypatch.setattr(strokes, "_stepped", step)
    return strokes._followed(made, 0, way, [0.0])


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_stroke_is_followed_to_its_end_or_to_a_dead_point(monkeypatch, way):
    """In steps of 0.05: to 1.3 at the end of its span, to where the loop does not close, to where its arm is gone."""
    span = (0.7, 1.3)
    path, dead = followed(monkeypatch, 9.0, span=span, way=way)
    assert dead == () and [s for s, _ in path] == pytest.approx(
        [1 + 0.05 * way * k for k in range(7)]
    )
    path, dead = followed(monkeypatch, 0.12, way=way)
    assert dead == (pytest.approx(1 + 0.1 * way),) and len(path) == 3
    path, dead = followed(monkeypatch, 9.0, lambda z: max(1 - abs(z) / 0.2, 0.0), way=way)
    assert dead == (pytest.approx(1 + 0.2 * way),)


def test_rates_of_a_quaternion():
    """ė = ½ e ⊗ (0, ω): of length zero along e, and by hand at other numbers."""
    e, ω = [0.5, -0.1, 0.7, 0.3], [0.2, 0.0, -0.4]
    a, b, c, d = e
    x, y, z = ω
    expected = [
        -(b * x + c * y + d * z),
        a * x + c * z - d * y,
        a * y + d * x - b * z,
        a * z + b * y - c * x,
    ]
    assert tree.quaternion_rate(e, ω) == pytest.approx([v / 2 for v in expected])
    assert np.dot(e, tree.quaternion_rate(e, ω)) == pytest.approx(0.0)
    assert tree.quaternion_rate([1.0, 0, 0, 0], [0.0, 0.0, 2.0]) == [0, 0, 0, 1.0]


def test_rates_of_positions_with_a_ball_joint_between_others():
    bodies = [
        SimpleNamespace(name=n, parent=GROUND, joint=j)
        for n, j in (("a", "revolute"), ("b", "spherical"), ("c", "prismatic"))
    ]
    T = branching.tree(bodies)
    z, rates = [0.1, 1.0, 0.0, 0.0, 0.0, 0.5], [3.0, 0.2, 0.4, 0.6, 7.0]
    assert tree.velocities(bodies, T, z, rates) == pytest.approx([3.0, 0.0, 0.1, 0.2, 0.3, 7.0])
