"""Bodies, places, loops and actuators as they are written: what is not said, what is refused, and in which words."""

from dataclasses import fields, replace
from math import inf, pi

import casadi as ca
import pytest

from plants.crane.manipulator import Manipulator
from plants.drives.contract import Drive
from plants.drives.laws import Force, SpringDamper
from plants.four_bar.linkage import FourBar
from plants.multibody import parts
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body, Loop, Pin, Place
from plants.multibody.points import ORIGIN, NamedPoint, check_ends, vector
from workbench.contract.errors import InputError

SPRING = SpringDamper(k=100.0, s_0=1.0)


# ---- without numbers ------------------------------------------------------------------------------------------------------
def test_a_body_of_which_nothing_is_said():
    own = Body("b")
    assert (own.parent, own.joint, own.point, own.com, own.axis) == (
        "ground",
        "revolute",
        (0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
        (0.0, 0.0, 1.0),
    )
    assert (own.mass, own.inertia, own.damping, own.start, own.rate) == (0.0, (0.0,) * 6, 0.0, 0.0, 0.0)  # fmt: skip
    assert own.hold is False and own.carried is False and (own.at, own.pins) == ("", ())


def test_a_place_and_a_pin_of_which_nothing_is_said():
    assert (Place().body, Place().point, Place().axis, Place().normal) == ("ground", ORIGIN, (0.0, 0.0, 1.0), ())  # fmt: skip
    assert (Pin().body, Pin().point, Pin().name) == ("ground", ORIGIN, "")
    assert NamedPoint("p").point == ORIGIN == (0.0, 0.0, 0.0)


def test_positions_and_rates_of_joints():
    assert parts.JOINTS == {
        "revolute": (1, 1),
        "prismatic": (1, 1),
        "spherical": (4, 3),
        "fixed": (0, 0),
    }


def test_a_mechanism_of_which_little_is_said():
    own = Mechanism((Body("b", mass=2.0, com=(0.4, 0.1, 0.0)),))
    assert (own.gravity, own.method, own.supply, own.tcp) == ((0.0, -9.81, 0.0), "projected", None, None)  # fmt: skip
    assert own.moving_ground is False and own.tool_wrench is False
    assert (own.kept, own.used, own.closings, own.leads) == ((), (), (), ())
    x = [0.3, 0.2]
    assert own.inner(x) is x and own.inner(x, 5.0) is x and own.given(x) is x


@pytest.mark.parametrize(
    "kind, names",
    [
        (Mechanism, {"kept", "used", "closings", "leads"}),
        (Manipulator, {"closings"}),
        (FourBar, {"closings"}),
    ],
)
def test_what_follows_from_the_rest_is_not_given_nor_shown_nor_compared(kind, names):
    assert {f.name for f in fields(kind) if not f.init} == names
    for f in fields(kind):
        follows = f.name in names
        assert (f.repr, f.compare) == (not follows, not follows), f.name


# ---- bodies ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "joint, given, found",
    [
        ("revolute", "60 deg", pi / 3),
        ("revolute", 0.4, 0.4),
        ("prismatic", "20 cm", 0.2),
        ("prismatic", ("25 mm",), 0.025),
        ("spherical", 0.0, (0.0, 0.0, 0.0)),
        ("spherical", ("30 deg", 0.2, "-45 deg"), (pi / 6, 0.2, -pi / 4)),
    ],
)
def test_starts_are_written_in_units(joint, given, found):
    assert Body("b", joint=joint, start=given).start == pytest.approx(found)


@pytest.mark.parametrize(
    "joint, given, found",
    [("revolute", "90 deg/s", pi / 2), ("prismatic", "30 mm/s", 0.03), ("spherical", 0.0, ORIGIN)],
)
def test_rates_are_written_in_units(joint, given, found):
    assert Body("b", joint=joint, rate=given).rate == pytest.approx(found)


VECTOR = "expected a rotation vector, three numbers in"


