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

from workbench.contract.errors import InputError, short
from workbench.contract.unit_tables import CALLED, QUICK, SHOWN

_NUMBER = re.compile(
    r"([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)(?![\d.])[\s\u00a0\u202f]*(.*)",
    re.ASCII | re.DOTALL,
)
# Names with small powers, products, quotients, brackets: nothing pint could spend long on.
_TOKEN = re.compile(r"[^\W\d_]\w*(?:\^-?\d(?:\.\d{1,3})?)?|[°%⁻¹²³*/ ()]|1(?= ?/)")
_LONGEST = 80


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
        number = float(match[1])
        written = match[2]
    else:
        raise InputError(f"{expected(unit)}; got {_shown(value)}", mend=_example(unit))
    if written and written != unit:
        size = QUICK.get(unit, {}).get(written)
        number = _convert(number, written, unit, value) if size is None else _scaled(number, size)
    if not math.isfinite(number):
        raise InputError(f"{expected(unit)}; {_shown(value)} is not finite", mend=_example(unit))
    return number


def alike(one: str, other: str) -> bool:
    """Whether two units are the same one, however they are written."""
    if one == other:
        return True
    try:
        return quantity(f"1 {one}", other) == 1.0
    except InputError:
        return False


def stated(value: object, unit: str) -> float:
    """`quantity` of what somebody wrote down: an angle of more than a turn has to name its unit."""
    number = quantity(value, unit)
    if unit != "rad" or abs(number) <= 2 * math.pi or not _is_plain(value):
        return number
    degrees = math.degrees(number)
    shown = f"{degrees:.0f}" if abs(degrees) < 1e7 else f"{degrees:.3g}"
    raise InputError(
        f"{number:.6g} without a unit is in rad, which is {shown} deg",
        mend=f"write {number:.6g} deg, or {number:.6g} rad if more than a turn is meant",
    )


def _is_plain(value: object) -> bool:
    """Whether a quantity was written without its unit."""
    match = _NUMBER.fullmatch(value.strip()) if isinstance(value, str) else None
    return match is None or not match[2]


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
    same = (written,) if written in CALLED else ()
    return (*same, *(unit for unit in CALLED if _dimension(_parsed(unit)) == dimension))


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
    return CALLED.get(unit, (f"a quantity in {unit}", f"0.5 {unit}"))


def example(unit: str) -> str:
    """A quantity of that unit as one writes it: 80 mm for m."""
    return _called(unit)[1]


def _example(unit: str) -> str:
    like = example(unit)
    return (
        f"write a number, like {like}"
        if unit == "1"
        else f"write {like}, or a plain number in {unit}"
    )


def _shown(value: object) -> str:
    # Python refuses to write out the longest.
    if isinstance(value, int) and value.bit_length() > 1100:
        return f"a whole number of about {round(value.bit_length() * math.log10(2))} digits"
    return repr(short(value)) if isinstance(value, str) else short(value)


def _convert(number: float, written: str, unit: str, value: object) -> float:
    """The long way, by pint."""
    source = _parsed(written)
    target = _parsed(unit)
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
    for unit, (called, _) in CALLED.items():
        if _dimension(_parsed(unit)) == _dimension(source):
            return called
    return f"a quantity in {written}"


@cache
def _registry() -> Any:
    from importlib.resources import files

    import pint

    registry = pint.UnitRegistry(None)
    registry.load_definitions(files("pint") / "default_en.txt")
    # Before anything is looked up: pint remembers dimensions.
    registry.define("radian = [angle] = rad")
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


def display(unit: str, magnitude: float) -> tuple[str, float]:
    """Unit in which a quantity of this magnitude (SI) reads well, and its size: (“bar”, 1e5) for Pa at 1.85e7."""
    magnitude = abs(magnitude)
    if magnitude == 0 or not math.isfinite(magnitude):
        return unit, 1.0
    # Half a unit in the last shown digit is forgiven: 0.0999999 m is 0.1 m, not 100 mm.
    name = next(
        (name for least, name in SHOWN.get(unit, ()) if magnitude * (1 + 5e-5) >= least), unit
    )
    return name, QUICK[unit][name] if unit in SHOWN else 1.0


def format_quantity(value: float | None, unit: str = "1", digits: int = 4) -> str:
    """A quantity for people: 1.85e7 Pa is '185 bar', 0.0005 m '0.5 mm'; '–' when there is none."""
    if value is None:
        return "–"
    name, size = display(unit, value)
    number = float(f"{value / size:.{digits - 1}e}") if math.isfinite(value) else value
    text = f"{number:.12g}" if abs(number) < 10 ** max(digits, 6) else f"{number:.{digits}g}"
    return text if name in ("1", "") else f"{text} {pretty(name)}"


def as_shown(value: float, unit: str, digits: int = 3) -> float:
    """This SI number where it has so few digits, rounding aside, else the one that is read where people see it to so many."""
    short = float(f"{value:.{digits}g}")
    if math.isclose(short, value, rel_tol=1e-9):
        return short
    return float(quantity(format_quantity(value, unit, digits), unit))


def derived(unit: str, order: int) -> str:
    """The unit of a derivative with respect to time: m, 2 → m/s^2."""
    if order == 0:
        return unit
    return f"{unit}/s" if order == 1 else f"{unit}/s^{order}"


def pretty(unit: str) -> str:
    """The unit with raised powers: 'kg m²'."""
    return re.sub(r"\^(-?\d)(?![.\d])", lambda power: power[1].translate(RAISED), unit)


RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
