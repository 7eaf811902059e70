"""Quantities in and out: the table against pint, dimensions told apart, what is shown can be read back."""

import math
from pathlib import Path

import pint
import pytest

import plants
from plants.shipped import read_machine
from workbench.contract import unit_tables, units
from workbench.contract.errors import InputError
from workbench.contract.units import display, format_quantity, pretty, quantity, stated

MACHINES = Path(plants.__file__).parent / "parameters"


@pytest.mark.parametrize(
    "text, unit, value",
    [
        ("185 bar", "Pa", 1.85e7),
        ("80 mm", "m", 0.08),
        ("40 l/min", "m^3/s", 40e-3 / 60),
        ("5 ms", "s", 5e-3),
        ("45 deg", "rad", math.pi / 4),
        ("800 MPa", "Pa", 8e8),
        ("120 1/s", "1/s", 120),
        ("120 1/s", "rad/s", 120),
        ("7 rad/s", "1/s", 7),
        ("300 rpm", "rad/s", 10 * math.pi),
        ("30 Hz", "Hz", 30),
        ("2 kHz", "Hz", 2000),
        ("16 cm^3/rev", "m^3/rad", 16e-6 / (2 * math.pi)),
        ("3e-8 m3/(s bar)", "m^3/(s Pa)", 3e-13),
        ("5 psi", "Pa", 34473.786466),
        ("20 degC", "K", 293.15),
        ("5 %", "1", 0.05),
        ("-.5e1 kN", "N", -5000),
        ("  2kg\n", "kg", 2),
        ("3", "m", 3),
        ("5 N·m", "N m", 5),
        ("5 kNm", "N m", 5000),
        ("6 kg m²", "kg m^2", 6),
        ("5 s^-1", "1/s", 5),
        ("12 µm", "m", 12e-6),
        ("100 l/min/√bar", "m^3/(s Pa^0.5)", 0.1 / 60 / math.sqrt(1e5)),
        ("2 m3/(s V Pa^0.5)", "m^3/(s V Pa^0.5)", 2),
    ],
)
def test_texts_become_si(text, unit, value):
    assert quantity(text, unit) == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("value", [3, -0.25, 1e-300, 0])
def test_numbers_are_si_already(value):
    assert quantity(value, "Pa") == value and isinstance(quantity(value, "Pa"), float)


def test_the_quick_way_is_pints_way():
    """Against a registry of pint's own, where an angle is a number (so 1/s and rad/s agree there as here)."""
    registry = pint.UnitRegistry()
    for unit, table in unit_tables.QUICK.items():
        for written, size in table.items():
            known = {"Nm": "N m", "1": "dimensionless"}.get(written, written)
            exact = (
                registry.Quantity(1.0, registry.Unit(known))
                .to("dimensionless" if unit == "1" else unit)
                .magnitude
            )
            assert size == pytest.approx(exact, rel=4e-16), (unit, written)
            assert quantity(f"3.7 {written}", unit) == pytest.approx(3.7 * exact, rel=1e-15)


def test_common_units_never_reach_pint(monkeypatch):
    monkeypatch.setattr(units, "_registry", lambda: pytest.fail("pint was asked"))
    for text, unit in (
        ("185 bar", "Pa"),
        ("80 mm", "m"),
        ("40 l/min", "m^3/s"),
        ("45 deg", "rad"),
        ("5 %", "1"),
    ):
        quantity(text, unit)


@pytest.mark.parametrize("unit", unit_tables.CALLED)
def test_a_quantity_in_the_unit_asked_for_is_its_number(monkeypatch, unit):
    """Digit for digit, and nobody else is asked."""
    monkeypatch.setattr(units, "_registry", lambda: pytest.fail("pint was asked"))
    for number in ("3.7", "1e-16", "-0.1"):
        assert quantity(f"{number} {unit}", unit) == float(number)


def test_the_shipped_crane_is_read_without_pint(monkeypatch):
    monkeypatch.setattr(units, "_registry", lambda: pytest.fail("pint was asked"))
    monkeypatch.setattr(units, "_parsed", lambda text: pytest.fail(f"{text} was looked up"))
    read_machine(MACHINES / "hiab-xs031.yaml")


@pytest.mark.parametrize(
    "text, unit, words",
    [
        ("80 bar", "m", r"a length was expected, in m \(like 80 mm\); got a pressure: 80 bar"),
        ("80 mm", "Pa", "a pressure was expected, in Pa .* got a length"),
        ("16 cm^3", "m^3/rad", "a displacement per angle .* got a volume"),
        ("45 deg", "1", "a plain number was expected .* got an angle"),
        ("5 kg", "kg m^2", "a moment of inertia .* got a mass"),
        ("5 furlong", "s", "a time .* got a length"),
        ("5 kg m", "1/s", "got a quantity in kg m"),
        ("30 Hz", "m", "a length"),
        ("3 kg", "m^5", "a quantity in m\\^5 was expected"),
    ],
)
def test_another_dimension_is_refused_in_words(text, unit, words):
    with pytest.raises(InputError, match=words) as caught:
        quantity(text, unit)
    assert caught.value.mend


