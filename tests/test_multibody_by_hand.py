"""Names, places and numbers of mechanisms: trees, pins and what fits, from bodies that are only as much as is read of them."""

import pickle
from dataclasses import dataclass, replace
from math import radians, sqrt
from types import SimpleNamespace

import numpy as np
import pytest

from plants.multibody import effort as effort_module
from plants.multibody import fit
from plants.multibody.branching import tree
from plants.multibody.effort import effort
from plants.multibody.parts import GROUND, JOINTS, Pin, Place
from plants.multibody.pins import held_at, resolve
from plants.multibody.points import NamedPoint
from workbench.contract.errors import Faults, InputError


# ---- which body hangs on which -------------------------------------------------------------------------------------------
def bodies(*told):
    return [SimpleNamespace(name=name, parent=parent, joint=joint) for name, parent, joint in told]


def test_places_of_positions_and_rates():
    """Children named before their parents; a ball joint has more positions than rates, a fixed one none."""
    found = tree(
        bodies(
            ("hand", "arm", "revolute"),
            ("arm", "base", "spherical"),
            ("base", GROUND, "prismatic"),
            ("plate", "arm", "fixed"),
            ("other", GROUND, "revolute"),
        )
    )
    many_z, many_v = JOINTS["spherical"]
    assert (many_z, many_v) == (4, 3) and JOINTS["fixed"] == (0, 0)
    assert found.parent == (1, 2, -1, 1, -1)
    assert found.order == (2, 4, 1, 0, 3)
    assert found.z == ((0, 1), (1, 4), (5, 1), (6, 0), (6, 1)) and found.n_z == 7
    assert found.v == ((0, 1), (1, 3), (4, 1), (5, 0), (5, 1)) and found.n_v == 6
    assert found.above == ((4, 1, 2, 3, 0), (4, 1, 2, 3), (4,), (4, 1, 2, 3), (5,))
    assert found.body_of == (0, 1, 1, 1, 2, 4)


def test_a_child_waits_for_a_parent_that_is_named_first():
    told = bodies(("a", "b", "revolute"), ("b", GROUND, "revolute"), ("c", "a", "revolute"))
    assert tree(told).order == (1, 0, 2)


@pytest.mark.parametrize(
    "told, said",
    [
        ([("a", "c", "revolute")], "bodies.a.parent: there is no body 'c'"),
        ([("a", GROUND, "revolute"), ("a", GROUND, "revolute")], "'a' is there twice"),
        ([(GROUND, GROUND, "revolute")], f"{GROUND!r} is the world"),
        ([("a", "a", "revolute")], "a hangs on itself"),
        ([("a", "b", "revolute"), ("b", "a", "revolute"), ("c", GROUND, "fixed")], "a, b hang on"),
    ],
)
def test_bodies_that_are_no_tree(told, said):
    with pytest.raises(InputError) as refused:
        tree(bodies(*told))
    assert said in refused.value.message


@pytest.mark.parametrize(
    "axis, normal",
    [
        ((0.2, -5.0, 1.0), (1.0, 0.0, 0.0)),
        ((1.0, 0.1, -3.0), (0.0, 1.0, 0.0)),
        ((-2.0, 1.0, 0.5), (0.0, 0.0, 1.0)),
    ],
)
def test_a_place_without_a_normal_has_the_coordinate_axis_farthest_from_its_own(axis, normal):
    place = Place("arm", (1.0, 2.0, 3.0), axis)
    assert place.complete() == replace(place, normal=normal)
    own = replace(place, normal=(0.3, 0.4, 0.5))
    assert own.complete() is own


@pytest.mark.parametrize("across, fine", [(0.9e-3, False), (1.1e-3, True)])
def test_a_normal_lies_across_its_axis(across, fine):
    """By a thousandth of its length."""
    given = ("arm", (0.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, -5.0, 5.0 * across))
    if fine:
        Place(*given)
    else:
        with pytest.raises(InputError, match="along the axis"):
            Place(*given)


# ---- pins ---------------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Part:
    """A body, loop or actuator, as far as pins go."""

    name: str
    at: str = ""
    parent: str = GROUND
    point: tuple = (0.0, 0.0, 0.0)
    joint_name: str = ""
    pins: tuple = ()
    between: tuple = ()
    a: object = None
    b: object = None


