"""Units at the edge: "185 bar" ↔ 1.85e7 Pa. SI everywhere inside.

Angles are a dimension of their own here, unlike in SI, so that a frequency in Hz is not taken for one in rad/s, nor a
displacement per revolution for one per radian; 1/s and rad/s may stand for each other (1 1/s = 1 rad/s).
Common units are converted by a small table, everything else by pint, which is imported only when needed.
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Any

from workbench.contract.errors import InputError

_NUMBER = re.compile(
    r"([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)(?![\d.])\s*(.*)", re.ASCII | re.DOTALL
)
# Names with small powers, products, quotients, brackets: nothing pint could spend long on.
_TOKEN = re.compile(r"[^\W\d_]\w*(?:\^-?\d(?:\.\d{1,3})?)?|[°%⁻¹²³*/ ()]|1(?= ?/)")
_LONGEST = 80

# SI unit → written units and their size, for the quick way; a test holds each against pint.
_QUICK: dict[str, dict[str, float]] = {
    "m": {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "µm": 1e-6, "um": 1e-6},
    "Pa": {"bar": 1e5, "Pa": 1.0, "kPa": 1e3, "MPa": 1e6, "GPa": 1e9},
    "m^3/s": {"l/min": 1e-3 / 60, "L/min": 1e-3 / 60, "m^3/s": 1.0},
    "m^3": {"l": 1e-3, "L": 1e-3, "cm^3": 1e-6, "ml": 1e-6, "m^3": 1.0},
    "m^2": {"mm^2": 1e-6, "cm^2": 1e-4, "m^2": 1.0},
    "s": {"ms": 1e-3, "s": 1.0, "us": 1e-6, "µs": 1e-6, "min": 60.0},
    "rad": {"deg": math.pi / 180, "rad": 1.0, "°": math.pi / 180},
    "rad/s": {"deg/s": math.pi / 180, "rad/s": 1.0, "rpm": math.pi / 30, "1/s": 1.0},
    "1/s": {"1/s": 1.0, "rad/s": 1.0},
    "Hz": {"Hz": 1.0, "kHz": 1e3, "1/s": 1.0},
    "N": {"N": 1.0, "kN": 1e3},
    "N m": {"N m": 1.0, "Nm": 1.0, "kN m": 1e3},
    "N s/m": {"N s/m": 1.0},
    "kg": {"kg": 1.0, "g": 1e-3, "t": 1e3},
    "kg m^2": {"kg m^2": 1.0},
    "m/s": {"m/s": 1.0, "mm/s": 1e-3},
    "m/s^2": {"m/s^2": 1.0},
    "J": {"J": 1.0, "kJ": 1e3, "mJ": 1e-3, "µJ": 1e-6},
    "W": {"W": 1.0, "kW": 1e3},
    "V": {"V": 1.0, "mV": 1e-3},
    "A": {"A": 1.0, "mA": 1e-3},
    "1": {"%": 1e-2, "1": 1.0},
}

# What a quantity in a unit is called, and how one is written.
_CALLED = {
    "m": ("a length", "80 mm"),
    "Pa": ("a pressure", "185 bar"),
    "m^3/s": ("a flow", "40 l/min"),
    "m^3": ("a volume", "3 l"),
    "m^2": ("an area", "50 cm^2"),
    "s": ("a time", "5 ms"),
    "rad": ("an angle", "45 deg"),
    "rad/s": ("an angular velocity", "30 deg/s"),
    "rad/s^2": ("an angular acceleration", "2 rad/s^2"),
    "1/s": ("a rate", "120 1/s"),
    "Hz": ("a frequency", "24 Hz"),
    "N": ("a force", "12 kN"),
    "N m": ("a torque", "350 N m"),
    "N s/m": ("a viscous friction coefficient", "3000 N s/m"),
    "N/m": ("a stiffness", "5e6 N/m"),
    "kg": ("a mass", "475 kg"),
    "kg m^2": ("a moment of inertia", "6 kg m^2"),
    "m/s": ("a velocity", "0.2 m/s"),
    "m/s^2": ("an acceleration", "9.81 m/s^2"),
    "W": ("a power", "15 kW"),
    "V": ("a voltage", "10 V"),
    "A": ("a current", "20 mA"),
    "K": ("a temperature", "40 degC"),
    "kg/m^3": ("a density", "870 kg/m^3"),
    "m^3/(s Pa)": ("a leakage coefficient", "1e-13 m^3/(s Pa)"),
    "Pa s": ("a dynamic viscosity", "0.04 Pa s"),
    "m^2/s": ("a kinematic viscosity", "32 mm^2/s"),
    "m^3/rad": ("a displacement per angle", "16 cm^3/rev"),
    "J": ("an energy", "2 kJ"),
    "1": ("a plain number", "0.5"),
}


def quantity(value: object, unit: str) -> float:
    """`value` in the SI unit `unit`: a number as it is, a text like "185 bar" converted.

    Raises InputError (without a place) when it is neither, when its unit is unknown or measures something else.
    """
    written = ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        number = _float(value)
    elif (
        isinstance(value, str)
        and len(value) < _LONGEST
        and (match := _NUMBER.fullmatch(value.strip()))
    ):
        number, written = float(match[1]), match[2]
    else:
        raise InputError(f"{expected(unit)}; got {_shown(value)}", mend=_example(unit))
    if written and written != unit:
        size = _QUICK.get(unit, {}).get(written)
        number = _convert(number, written, unit, value) if size is None else _scaled(number, size)
    if not math.isfinite(number):
        raise InputError(f"{expected(unit)}; {_shown(value)} is not finite", mend=_example(unit))
    return number


def _float(value: int | float) -> float:
    """The number as a float; infinity for one that is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def measured(text: str) -> tuple[float, str] | None:
    """(number, SI unit) of a written quantity, whatever it measures: "185 bar" is (1.85e7, "Pa"); None for any other text."""
    match = _NUMBER.fullmatch(text.strip()) if len(text) < _LONGEST else None
    if match is None:
        return None
    written = match[2]
    if not written:
        return float(match[1]), ""
    if _parsed(written) is None:
        return None
    for unit in _alike(written):
        try:
            return quantity(text, unit), "" if unit == "1" else unit
        except InputError:  # a frequency in Hz is no rate in 1/s
            continue
    return float(match[1]), written


