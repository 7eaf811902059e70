"""Units of an FMU in SI: value in SI = factor · value + offset, by the base units that its description gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from workbench.contract.unit_tables import CALLED
from workbench.contract.units import measured

BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")


class InSI(NamedTuple):
    """An SI unit of ours, and how a value of the FMU becomes one in it."""

    unit: str = "1"
    factor: float = 1.0
    offset: float = 0.0


# Exponents of kg, m, s, A, K, mol, cd, rad → the SI unit as we write it.
NAMED: dict[tuple[int, ...], str] = {
    (0, 0, 0, 0, 0, 0, 0, 0): "1",
    (0, 1, 0, 0, 0, 0, 0, 0): "m",
    (1, -1, -2, 0, 0, 0, 0, 0): "Pa",
    (0, 3, -1, 0, 0, 0, 0, 0): "m^3/s",
    (0, 3, 0, 0, 0, 0, 0, 0): "m^3",
    (0, 2, 0, 0, 0, 0, 0, 0): "m^2",
    (0, 0, 1, 0, 0, 0, 0, 0): "s",
    (0, 0, 0, 0, 0, 0, 0, 1): "rad",
    (0, 0, -1, 0, 0, 0, 0, 1): "rad/s",
    (0, 0, -2, 0, 0, 0, 0, 1): "rad/s^2",
    (0, 0, -1, 0, 0, 0, 0, 0): "1/s",
    (1, 1, -2, 0, 0, 0, 0, 0): "N",
    (1, 2, -2, 0, 0, 0, 0, 0): "N m",
    (1, 0, -1, 0, 0, 0, 0, 0): "N s/m",
    (1, 0, -2, 0, 0, 0, 0, 0): "N/m",
    (1, 0, 0, 0, 0, 0, 0, 0): "kg",
    (1, 2, 0, 0, 0, 0, 0, 0): "kg m^2",
    (0, 1, -1, 0, 0, 0, 0, 0): "m/s",
    (0, 1, -2, 0, 0, 0, 0, 0): "m/s^2",
    (1, 2, -3, 0, 0, 0, 0, 0): "W",
    (1, 2, -3, -1, 0, 0, 0, 0): "V",
    (0, 0, 0, 1, 0, 0, 0, 0): "A",
    (0, 0, 0, 0, 1, 0, 0, 0): "K",
    (1, -3, 0, 0, 0, 0, 0, 0): "kg/m^3",
    (1, -1, -1, 0, 0, 0, 0, 0): "Pa s",
    (0, 2, -1, 0, 0, 0, 0, 0): "m^2/s",
}
ALIKE = {"J": "J", "kJ": "J", "Hz": "Hz", "kHz": "Hz"}  # those that share exponents with another


def of_base(name: str, exponents: Mapping[str, int], factor: float, offset: float) -> InSI:
    """The unit called `name` that is factor · Π base^exponent, offset added."""
    powers = tuple(exponents.get(b, 0) for b in BASE)
    if name in CALLED and (factor, offset) == (1.0, 0.0):
        return InSI(name)
    unit = ALIKE.get(name) or NAMED.get(powers) or _composed(powers)
    return InSI(unit, factor, offset)


def of_name(name: str) -> InSI:
    """A unit of which only the name is known; a plain number where the name is not known either."""
    zero = measured(f"0 {name}")
    one = measured(f"1 {name}")
    if not name or zero is None or one is None or (one[1] and one[1] not in CALLED):
        return InSI()
    return InSI(one[1] or "1", one[0] - zero[0], zero[0])


def _composed(powers: tuple[int, ...]) -> str:
    """kg m^2/(s^3 A)."""
    above = [_power(b, p) for b, p in zip(BASE, powers) if p > 0]
    below = [_power(b, -p) for b, p in zip(BASE, powers) if p < 0]
    top = " ".join(above) or "1"
    if not below:
        return top
    return f"{top}/{below[0]}" if len(below) == 1 else f"{top}/({' '.join(below)})"


def _power(base: str, p: int) -> str:
    return base if p == 1 else f"{base}^{p}"