def pin(name, *at):
    return NamedPoint(name, (*at, 0.0))


FRAME = (pin("foot", 1.0, 2.0), pin("eye", 3.0, 4.0), pin("spare", 9.0, 9.0))
BOOM = Part("boom", at="ground.foot", pins=(pin("rod", 0.6, -0.1), pin("tip", 2.4, 0.5)))
ARM = Part(
    "arm", at="boom.tip", joint_name="elbow", pins=(pin("teeth", 0.7, 0.2), pin("far", 5.0, 5.0))
)
BARE = replace(ARM, pins=())
LIFT = Part("lift", between=("ground.eye", "boom.rod"))
TURNED_IN = replace(LIFT, between=("boom.rod", "boom.tip"))
LINK = Part("link", between=("arm.far", "ground.eye"))


def machine(**other):
    assert GROUND == "ground"
    given = {
        "bodies": (BOOM, ARM),
        "loops": (LINK,),
        "actuators": (LIFT,),
        "tcp": "arm.teeth",
        "pins": FRAME,
    }
    return SimpleNamespace(**given | other)


def test_pins_become_points_where_they_are_used():
    made = machine()
    assert resolve(made)
    boom, arm = made.bodies
    assert (boom.parent, boom.point, boom.joint_name, boom.at) == (GROUND, (1, 2, 0), "foot", "")
    assert (arm.parent, arm.point, arm.joint_name) == ("boom", (2.4, 0.5, 0), "elbow")
    (lift,), (link,) = made.actuators, made.loops
    assert (lift.a.body, lift.a.point, lift.b.body, lift.b.point) == (
        GROUND,
        (3, 4, 0),
        "boom",
        (0.6, -0.1, 0),
    )
    assert (link.a.body, link.a.name, link.b.name) == ("arm", "far", "eye") and link.between == ()
    assert isinstance(lift.a, Pin) and not isinstance(link.a, Pin)
    assert (made.tcp.body, made.tcp.point, made.tcp.name) == ("arm", (0.7, 0.2, 0), "teeth")
    assert [p.name for p in made.pins] == ["spare"] and not boom.pins and not arm.pins
    where = held_at(made)
    assert where == {
        "bodies.arm.pins.far": ("loops.link.a.point",),
        "pins.eye": ("loops.link.b.point", "actuators.lift.a.point"),
        "bodies.boom.pins.rod": ("actuators.lift.b.point",),
        "bodies.arm.pins.teeth": ("tcp.point",),
        "pins.foot": ("bodies.boom.point",),
        "bodies.boom.pins.elbow": ("bodies.arm.point",),
        "pins.spare": ("pins.spare.point",),
    }


def test_without_names_nothing_is_changed():
    plain = replace(BOOM, at="")
    made = machine(bodies=(plain,), loops=(), actuators=(), tcp=None)
    assert resolve(made) is False and made.bodies == (plain,) and made.pins == FRAME
    assert held_at(made)["bodies.boom.pins.tip"] == ("bodies.boom.pins.tip.point",)


@pytest.mark.parametrize(
    "change, message, mend",
    [
        ({"tcp": "teeth"}, "tcp: 'teeth' names no pin", "did you mean arm.teeth?"),
        ({"tcp": "arm"}, "tcp: 'arm' names no pin", "write arm.teeth or arm.far, or give arm another pin"),
        ({"tcp": "arm", "bodies": (BOOM, BARE), "loops": ()}, "names no pin", "write 'pins: {tool: [0, 0]}' at arm"),
        ({"tcp": "qqq"}, "tcp: 'qqq' names no pin", "write body.pin"),
        ({"tcp": "boon.tip"}, "tcp: there is no body 'boon'", "did you mean boom?"),
        ({"tcp": "qqq.tip"}, "tcp: there is no body 'qqq'", "choose from ground, boom, arm"),
        ({"tcp": "arm.teth"}, "tcp: arm has no pin 'teth'; its pins are teeth, far", "did you mean arm.teeth"),
        ({"bodies": (BOOM, BARE)}, "loops.link.between: arm has no pin 'far'; it has none", "write pins"),
        ({"bodies": (replace(BOOM, parent="arm"), ARM)}, "bodies.boom.at: it gives parent", "leave those two out"),
        ({"bodies": (replace(BOOM, point=(0, 0, 1.0)), ARM)}, "bodies.boom.at: it gives parent", "leave those two out"),
        ({"actuators": (TURNED_IN,)}, "actuators.lift.between: both pins are on 'boom'", "two bodies"),
    ],
)  # fmt: skip
def test_pins_that_there_are_not(change, message, mend):
    with pytest.raises(InputError) as refused:
        resolve(machine(**change))
    assert message in refused.value.message and mend in refused.value.mend