@pytest.mark.parametrize("unit", ["rad/s", "1/s"])
def test_cycles_are_not_radians(unit):
    with pytest.raises(
        InputError, match=f"got a frequency in Hz: 30 Hz\n.* 188.496 {unit} if turns were meant"
    ):
        quantity("30 Hz", unit)
    for text in ("3 rad/s", "300 rpm"):
        with pytest.raises(InputError, match="a frequency was expected.* got an angular velocity"):
            quantity(text, "Hz")


@pytest.mark.parametrize(
    "value",
    [
        "abc",
        "",
        "nan",
        "nan m",
        "inf m",
        "1e999 m",
        "1.2.3 m",
        "1,5 mm",
        "0x1F",
        "5 zorkmid",
        "5 m/0",
        "5 10^9^9",
        "5 m^9^9^9",
        "5 ((((((m",
        "5 m**9999999",
        "5 __import__('os')",
        "5 " + "m " * 4000,
        "9" * 5000,
        "5 m^99999",
        True,
        None,
        [],
        {},
        float("nan"),
        float("inf"),
        "5 m\x00",
        "5 degC/mm",
        "5 dBm",
        "٣ m",
    ],
)
def test_what_is_no_length(value):
    with pytest.raises(InputError) as caught:
        quantity(value, "m")
    assert caught.value.mend and len(str(caught.value)) < 400


def test_a_decimal_comma_gets_its_mend():
    with pytest.raises(InputError, match="use a decimal point"):
        quantity("1,5 mm", "m")


@pytest.mark.parametrize(
    "value, unit, text",
    [
        (1.85e7, "Pa", "185 bar"),
        (0.0005, "m", "0.5 mm"),
        (0.00055, "J", "0.55 mJ"),
        (8e8, "Pa", "800 MPa"),
        (2e11, "Pa", "200 GPa"),
        (0.08, "m", "80 mm"),
        (2.5, "m", "2.5 m"),
        (0.001, "s", "1 ms"),
        (40e-3 / 60, "m^3/s", "40 l/min"),
        (math.pi / 4, "rad", "45 deg"),
        (12345.678, "N", "12.35 kN"),
        (999.99999, "N", "1 kN"),
        (0.09999999, "m", "0.1 m"),
        (6.123456, "kg m^2", "6.123 kg m²"),
        (-1.5e5, "Pa", "-1.5 bar"),
        (101325, "Pa", "1.013 bar"),
        (0, "Pa", "0 Pa"),
        (5.02655e-3, "m^2", "50.27 cm²"),
        (1e-13, "m^3/(s Pa)", "1e-13 m³/(s Pa)"),
        (0.25, "1", "0.25"),
        (123456, "1", "123500"),
        (None, "m", "–"),
        (math.inf, "m", "inf m"),
        (math.nan, "Pa", "nan Pa"),
    ],
)
def test_quantities_for_people(value, unit, text):
    assert format_quantity(value, unit) == text


def test_what_is_shown_can_be_read_back():
    for unit in unit_tables.SHOWN:
        for exponent in range(-9, 13):
            for mantissa in (1.0, -3.456, 9.9996):
                value = mantissa * 10.0**exponent
                assert quantity(format_quantity(value, unit), unit) == pytest.approx(
                    value, rel=5.1e-4
                ), (value, unit)


def test_display_units_are_known_and_pretty():
    assert display("Pa", -2e7) == ("bar", 1e5) and display("V/s", 3.0) == ("V/s", 1.0)
    assert pretty("m^3/(s Pa^0.5)") == "m³/(s Pa^0.5)" and pretty("s^-1") == "s⁻¹"


@pytest.mark.parametrize(
    "value, unit", [(6, "rad"), ("20 rad", "rad"), ("-720 deg", "rad"), (20, "m"), ("20", "rad/s")]
)
def test_angles_up_to_a_turn_and_those_with_a_unit_are_read(value, unit):
    assert stated(value, unit) == quantity(value, unit)


@pytest.mark.parametrize("value", [20, -60, "20", 7.0])
def test_an_angle_of_more_than_a_turn_has_to_name_its_unit(value):
    with pytest.raises(InputError, match="without a unit is in rad, which is .* deg") as caught:
        stated(value, "rad")
    assert f"write {float(value):g} deg" in caught.value.mend


@pytest.mark.parametrize("order, unit", [(0, "rad"), (1, "rad/s"), (2, "rad/s^2"), (5, "rad/s^5")])
def test_the_unit_of_a_derivative_in_time(order, unit):
    assert units.derived("rad", order) == unit