@pytest.mark.parametrize(
    "given, said",
    [
        ({"joint": "universal"}, "joint: there is no 'universal'; choose from revolute, prismatic, spherical, fixed"),
        ({"joint": 3}, "joint: there is no 3"),
        ({"joint": "spherical", "start": (0.1, 0.2)}, f"start: {VECTOR} rad, for a spherical joint, got 2"),
        ({"joint": "spherical", "rate": 0.3}, f"rate: {VECTOR} rad/s, for a spherical joint, got 1"),
        ({"start": (0.1, 0.2, 0.3)}, "start: expected one number"),
        ({"start": "20 cm"}, "start: "),
        ({"point": (1.0,)}, "point: expected a point, three numbers, got (1.0,)"),
        ({"axis": (0.0, 0.0, 0.0)}, "axis: expected an axis, three numbers that are not all zero, got (0.0, 0.0, 0.0)"),
        ({"axis": (1.0, 2.0)}, "axis: expected an axis, three numbers that are not all zero, got (1.0, 2.0)"),
        ({"inertia": (1.0, 1.0, 5.0, 0.0, 0.0, 0.0), "mass": 1.0}, "inertia: principal moments 1, 1, 5 kg m² belong to no body"),
        ({"pins": {"tip": (1.0, "x")}}, "pins.tip: point: expected a point, three numbers, got (1.0, 'x')"),
    ],
)  # fmt: skip
def test_bodies_that_cannot_be(given, said):
    with pytest.raises(InputError) as refused:
        Body("b", **given)
    assert refused.value.message.startswith(said)


def test_points_may_leave_out_their_third_number():
    own = Body("b", point=(1.0, 2), com=[0.5, -0.3], pins={"tip": (2.0, 0.4), "eye": (1, 2, 3)})
    assert (own.point, own.com) == ((1.0, 2.0, 0.0), (0.5, -0.3, 0.0))
    assert own.pins == (NamedPoint("tip", (2.0, 0.4, 0.0)), NamedPoint("eye", (1.0, 2.0, 3.0)))
    assert replace(own).pins == own.pins


def test_a_direction_is_three_numbers_that_are_not_all_zero():
    class Owner:
        way = (0.0, 0.0, -2.0)
        none = (0.0, 0.0, 0.0)
        flat = (0.3, 0.4)

    own = Owner()
    vector(own, "way", "a way", zero=False)
    vector(own, "none", "a point")
    vector(own, "flat", "a point")
    assert (own.way, own.none, own.flat) == ((0, 0, -2), (0, 0, 0), (0.3, 0.4, 0))


def test_a_moment_about_z_alone_is_taken_about_all_three_axes():
    assert parts._in_plane(0.7, None) == {"inertia": (0.7, 0.7, 0.7, 0.0, 0.0, 0.0)}


def test_a_unit_vector():
    assert parts.unit([2.0, -1.0, 2.0]) == pytest.approx([2 / 3, -1 / 3, 2 / 3])
    found = parts.unit([0.0, 3, -4.0])
    assert found == pytest.approx([0.0, 0.6, -0.8]) and type(found[0]) is float
    assert parts.unit([1, 2, 2]) == pytest.approx([1 / 3, 2 / 3, 2 / 3])
    b = ca.SX.sym("b")
    none, one, _ = parts.unit([0.0, 1.0, b])
    assert type(none) is float and none == 0.0
    assert float(ca.Function("f", [b], [one])(2.0)) == pytest.approx(5**-0.5)


# ---- loops ----------------------------------------------------------------------------------------------------------------
def test_a_loop_completes_its_places():
    own = Loop("k", Place("a", axis=(0.1, 2.0, 1.0)), Place("b", normal=(0.0, 1.0, 0.0)))
    assert own.joint == "revolute" and own.between == ()
    assert own.a.normal == (1.0, 0.0, 0.0) and own.b.normal == (0.0, 1.0, 0.0)


ACROSS = {"normal": (1.0, 0.0, 0.0)}


@pytest.mark.parametrize(
    "given, said",
    [
        ({}, "between: a loop closes between two places; give their two pins by name, or a and b"),
        ({"a": Place("a")}, "between: a loop closes between two places"),
        ({"b": Place("a")}, "between: a loop closes between two places"),
        ({"a": Place("a"), "between": ("a.p", "b.q")}, "between: a loop closes between two places"),
        ({"a": Place("a"), "b": Place("b"), "between": ("a.p", "b.q")}, "between: a loop closes between"),
        ({"between": ("a.p",)}, "between: expected two pins, got 1"),
        ({"a": Place("a"), "b": Place("a", (1.0, 0.0, 0.0))}, "b: both places are on 'a'; a loop closes between two bodies"),
        ({"a": Place("a"), "b": Place("b", **ACROSS), "joint": "prismatic"}, "a.normal: a prismatic joint keeps"),
        ({"a": Place("a", **ACROSS), "b": Place("b"), "joint": "prismatic"}, "b.normal: a prismatic joint keeps"),
    ],
)  # fmt: skip
def test_loops_that_cannot_be(given, said):
    with pytest.raises(InputError) as refused:
        Loop("k", **given)
    assert refused.value.message.startswith(said)


