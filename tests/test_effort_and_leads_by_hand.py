"""What a motion asks of pump and valves, which rates lead, forces that are none of a section, and oil below zero, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from plants.components.chamber import CAVITY, Oil
from plants.ieha.statements import Statements
from plants.multibody import effort, leading
from plants.valve_circuits import solve
from workbench.contract.errors import InputError


# ---- effort ----------
def drive(out, back, speed=None):
    sizes = None if speed is None else SimpleNamespace(speed=speed)
    return SimpleNamespace(drive=SimpleNamespace(areas=(out, back), sizes=lambda line: sizes))


def test_the_pump_fills_the_chambers_that_grow():
    """Out of one rod and back of the other at once: the instant that takes most counts."""
    supply = SimpleNamespace(Q_max=0.01)
    rates = [np.array([0.1, -0.2, 0.05]), np.array([-0.3, 0.1, 0.0])]
    each = [0.1 * 0.02 + 0.3 * 0.01, 0.2 * 0.008 + 0.1 * 0.03, 0.05 * 0.02]
    found = effort._of_pump(supply, [drive(0.02, 0.008), drive(0.03, 0.01)], rates)
    assert found == pytest.approx(max(each) / 0.01)
    assert effort._of_pump(None, [drive(1.0, 1.0)], rates) == 0.0
    assert effort._of_pump(supply, [], []) == 0.0


@pytest.mark.parametrize(
    "speed, share", [(None, 0.2), (0.5, 0.4 / (0.5 * np.sqrt(0.5))), (50.0, 0.2)]
)
def test_the_largest_share_of_pump_and_valves(monkeypatch, speed, share):
    """A valve gives √½ of its speed without load; lengths 0.4 t and 0.1 t."""
    monkeypatch.setattr(effort.coordinates, "driven", lambda mechanism: [0, 2])
    monkeypatch.setattr(
        effort.coordinates, "lengths", lambda mechanism, q: [-0.4 * q[0], 0.1 * q[0]]
    )
    monkeypatch.setattr(effort, "_of_pump", lambda supply, driven, rates: 0.2)
    rig = SimpleNamespace(
        actuators=[drive(1, 1, speed), None, drive(1, 1)], supply="supply", line_unloaded="line"
    )
    t = np.linspace(0.0, 2.0, 5)
    assert effort.effort(rig, t, [t]) == pytest.approx(share)


# ---- rates that lead ----------
FREE = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.0, 0.0]])


@pytest.mark.parametrize("least, chosen", [(0.2, [1, 2]), (0.05, [1, 0]), (0.95, [0, 2])])
def test_rates_that_show_a_motion_of_their_own(least, chosen):
    """Asked in the order 3, 1, 0, 2: 1 first, of 0 little is left beside it."""
    assert leading._distinct(FREE, [3, 1, 0, 2], least) == chosen


@pytest.mark.parametrize("second, leads", [(0.5, (0, 1)), (0.1, (0, 2)), (0.05, (0, 2))])
def test_rates_lead_that_are_distinct_enough(monkeypatch, second, leads):
    """The first of the thresholds at which there are enough of them decides."""
    free = np.array([[1.0, 0.0], [0.5, second], [0.0, 1.0]])
    monkeypatch.setattr(leading, "_free_motions", lambda mechanism: free)
    monkeypatch.setattr(leading, "_rank", lambda mechanism, i: i)
    assert leading.leading(SimpleNamespace(own=((), (2, 0, 1)))) == leads


def test_where_few_are_distinct_the_threshold_is_lowered(monkeypatch):
    free = np.array([[1.0, 0.0], [0.5, 0.05], [0.3, 1e-3]])
    monkeypatch.setattr(leading, "_free_motions", lambda mechanism: free)
    monkeypatch.setattr(leading, "_rank", lambda mechanism, i: -i)
    rig = SimpleNamespace(own=((), (0, 1, 2)))
    assert leading.leading(rig) == (1, 2)
    free[1:, 1] = 1e-9
    assert leading.leading(rig) == (2,)


def test_in_which_order_rates_are_asked():
    """Held joints, then those with a drive, then of one number, then by their place in the tree."""
    body = lambda name, hold, joint: SimpleNamespace(name=name, hold=hold, joint=joint)
    bodies = [
        body("a", False, "revolute"),
        body("b", True, "revolute"),
        body("c", False, "spherical"),
        body("d", False, "revolute"),
    ]
    tree = SimpleNamespace(body_of=[0, 1, 2, 2, 3], order=[3, 2, 1, 0])
    rig = SimpleNamespace(
        tree=tree, bodies=bodies, actuators=[SimpleNamespace(joint="d"), SimpleNamespace(joint="")]
    )
    order = sorted(range(5), key=lambda i: leading._rank(rig, i))
    assert order == [1, 4, 0, 2, 3]


# ---- circuits ----------
@pytest.mark.parametrize(
    "off, named", [((0.0, 0.0), ""), ((0.0, 0.2), "stick"), ((0.2, 0.2), "boom")]
)
def test_a_force_that_is_none_of_a_section_is_told_with_the_first_of_them(monkeypatch, off, named):
    """The circuit is solved under βv + f̄ = f; where it moves otherwise, f is none of Γ(v)."""
    rows = np.array(
        [
            [0.02, 0.01, 2e7, 1e7, 1e-7, 2e-7, 3e-7, 4e-7, 0.0],
            [0.03, 0.02, 1.5e7, 1e7, 1e-7, 5e-7, 3e-7, 4e-7, 0.0],
        ]
    )
    supply, v, f = [2e-3, 1.6e7, 1e-7], np.array([0.05, -0.1]), np.array([3e3, -4e3])
    asked = {}

    def loaded(rows, supply, β, f_bar, flows, w):
        asked.update(β=β, f_bar=f_bar)
        w[:] = v + np.array(off)
        return 9e6

    monkeypatch.setattr(solve, "loaded", loaded)
    circuit = SimpleNamespace(
        sections=[SimpleNamespace(name="boom"), SimpleNamespace(name="stick")]
    )
    if named:
        with pytest.raises(InputError, match=f"is no force of section {named} at"):
            solve._solved(circuit, rows, supply, v, f)
    else:
        P, flows = solve._solved(circuit, rows, supply, v, f)
        assert P == 9e6 and flows.shape == (2, 9)
    full = (2e-3 + np.array([4e-7 * np.sqrt(2e7), 5e-7 * np.sqrt(1.5e7)])) / [0.02, 0.03]
    β = np.array([0.02 * 2e7 + 0.01 * 1e7, 0.03 * 1.5e7 + 0.02 * 1e7]) / full
    assert asked["β"] == pytest.approx(β) and asked["f_bar"] == pytest.approx(f - β * v)


def test_limits_of_an_actuator_of_its_own():
    """The carriage both ways, and vacuum of an open circuit, as gauge pressures."""
    oil = SimpleNamespace(hollow=CAVITY, p_0=1e5)
    own = SimpleNamespace(stop_E=SimpleNamespace(limit=5e-4), circuit="open", oil=oil)
    carriage, *chambers = Statements.own_limits(own, "lift", "drive.")
    assert (carriage.low, carriage.high, carriage.bearable, carriage.key) == (
        -5e-4,
        5e-4,
        True,
        "drive.stop_E.limit",
    )
    assert chambers and all(limit.low == CAVITY - 1e5 for limit in chambers)
    own.circuit = "closed"
    assert len(Statements.own_limits(own)) == 1


# ---- oil ----------
def test_oil_is_stiff_as_its_pressure_makes_it():
    """β/(1 + β air p_0/P²), P kept positive: w²/(4|p|) below zero, and 1e-12 w² far below it."""
    oil = Oil(β=9e8, air=0.02, p_0=1.2e5, width=100.0)
    soft = 9e8 * 0.02 * 1.2e5
    assert oil.stiffness(3e6) == pytest.approx(9e8 / (1 + soft / 9e12), rel=1e-6)
    P = 0.5 * (-60.0 + np.sqrt(3600 + 1e4))
    assert oil.stiffness(-60.0) == pytest.approx(9e8 / (1 + soft / (P * P)), rel=1e-6)
    assert oil.stiffness(-1e12) == pytest.approx(9e8 / (1 + soft / 1e-8), rel=1e-3)
    assert Oil(β=9e8).stiffness(-1e12) == 9e8
    slope = (oil.energy(3e6 + 10, 1e5) - oil.energy(3e6 - 10, 1e5)) / 20
    assert (
        slope == pytest.approx((3e6 - 1e5) / oil.stiffness(3e6), rel=1e-5)
        and oil.energy(1e5, 1e5) == 0.0
    )
