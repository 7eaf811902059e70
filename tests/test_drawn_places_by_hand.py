"""Single places of machines, formulas and scales, each at its edge and off the origin."""

from types import SimpleNamespace

import numpy as np
import pytest
from mechanisms import four_bar, lift
from spatial_linkages import plate

from plants import ConstantPressure, MeteredCrane, machine
from plants.multibody import acting, coordinates, drive_forces
from plants.multibody.parts import Pin
from plants.scales import of_four_bar
from workbench import changed
from workbench.contract.errors import InputError
from workbench.verification import scales
from workbench.verification.observed.expression import formula


# ---- formulas -----------------------------------------------------------------------------------
def test_what_stands_below_a_line_is_zero_or_it_is_not():
    assert formula("x/2 - 1/(4*y)", ("x", "y"))([5.0, 0.5]) == 2.0
    for text in ("x/0", "x/(2 - 2)"):
        with pytest.raises(InputError, match="division by zero"):
            formula(text, ("x",))


def test_the_longest_formula_and_the_highest_power_are_taken_and_one_more_is_not():
    assert formula("x".ljust(4000), ("x",))([3.0]) == 3.0
    with pytest.raises(InputError, match="4001 characters, at most 4000"):
        formula("x".ljust(4001), ("x",))
    assert formula("x**16", ("x",))([2.0]) == 65536.0
    with pytest.raises(InputError, match="up to x\\*\\*16"):
        formula("x**17", ("x",))


# ---- machines -----------------------------------------------------------------------------------
def test_a_joint_space_that_is_missing_is_told_for_its_own_reason():
    on_ball = plate()
    with pytest.raises(InputError, match="its joints follow from a ball joint"):
        coordinates.check(on_ball, "joint")
    with pytest.raises(InputError, match="its joints do not follow from independent ones"):
        coordinates.check(on_ball, "cartesian")


def test_of_three_coordinates_in_a_plane_the_third_of_the_tool_is_an_angle(crane):
    m = crane.mechanism
    q = [-0.7, -1.4, 0.3]
    x, y, angle = coordinates.task(m, "cartesian", q)
    position, turned = coordinates.place(m, q)
    assert (x, y) == tuple(position[:2]) and angle == turned and abs(angle) > 0.1


def test_what_the_cylinders_hold_is_asked_at_rest(crane):
    x = np.array(crane.initial())
    n = crane.n
    x[n : 2 * n] = (0.4, -0.3, 0.2)  # what moves is held in its pose all the same
    still = [0.0] * n
    wanted = drive_forces.asked(crane.mechanism, list(x[:n]), still, still)
    given = crane.defaults()  # the weight's direction is an input
    found = crane.holding(list(x), [given.get(s.name, 0.0) for s in crane.inputs])
    assert [h.needs for h in found] == pytest.approx([float(f) for f in wanted], rel=1e-12)


def test_a_piston_at_the_end_of_its_stroke_is_outside(crane):
    stroke = crane.segments[-1].cylinder.stroke
    q = [*crane.pose[:2], np.nextafter(stroke, 0.0)]
    crane.check_pose(q)
    for end in (stroke, 0.0):
        with pytest.raises(InputError, match="outside its stroke"):
            crane.check_pose([*q[:2], end])


# ---- scales -------------------------------------------------------------------------------------
def test_a_power_counts_by_what_it_does_in_a_second(monkeypatch):
    monkeypatch.setattr(scales, "storage_floor", lambda run: 0.375)
    assert scales.power_floor(SimpleNamespace()) == 0.375


def test_the_crank_of_a_four_bar_is_measured_by_what_it_turns_from_end_to_end():
    circuit = machine("four-bar").plant.circuit
    found = of_four_bar(SimpleNamespace(circuit=circuit, joint_range=lambda: ((0.25, 1.0),)))
    assert found["angle"].value == 0.75
    turned = found["velocity"].value * 0.75 / found["length"].value
    assert found["rate"].value == pytest.approx(turned)


def test_a_tool_that_independent_joints_do_not_lead_has_no_path():
    """The plate's tool follows from a ball joint, the lift has independent joints and no tool."""
    on_ball = plate(tcp=Pin("plate", (0.1, 0.2, 0.0)))
    for m, dependent in ((on_ball, True), (lift(), False)):
        assert not m.has_tool and m.dependent is dependent
        with pytest.raises(AttributeError, match="this mechanism has none"):
            m.tool  # noqa: B018
    led = lift(tcp=Pin("load", (0.0, 0.0, 0.0)))
    assert led.has_tool and len(led.tool(list(led.positions(led.initial())))) == 3
    assert not four_bar(method="penalty").dependent


def test_the_highest_line_is_known_where_pressures_count_from_zero():
    for p_r, known in ((0.5, True), (0.0, False)):
        line = acting.highest_line(lift(supply=ConstantPressure(180e5, p_r)))
        assert (line is not None) is known
        assert line is None or (line.p_s, line.p_r) == (180e5, p_r)


def test_a_metered_crane_as_shipped_is_the_shipped_crane_behind_metering_valves(crane):
    heavy = MeteredCrane(changed(crane, {"payload.mass": 35.0}))
    assert heavy.crane.payload.mass == 35.0 and heavy.as_shipped().crane.payload.mass == 0.0