@cache
def _alike(written: str) -> tuple[str, ...]:
    """SI units of what is written, the same word first: a sweep asks for each of its values."""
    dimension = _dimension(_parsed(written))
    same = (written,) if written in _CALLED else ()
    return (*same, *(unit for unit in _CALLED if _dimension(_parsed(unit)) == dimension))


def _scaled(number: float, size: float) -> float:
    """number × size, rounded once: 70 cm is 0.7, not 0.7000000000000001."""
    inverse = round(1 / size)
    return number / inverse if inverse > 1 and abs(inverse * size - 1) < 1e-12 else number * size


def expected(unit: str) -> str:
    """'a length was expected, in m (like 80 mm)'."""
    called, like = _called(unit)
    return f"{called} was expected" + (
        f" (like {like})" if unit == "1" else f", in {unit} (like {like})"
    )


def _called(unit: str) -> tuple[str, str]:
    return _CALLED.get(unit, (f"a quantity in {unit}", f"0.5 {unit}"))


def _example(unit: str) -> str:
    like = _called(unit)[1]
    return (
        f"write a number, like {like}"
        if unit == "1"
        else f"write {like}, or a plain number in {unit}"
    )


def _shown(value: object) -> str:
    if (
        isinstance(value, int) and value.bit_length() > 1100
    ):  # Python refuses to write out the longest
        return f"a whole number of about {round(value.bit_length() * math.log10(2))} digits"
    text = value if isinstance(value, str) else str(value)
    text = text if len(text) <= 60 else text[:57] + "…"
    return repr(text) if isinstance(value, str) else text


def _convert(number: float, written: str, unit: str, value: object) -> float:
    """The long way, by pint."""
    source, target = _parsed(written), _parsed(unit)
    if source is None or target is None:
        mend = "use a decimal point" if written.startswith(",") else _example(unit)
        raise InputError(f"{expected(unit)}; the unit of {_shown(value)} is not known", mend=mend)
    dimensions = {_dimension(source), _dimension(target)}
    if "hertz" in str(source) and "hertz" not in str(target) and dimensions <= {_RATE, _TURNING}:
        raise InputError(
            f"{expected(unit)}; got a frequency in Hz: {value}",
            mend=f"1 Hz is one turn, 2π rad, per second: write {2 * math.pi * number:.6g} {unit} "
            f"if turns were meant, {number:g} {unit} if not",
        )
    measured = _registry().Quantity(number, source)
    try:
        if len(dimensions) == 1:
            return float(measured.to(target).magnitude)
        if dimensions == {_RATE, _TURNING} and "hertz" not in str(target):
            return float(measured.to_base_units().magnitude)
    except Exception as why:  # offset and logarithmic units in products
        raise InputError(
            f"{expected(unit)}; {_shown(value)} cannot be converted: {why}", mend=_example(unit)
        ) from None
    raise InputError(
        f"{expected(unit)}; got {_kind(source, written)}: {value}", mend=_example(unit)
    )


