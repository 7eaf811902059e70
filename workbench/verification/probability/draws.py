"""Numbers of a machine drawn at random, each by its own law, from independent standard normal numbers z:

    uniform       a + (b − a) Φ(z)
    log_uniform   exp(ln a + (ln b − ln a) Φ(z))
    normal        a + b z

Φ is the standard normal distribution. Every law is drawn through z, so that runs can be led from one draw to one near by.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.numbers import numbers
from workbench.contract.parameters import Leaf
from workbench.contract.units import quantity

NARROW = 1e-6  # share of a number's size: a narrower range draws the same machine again and again


@dataclass(frozen=True, eq=False)
class Law:
    """How one number is drawn: `kind` with its two numbers a and b in SI, and the numbers of the plant that take the value."""

    name: str
    kind: str
    a: float
    b: float
    named: tuple[Leaf, ...]

    def values(self, z: np.ndarray) -> np.ndarray:
        """What standard normal numbers stand for, in SI, of the same shape."""
        if self.kind == "normal":
            return self.a + self.b * z
        from scipy.special import ndtr

        share = ndtr(z)
        if self.kind == "uniform":
            return self.a + (self.b - self.a) * share
        low = math.log(self.a)
        high = math.log(self.b)
        return np.exp(low + (high - low) * share)


def laws_asked(claim: Any, loop: Any) -> None:
    """InputError for numbers that the plant has not, or that cannot be drawn so."""
    laws(claim.over, loop.plant)


def laws(over: Mapping[str, Any], plant: Any) -> list[Law]:
    """How every number of `over` (name → Spread) is drawn. Raises InputError with the name of what cannot be drawn so."""
    return [_law(name, spread, plant) for name, spread in over.items()]


def _law(name: str, spread: Any, plant: Any) -> Law:
    named = tuple(numbers(plant, name))
    ((kind, ends),) = spread.stated
    try:
        a, b = (float(quantity(end, named[0].info.unit)) for end in ends)
    except InputError as why:
        raise InputError(f"over: {name}: {why.message}", key=name, mend=why.mend) from None
    law = Law(name, kind, a, b, named)
    if not (math.isfinite(a) and math.isfinite(b)):
        raise _refused(law, "is drawn with a number that is not finite", "write finite numbers")
    if kind == "normal":
        _check_normal(law)
    else:
        _check_ends(law)
    if abs(b if kind == "normal" else b - a) < NARROW * max(abs(a), abs(b)):
        raise _refused(
            law, f"has no width to speak of, less than {NARROW:g} of it", "draw it wider"
        )
    return law


def _check_normal(law: Law) -> None:
    if not law.b > 0:
        raise _refused(
            law,
            "is drawn with a deviation that is not above zero",
            "write [mean, standard deviation]",
        )
    if not law.named[0].info.bound.admits(law.a):
        words = law.named[0].info.bound.words
        raise _refused(law, f"must be {words}, and its mean is {law.a:g}", "write another mean")


def _check_ends(law: Law) -> None:
    unit = law.named[0].info.unit
    if not law.a < law.b:
        raise _refused(
            law, f"has an empty range, {law.a:g} … {law.b:g} {unit}", "write [smaller, larger]"
        )
    bound = law.named[0].info.bound
    if not (bound.admits(law.a) and bound.admits(law.b)):
        raise _refused(law, f"must be {bound.words}", "write a range that is so")
    if law.kind == "log_uniform" and not law.a > 0:
        raise _refused(law, f"has no logarithm at {law.a:g}", "begin above zero, or use uniform")


def _refused(law: Law, what: str, mend: str) -> InputError:
    return InputError(f"over: {law.name} {what}", key=law.name, mend=mend)


def standard(seed: int, n: int, dimensions: int) -> np.ndarray:
    """Independent standard normal numbers (n, dimensions), a row a run: the same first rows for any n."""
    return np.random.default_rng(seed).standard_normal((n, dimensions))


def drawn(drawn_by: Sequence[Law], z: np.ndarray) -> list[dict[str, float]]:
    """Name → value in SI, of every row of z (n, laws)."""
    columns = [law.values(z[:, i]) for i, law in enumerate(drawn_by)]
    names = [law.name for law in drawn_by]
    return [dict(zip(names, map(float, row))) for row in zip(*columns)]
