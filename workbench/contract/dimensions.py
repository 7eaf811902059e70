"""Units of products, quotients and roots, each told by the SI unit that it has."""

from __future__ import annotations

from functools import cache

from workbench.contract.units import _alike as named_like
from workbench.contract.units import _dimension as dimension
from workbench.contract.units import _parsed as parsed

_RATES = frozenset({"1/s", "rad/s"})  # which may stand for each other
BASE = {
    "[mass]": "kg",
    "[length]": "m",
    "[time]": "s",
    "[current]": "A",
    "[temperature]": "K",
    "[angle]": "rad",
    "[substance]": "mol",
    "[luminosity]": "cd",
}


@cache
def alike(a: str, b: str) -> bool:
    """Whether two SI units measure the same."""
    if a == b or {a, b} <= _RATES:
        return True
    one = parsed(a)
    other = parsed(b)
    return one is not None and other is not None and dimension(one) == dimension(other)


@cache
def multiplied(a: str, b: str, power: int = 1) -> str | None:
    """SI unit of a·b^power, "1" for a plain number; None for units that are not known."""
    if b == "1":
        return a
    return _named({a: 1.0, b: power} if a != b else {a: 1.0 + power})


@cache
def root(unit: str) -> str:
    """SI unit of √x for an x in `unit`."""
    return _named({unit: 0.5}) or f"√({unit})"


def _named(powers: dict[str, float]) -> str | None:
    """The unit with these powers of SI units, by the name it has, else in base units."""
    total: dict[str, float] = {}
    for text, power in powers.items():
        unit = parsed(text)
        if unit is None:
            return None
        for base, exponent in unit.dimensionality.items():
            total[base] = total.get(base, 0.0) + power * float(exponent)
    left = {base: exponent for base, exponent in total.items() if abs(exponent) > 1e-12}
    if not left:
        return "1"
    text = " ".join(f"{BASE[base]}^{exponent:g}" for base, exponent in sorted(left.items()))
    return next((name for name in named_like(text) if name != text), text)