@pytest.mark.parametrize("normal", [(0.0, 0.0, 0.0), (1.0, 0.0)])
def test_a_normal_is_a_direction(normal):
    with pytest.raises(
        InputError, match="normal: expected a direction, three numbers that are not"
    ):
        Place("a", normal=normal)


def test_ends_by_name_are_looked_up_later():
    assert check_ends(Loop("k", between=("a.p", "b.q")), "x") is True
    assert check_ends(Loop("k", Place("a"), Place("b")), "x") is False
    sliding = Loop("k", Place("a", **ACROSS), Place("b", **ACROSS), "prismatic")
    assert sliding.a.normal == sliding.b.normal == (1.0, 0.0, 0.0)


# ---- actuators ------------------------------------------------------------------------------------------------------------
P, Q = Pin("a", (1.0, 2.0, 0.0)), Pin("b")
BOTH = "joint: an actuator acts between two pins, a and b, or on the joint of a body; give one of the two"


@pytest.mark.parametrize(
    "given, said",
    [
        ({}, BOTH),
        ({"a": P}, BOTH),
        ({"b": P}, BOTH),
        ({"a": P, "joint": "c"}, BOTH),
        ({"a": P, "b": Q, "joint": "c"}, BOTH),
        ({"a": P, "b": Pin("a")}, "b: both pins are on 'a'; an actuator acts between two bodies"),
        ({"between": ("a.p", "b.q"), "joint": "c"}, "joint: an actuator acts between two pins, or on a joint, not both"),
        ({"between": ("a.p", "b.q"), "a": P}, "between: an actuator acts between two pins"),
        ({"a": P, "b": Q, "shortest": 1.2, "longest": 1.2}, "longest: 1.2 m is not longer than the shortest, 1.2 m"),
        ({"joint": "c", "shortest": 1.3, "longest": 1.2}, "longest: 1.2 m is not longer than the shortest, 1.3 m"),
    ],
)  # fmt: skip
def test_actuators_that_cannot_be(given, said):
    with pytest.raises(InputError) as refused:
        Actuator("lift", SPRING, **given)
    assert refused.value.message.startswith(said)


@pytest.mark.parametrize(
    "given, span",
    [
        ({}, (-inf, inf)),
        ({"shortest": 0.7}, (0.7, inf)),
        ({"longest": 1.9}, (-inf, 1.9)),
        ({"shortest": 0.7, "longest": 0.71}, (0.7, 0.71)),
    ],
)
def test_what_an_actuator_spans(given, span):
    assert Actuator("lift", Force(), P, Q, **given).span == span
    assert Actuator("lift", Force(), joint="c", **given).span == span


class Telescope(Drive):
    """A drive of 0.8 to 1.6 m that notes who asks whether it fits between pins."""

    range = (0.8, 1.6)

    def __init__(self):
        self.asked = []

    def check_pins(self, owner):
        self.asked.append(owner)

    def force(self, x, s, sdot, u, line): ...

    def power_names(self, label): ...

    def powers(self, x, s, sdot, u, line): ...


def test_a_drive_with_a_stroke_spans_no_more_than_it():
    for given, span in (((0.5, 2.0), (0.8, 1.6)), ((0.9, 1.5), (0.9, 1.5))):
        assert Actuator("lift", Telescope(), None, None, "c", *given).span == span


@pytest.mark.parametrize(
    "ends, times", [({"a": P, "b": Q}, 1), ({"between": ("a.p", "b.q")}, 1), ({"joint": "c"}, 0)]
)
def test_a_cylinder_between_pins_is_asked_whether_it_fits(ends, times):
    drive = Telescope()
    Actuator("lift", drive, **ends)
    assert drive.asked == ["drive"] * times
