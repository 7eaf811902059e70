"""Circuits of metering valves: coefficients, openings, rows and what a section bears, with numbers that differ everywhere."""

import math
from dataclasses import replace

import pytest

from plants.valve_circuits.circuit import (
    Circuit,
    Motor,
    Openings,
    Pump,
    Section,
    orifice_coefficient,
)
from workbench.contract.errors import InputError

SECTION = Section("lift", 3e-3, 2e-3, 21e6, 23e6, 1e-7, 2e-7, 3e-7, 4e-7, 5e-7)
TURN = Motor("turn", 40e-6, 50e-6, 11e6, 13e6, 6e-7, 7e-7, 8e-7, 9e-7, 1e-6)
PUMP = Pump(2e-3, 20e6, 1e-6)
BOTH = Circuit((SECTION, TURN), PUMP)


def test_the_coefficient_of_an_orifice():
    """C a √(2/ρ); the default is that of 1 cm² at 0.6 and 850 kg/m³."""
    assert orifice_coefficient(0.7, 2e-5, 800.0) == pytest.approx(0.7 * 2e-5 * math.sqrt(2 / 800))
    default = orifice_coefficient(0.6, 1e-4, 850.0)
    for part, names in (
        (Section(), ("c_ph", "c_pr", "c_th", "c_tr", "c_a")),
        (Motor(), ("c_ph", "c_pr", "c_th", "c_tr", "c_a")),
        (Pump(), ("c_b",)),
    ):
        assert [getattr(part, name) for name in names] == pytest.approx([default] * len(names))


@pytest.mark.parametrize(
    "u_c, opened, direction",
    [
        (0.4, (0.4, 0.0, 0.0, 0.4), 1),
        (-0.7, (0.0, 0.7, 0.7, 0.0), -1),
        (0.0, (0.0,) * 4, 0),
        (1.0, (1.0, 0, 0, 1.0), 1),
        (-1.0, (0, 1.0, 1.0, 0), -1),
    ],
)
def test_openings_under_one_command(u_c, opened, direction):
    found = Openings.command(u_c, 0.3)
    assert (found.u_ph, found.u_pr, found.u_th, found.u_tr) == opened and found.u_a == 0.3
    assert found.direction == direction and Openings.command(u_c).u_a == 0.0


@pytest.mark.parametrize(
    "opened, direction",
    [
        ({"u_ph": 0.1}, 1),
        ({"u_tr": 0.1}, 1),
        ({"u_pr": 0.1}, -1),
        ({"u_th": 0.1}, -1),
        ({"u_ph": 0.1, "u_th": 0.1}, None),
        ({"u_tr": 0.1, "u_pr": 0.1}, None),
        ({"u_a": 1.0}, 0),
    ],
)
def test_the_direction_of_openings(opened, direction):
    assert Openings(**opened).direction == direction


@pytest.mark.parametrize("u_c", [1.0001, -1.0001])
def test_what_is_no_command(u_c):
    with pytest.raises(InputError, match="is no command"):
        Openings.command(u_c)


def test_rows_of_sections():
    """Areas or displacements, reliefs, and each coefficient times its own opening."""
    asked = [Openings(0.1, 0.2, 0.3, 0.4, 0.5), Openings(0.6, 0.7, 0.8, 0.9, 1.0)]
    first, second = BOTH.rows(asked).tolist()
    assert first == pytest.approx([3e-3, 2e-3, 21e6, 23e6, 0.1e-7, 0.4e-7, 0.9e-7, 1.6e-7, 2.5e-7])
    assert second == pytest.approx([40e-6, 50e-6, 11e6, 13e6, 3.6e-7, 4.9e-7, 6.4e-7, 8.1e-7, 1e-6])
    one = Circuit((SECTION,), PUMP)
    assert one.rows(Openings(u_ph=1.0)).tolist() == one.rows([Openings(u_ph=1.0)]).tolist()
    for wrong, said in (
        ([Openings()], "openings of 1 sections for a circuit of 2"),
        ([Openings(), 0.5], "0.5 is no Openings"),
        (None, "None is no Openings"),
    ):
        with pytest.raises(InputError, match=said):
            BOTH.rows(wrong)


def test_the_supply_of_a_circuit():
    assert BOTH.supply(0.25).tolist() == pytest.approx([2e-3, 20e6, 0.25e-6])
    assert BOTH.supply(0.0)[2] == 0.0 and BOTH.supply(1.0)[2] == 1e-6
    for u_b in (-0.001, 1.001, math.nan):
        with pytest.raises(InputError, match="is no opening"):
            BOTH.supply(u_b)


@pytest.mark.parametrize("u_b, top", [(0.0, 20e6), (0.4, 20e6), (0.5, 16e6), (1.0, 4e6)])
def test_what_a_section_bears(u_b, top):
    """At the pump's relief, at what its flow builds up over the bleed, (Q/k_b)², or at its own relief."""
    assert BOTH.bears(0, u_b) == pytest.approx((-2e-3 * top, 3e-3 * top))
    assert BOTH.bears(1, u_b) == pytest.approx((-50e-6 * min(top, 13e6), 40e-6 * min(top, 11e6)))


def test_circuits_that_are_none():
    for sections, pump, said in (
        ((), PUMP, "without a section"),
        ((SECTION, replace(TURN, name="lift")), PUMP, "are called lift, lift"),
        ((SECTION,), Pump, "is no pump"),
        ((SECTION,), 3.0, "is no pump"),
    ):
        with pytest.raises(InputError, match=said):
            Circuit(sections, pump)
    with pytest.raises(InputError, match="section x"):
        Section("x", A_h=0.0)
    with pytest.raises(InputError, match="motor x"):
        Motor("x", P_rM=-1.0)
    with pytest.raises(InputError, match="pump"):
        Pump(Q=0.0)
    assert Section.turns is False and Motor.turns is True and (TURN.A_h, TURN.A_r) == (40e-6, 50e-6)