_RATE = frozenset({"[time]": -1}.items())
_TURNING = frozenset({"[angle]": 1, "[time]": -1}.items())


def _dimension(unit: Any) -> frozenset:
    return frozenset(unit.dimensionality.items())


def _kind(source: Any, written: str) -> str:
    """What a quantity in this pint unit measures, in words."""
    for unit, (called, _) in _CALLED.items():
        if _dimension(_parsed(unit)) == _dimension(source):
            return called
    return f"a quantity in {written}"


@cache
def _registry() -> Any:
    from importlib.resources import files

    import pint

    registry = pint.UnitRegistry(None)
    registry.load_definitions(files("pint") / "default_en.txt")
    registry.define(
        "radian = [angle] = rad"
    )  # before anything is looked up: pint remembers dimensions
    registry.define("@alias turn = rev")
    registry.define("liter_per_minute = liter / minute = lpm")
    registry.define("gallon_per_minute = gallon / minute = gpm")
    return registry


@cache
def _parsed(text: str) -> Any:
    """The pint unit of a text, or None."""
    text = re.sub(r"√(\w+)", r"\1^0.5", text.replace("·", " "))
    text = re.sub(r"([A-Za-z])([23])(?!\w)", r"\1^\2", text)
    text = re.sub(r"\b([kM]?N)m\b", r"\1 m", text)  # pint's Nm is a yarn count
    if len(text) > _LONGEST or (text != "1" and _TOKEN.sub("", text)):
        return None
    try:
        unit = _registry().Unit(text)
        _registry().Quantity(
            1.0, unit
        ).to_base_units()  # what cannot be converted is of no use: dB/m, degC/s
        return unit
    except Exception:  # pint fails in many ways on what is no unit
        return None


# SI unit → what it is shown in, each from this magnitude (in SI) on.
_SHOWN: dict[str, tuple[tuple[float, str], ...]] = {
    "m": ((0.1, "m"), (1e-4, "mm"), (0.0, "µm")),
    "Pa": ((1e10, "GPa"), (1e8, "MPa"), (1e4, "bar"), (0.0, "Pa")),
    "m^3/s": ((0.0, "l/min"),),
    "m^3": ((1e-4, "l"), (0.0, "cm^3")),
    "m^2": ((0.1, "m^2"), (1e-5, "cm^2"), (0.0, "mm^2")),
    "s": ((0.1, "s"), (1e-4, "ms"), (0.0, "µs")),
    "rad": ((0.0, "deg"),),
    "Hz": ((1e3, "kHz"), (0.0, "Hz")),
    "N": ((1e3, "kN"), (0.0, "N")),
    "N m": ((1e3, "kN m"), (0.0, "N m")),
    "kg": ((0.1, "kg"), (0.0, "g")),
    "m/s": ((0.1, "m/s"), (0.0, "mm/s")),
    "J": ((1e3, "kJ"), (0.1, "J"), (1e-4, "mJ"), (0.0, "µJ")),
    "W": ((1e3, "kW"), (0.0, "W")),
    "V": ((0.1, "V"), (0.0, "mV")),
    "A": ((0.1, "A"), (0.0, "mA")),
}


def display(unit: str, magnitude: float) -> tuple[str, float]:
    """Unit in which a quantity of this magnitude (SI) reads well, and its size: (“bar”, 1e5) for Pa at 1.85e7."""
    magnitude = abs(magnitude)
    if magnitude == 0 or not math.isfinite(magnitude):
        return unit, 1.0
    # Half a unit in the last shown digit is forgiven: 0.0999999 m is 0.1 m, not 100 mm.
    name = next(
        (name for least, name in _SHOWN.get(unit, ()) if magnitude * (1 + 5e-5) >= least), unit
    )
    return name, _QUICK[unit][name] if unit in _SHOWN else 1.0


def format_quantity(value: float | None, unit: str = "1", digits: int = 4) -> str:
    """A quantity for people: 1.85e7 Pa is '185 bar', 0.0005 m '0.5 mm'; '–' when there is none."""
    if value is None:
        return "–"
    name, size = display(unit, value)
    number = float(f"{value / size:.{digits - 1}e}") if math.isfinite(value) else value
    text = f"{number:.12g}" if abs(number) < 10 ** max(digits, 6) else f"{number:.{digits}g}"
    return text if name in ("1", "") else f"{text} {pretty(name)}"


def pretty(unit: str) -> str:
    """The unit with raised powers: 'kg m²'."""
    return re.sub(r"\^(-?\d)(?![.\d])", lambda power: power[1].translate(_RAISED), unit)


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