# ---- what pump and valves give ------------------------------------------------------------------------------------------------
def asked(monkeypatch, lengths, supply, *drives):
    actuators = [SimpleNamespace(drive=drive) for drive in drives]
    driven = list(range(1, len(actuators) + 1))
    mechanism = SimpleNamespace(actuators=[None, *actuators], supply=supply, line_unloaded="line")
    monkeypatch.setattr(effort_module.coordinates, "driven", lambda mechanism: driven)
    monkeypatch.setattr(effort_module.coordinates, "lengths", lambda mechanism, q: lengths)
    return effort(mechanism, np.linspace(0.0, 2.0, 21), [None])


def drive(out, back, speed):
    sizes = None if speed is None else SimpleNamespace(speed=speed)
    return SimpleNamespace(areas=(out, back), sizes=lambda line: sizes if line == "line" else None)


def test_the_largest_share_of_pump_and_valves(monkeypatch):
    """Two cylinders at 0.3 and −0.2 m/s take 2·0.3 + 5·0.2 = 1.6 of 4; valves: 0.3/(√½ 0.9) and 0.2/(√½ 0.8)."""
    t = np.linspace(0.0, 2.0, 21)
    lengths = [0.3 * t, -0.2 * t]
    pump = SimpleNamespace(Q_max=4.0)
    assert asked(monkeypatch, lengths, pump, drive(2, 9, 10.0), drive(7, 5, 10.0)) == pytest.approx(
        0.4
    )
    fast = asked(monkeypatch, lengths, pump, drive(2, 9, 0.9), drive(7, 5, 0.8))
    assert fast == pytest.approx(0.3 / (sqrt(0.5) * 0.9))
    slow = asked(monkeypatch, lengths, pump, drive(2, 9, 0.9), drive(7, 5, 0.3))
    assert slow == pytest.approx(0.2 / (sqrt(0.5) * 0.3))
    none = asked(monkeypatch, lengths, None, drive(2, 9, None), drive(7, 5, 10.0))
    assert none == pytest.approx(0.02 * sqrt(2))
    assert asked(monkeypatch, [], pump) == 0.0
    assert asked(
        monkeypatch, [1.0, 0.3 * t], pump, drive(2, 9, 10.0), drive(4, 5, 10.0)
    ) == pytest.approx(0.3)


# ---- what fits ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "low, high, said",
    [
        (radians(10), radians(50), "boom between 10 and 50 deg"),
        (radians(-170), radians(-20), "boom between -170 and -20 deg"),
        (radians(370), radians(410), "boom between 10 and 50 deg, not rad"),
        (radians(-350), radians(-250), "boom between 10 and 110 deg, not rad"),
        (radians(150), radians(200), "boom between 150 and 200 deg"),
    ],
)
def test_where_an_angle_may_start_within_a_turn(low, high, said):
    mechanism = SimpleNamespace(coordinates=[None, SimpleNamespace(name="q_boom", unit="rad")])
    assert fit._between(mechanism, 1, low, high) == said


def fitting(monkeypatch, span=(1.0, 2.0), joint="", lengths=(0.9, 1.0, 1.5, 2.0, 2.1)):
    """Along a stroke b goes from 10 to 50 mm and c half as far; only lengths within the span count."""
    z = [[99.0 * k, 0.01 * (k + 1), 0.005 * k] for k in range(5)]
    paths = [
        SimpleNamespace(name="other", lengths=(1.5,) * 5, positions=[[0, 0, 0]] * 5),
        SimpleNamespace(name="lift", lengths=lengths, positions=z),
    ]
    monkeypatch.setattr(fit.strokes, "strokes", lambda mechanism: paths)
    monkeypatch.setattr(fit.acting, "joint_at", lambda mechanism, actuator: (2, 0))
    coordinates = [SimpleNamespace(name=f"q_{n}", unit="m") for n in ("a_1", "b_1", "c_1")]
    actuators = [SimpleNamespace(name="n"), SimpleNamespace(name="lift", span=span, joint=joint)]
    return SimpleNamespace(actuators=actuators, coordinates=coordinates, own=((1, 2), ()))


def test_where_the_joint_that_a_cylinder_moves_most_may_start(monkeypatch):
    assert fit._fitting(fitting(monkeypatch), 1) == "b_1 between 0.02 and 0.04 m"
    assert (
        fit._fitting(fitting(monkeypatch, lengths=(1.1, 1.2, 3, 3, 3)), 1)
        == "b_1 between 0.01 and 0.02 m"
    )
    assert fit._fitting(fitting(monkeypatch, lengths=(1.1, 3, 3, 3, 3)), 1) is None
    assert fit._fitting(fitting(monkeypatch, (1.0, np.inf)), 1) is None
    assert fit._fitting(fitting(monkeypatch, (0.25, 0.75), "c"), 1) == "c_1 between 0.25 and 0.75 m"


def test_a_fault_that_advises_another_start_says_which(monkeypatch):
    made = fitting(monkeypatch)
    fault = InputError(
        "actuators.lift: too short", mend="start elsewhere, or take a longer one", key="lift"
    )
    found = fit._advised(made, fault)
    assert found.mend.startswith(
        "start b_1 between 0.02 and 0.04 m (the other joints as they are), or take"
    )
    assert found.message.startswith("actuators.lift: too short") and found.key == "lift"
    other = InputError("actuators.lift: too short", mend="take another")
    assert fit._advised(made, other) is other
    away = InputError("actuators.away: too short", mend="start elsewhere")
    assert fit._advised(made, away).mend == "start elsewhere"


def test_the_start_that_would_do_is_looked_for_where_somebody_reads_it(monkeypatch):
    made = fitting(monkeypatch)
    looked = []
    monkeypatch.setattr(fit, "_fitting", lambda made, k: looked.append(k) or "b_1 at 0.03 m")
    fault = InputError("actuators.lift: too short", mend="start elsewhere")
    found = Faults([fit._advised(made, fault)])
    told = InputError(f"start: {found.message}", mend=found.at(file="crane.yaml").advice)
    assert looked == []
    assert told.mend == "start b_1 at 0.03 m (the other joints as they are)" == found.mend
    assert looked == [1]


def test_a_stroke_that_cannot_be_followed_leaves_the_advice_as_it_was(monkeypatch):
    def fails(made, k):
        raise InputError("loops.rod: stays open")

    made = fitting(monkeypatch)
    monkeypatch.setattr(fit, "_fitting", fails)
    fault = InputError("actuators.lift: too short", mend="start elsewhere")
    assert str(fit._advised(made, fault)) == str(fault)


def test_all_faults_reach_another_process():
    faults = Faults([InputError("a: short", key="a", mend="longer"), InputError("b: no start")])
    again = pickle.loads(pickle.dumps(faults))
    assert type(again) is Faults and str(again) == str(faults) and len(again.each) == 2


def test_all_faults_are_listed_each_part_once(monkeypatch):
    short, again = InputError("actuators.a: short"), InputError("actuators.a: no start")
    other, dead = InputError("actuators.b: no start"), InputError("actuators.b: dead point")
    third = InputError("actuators.c: dead point")
    made = SimpleNamespace(actuators=[])

    def raises(fault):
        def step(mechanism):
            if fault is not None:
                raise fault

        return step

    def faults(lengths, start, strokes, drawn):
        monkeypatch.setattr(fit.checks, "check_pins_apart", lambda mechanism: None)
        monkeypatch.setattr(fit.checks, "check_lengths", raises(lengths))
        monkeypatch.setattr(fit, "start", raises(start))
        monkeypatch.setattr(fit.strokes, "check_strokes", raises(strokes))
        try:
            fit.check_fit(made, drawn)
        except Faults as why:
            assert why.machine is made
            return list(why.each)
        return []

    assert faults(short, Faults([again, other], None), Faults([dead, third], None), True) == [
        short,
        other,
        third,
    ]
    assert faults(short, again, third, False) == [short]
    assert faults(None, None, third, False) == [] and faults(None, None, third, True) == [third]
