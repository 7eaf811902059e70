"""Friction laws without memory, f_f(v)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf, sqrt, tanh
from typing import Annotated, final

import numpy as np

from plants.components.friction.enclosure import ROUNDING, ordered, subdivided, times, total
from workbench.contract.described import described
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive
from workbench.contract.system import Signal


class Static(ABC):
    """A law f_f(v) without memory."""

    F_c = 0.0  # N, Coulomb friction, where it has some
    v_s = None  # m/s, Stribeck speed, where it has one

    @abstractmethod
    def force(self, v, z=()):
        """f_f(v) [N]."""

    @abstractmethod
    def slope(self, v_max: float) -> tuple[float, float]:
        """Enclosure of df_f/dv [N s/m] over |v| ≤ v_max [m/s]."""

    def guards(self, v, z=()) -> list:
        return []

    def monotone(self, v_max: float) -> bool:
        return self.slope(v_max)[0] >= 0.0

    def steady(self, v):
        return self.force(v)

    def states(self, name: str) -> tuple[Signal, ...]:
        return ()

    def stiff(self, name: str) -> tuple[str, ...]:
        return ()

    def rate(self, v, z=()) -> list:
        return []

    def after(self, T, v, z=(), rates=()) -> list:
        return []

    def stored(self, z=()):
        return 0.0

    def loss(self, v, z=()):
        return self.force(v) * v

    def observer(self, v, v_r, z_hat=()):
        return self.force(v_r), []

    def storage(self, z_hat=(), z=()):
        return 0.0

    def strain(self, z_hat=(), z=()) -> list:
        return []

    def part(self, v, v_r, z=(), z_hat=()):
        return -(v_r - v) * (self.force(v_r) - self.force(v))

    def power_limit(self) -> float:
        return inf

    def domain(self, z=()) -> list:
        return []


USUAL = 1.5  # breakaway friction over that of sliding, of a seal
Breakaway = Annotated[
    float | None, Unit("N"), f"breakaway friction; left out: {USUAL:g} × F_c", nonnegative
]


def follow(law, **usual: float) -> None:
    """Numbers of a friction law that were left out follow from those that were given."""
    for name, value in usual.items():
        if getattr(law, name) is None:
            object.__setattr__(law, name, value)


def check_stribeck(law) -> None:
    """Bounds of each number, and no breakaway friction below the friction of sliding; left out, it follows that."""
    check_bounds(law)
    follow(law, F_s=USUAL * law.F_c)
    if law.F_s < law.F_c:
        unit = described(law)["F_c"].unit
        raise InputError(
            f"F_s: breakaway friction, {law.F_s:g} {unit}, must not be below Coulomb friction, F_c = {law.F_c:g} {unit}",
            mend=f"leave F_s out: it is {USUAL:g} × F_c then, {USUAL * law.F_c:g} {unit} here; or give both",
        )


@final
@dataclass(frozen=True)
class Frictionless(Static):
    """f_f = 0."""

    def force(self, v, z=()):
        return 0.0 * v

    def slope(self, v_max):
        return 0.0, 0.0


@final
@dataclass(frozen=True)
class CoulombViscous(Static):
    """f_f = F_c tanh(v/w) + b v: increasing everywhere, steepest at rest."""

    F_c: Annotated[float, Unit("N"), "Coulomb friction", nonnegative] = 4000.0
    b: Annotated[float, Unit("N s/m"), "viscous friction", nonnegative] = 3000.0
    width: Annotated[float, Unit("m/s"), "speed w over which the sign is smoothed", positive] = 1e-3

    def __post_init__(self):
        check_bounds(self)

    def force(self, v, z=()):
        return self.F_c * np.tanh(v / self.width) + self.b * v

    def slope(self, v_max):
        """Closed form: F_c/w (1 − tanh²(v/w)) + b falls from v = 0 to v_max, and never below b."""
        k = self.F_c / self.width
        T = tanh(abs(v_max) / self.width)
        low = k * max((1.0 - T) * (1.0 + T) - 1e-15, 0.0)
        return self.b + low * (1 - ROUNDING), (self.b + k) * (1 + ROUNDING)


@final
@dataclass(frozen=True)
class Stribeck(Static):
    """f_f = S(v) tanh(v/w) + b v, S(v) = F_c + (F_s − F_c) exp(−(v/v_s)²): falls around v_s when b is small."""

    F_c: Annotated[float, Unit("N"), "Coulomb friction", nonnegative] = 3000.0
    F_s: Breakaway = None
    v_s: Annotated[float, Unit("m/s"), "Stribeck speed", positive] = 0.03
    b: Annotated[float, Unit("N s/m"), "viscous friction", nonnegative] = 2000.0
    width: Annotated[float, Unit("m/s"), "speed w over which the sign is smoothed", positive] = 1e-3

    def __post_init__(self):
        check_stribeck(self)

    def force(self, v, z=()):
        r = v / self.v_s
        return (self.F_c + (self.F_s - self.F_c) * np.exp(-(r * r))) * np.tanh(
            v / self.width
        ) + self.b * v

    def slope(self, v_max):
        """Interval arithmetic on S' tanh + S tanh' + b over a subdivision of [0, v_max] (the slope is even)."""
        return subdivided(self._slope_within, abs(v_max), min(self.width, self.v_s))

    def _slope_within(self, l, h):
        """Enclosures of the slope over the speeds [l, h], arrays: every factor is monotone in v ≥ 0, or is split so."""
        w = self.width
        D = self.F_s - self.F_c
        v_s = self.v_s
        T = np.tanh(l / w), np.tanh(h / w)
        dT = (np.maximum(1 - T[1] ** 2, 0) / w, (1 - T[0] ** 2) / w)
        E = np.exp(-((h / v_s) ** 2)), np.exp(-((l / v_s) ** 2))
        S = ordered(self.F_c + D * E[0], self.F_c + D * E[1])
        dS = ordered(-2 * D / v_s**2 * l * E[0], -2 * D / v_s**2 * h * E[1])
        falling = times(dS, T)
        rising = times(S, dT)
        # 1 − T² loses digits that S/w magnifies; its sign is known.
        loose = ROUNDING * (self.F_c + self.F_s) / w
        rising = np.maximum(rising[0] - loose, 0.0), rising[1] + loose
        return total((self.b, self.b), falling, rising)


@final
@dataclass(frozen=True)
class BengisuAkay(Static):
    """A parabola up to the breakaway friction at v_s, then a decay to Coulomb friction:

        f_f = (F_s − F_s (|v| − v_s)²/v_s²) sign(v) + b v                          |v| < v_s
        f_f = (F_c + (F_s − F_c) exp(−ξ (|v| − v_s))) sign(v) + b v                otherwise                     (21)–(23)

    (22) as printed has b v in the second line only, and so jumps by b v_s at v_s; here it is in both, and f_f is continuous.
    Its slope still jumps there, from b to b − ξ (F_s − F_c).

    Source: [Jaiswal21] eqs (21)–(23), b is its σ_2; the law is from [BengisuAkay94].
    """

    F_c: Annotated[float, Unit("N"), "Coulomb friction", nonnegative] = 3000.0
    F_s: Breakaway = None
    v_s: Annotated[float, Unit("m/s"), "speed of the largest friction", positive] = 0.03
    ξ: Annotated[float, Unit("s/m"), "decay of the Stribeck effect beyond it", positive] = 33.0
    b: Annotated[float, Unit("N s/m"), "viscous friction", nonnegative] = 2000.0

    def __post_init__(self):
        check_stribeck(self)

    def force(self, v, z=()):
        speed = np.abs(v)
        rising = self.F_s * (v / self.v_s) * (2.0 - speed / self.v_s)
        # Where it counts; has a derivative at rest, where it does not.
        sign = v / np.maximum(speed, self.v_s)
        falling = (
            self.F_c + (self.F_s - self.F_c) * np.exp(-self.ξ * np.maximum(speed - self.v_s, 0.0))
        ) * sign
        return np.where(speed < self.v_s, rising, falling) + self.b * v

    def guards(self, v, z=()):
        return [np.abs(v) - self.v_s]

    def slope(self, v_max):
        """Closed form: b + 2 F_s (1 − r)/v_s falls from v = 0 to v_s, then b − ξ (F_s − F_c) e^{…}, least at v_s⁺."""
        v = abs(v_max)
        D = self.F_s - self.F_c
        steep = 2 * self.F_s / self.v_s
        low = steep * (1 - v / self.v_s) if v < self.v_s else -self.ξ * D
        return self.b + low - ROUNDING * (steep + self.ξ * D + self.b), (self.b + steep) * (
            1 + ROUNDING
        )


@final
@dataclass(frozen=True)
class BrownMcPhee(Static):
    """A smooth odd function, f_f ≈ F_s at v_s: with r = v/v_s,

        f_f = F_c tanh(4 r) + (F_s − F_c) r/(r²/4 + 3/4)² + b v tanh(4)                                          (24)

    tanh(4) = 0.99933 stands in the last term as it is printed, a constant: viscous friction is b tanh(4).

    Source: [Jaiswal21] eq. (24), b is its σ_2; the law is from [BrownMcPhee16].
    """

    F_c: Annotated[float, Unit("N"), "Coulomb friction", nonnegative] = 3000.0
    F_s: Breakaway = None
    v_s: Annotated[float, Unit("m/s"), "Stribeck speed", positive] = 0.03
    b: Annotated[float, Unit("N s/m"), "viscous friction", nonnegative] = 2000.0

    def __post_init__(self):
        check_stribeck(self)

    def force(self, v, z=()):
        r = v / self.v_s
        D = 0.25 * r * r + 0.75
        return (
            self.F_c * np.tanh(4.0 * r)
            + (self.F_s - self.F_c) * r / (D * D)
            + self.b * tanh(4.0) * v
        )

    def slope(self, v_max):
        """Interval arithmetic on 4 F_c/v_s sech²(4r) + (F_s − F_c)/v_s 48 (1 − r²)/(r² + 3)³ + b tanh(4)."""
        return subdivided(self._slope_within, abs(v_max), self.v_s)

    def _slope_within(self, l, h):
        """Enclosures over the speeds [l, h], arrays: the first term falls, the second falls to −4/9 at r² = 3, then rises."""
        k = 4 * self.F_c / self.v_s
        K = (self.F_s - self.F_c) / self.v_s
        l = l / self.v_s
        h = h / self.v_s
        sech = lambda r: k / np.cosh(np.minimum(4 * r, 300.0)) ** 2
        bump = lambda r: 48 * K * (1 - r * r) / (r * r + 3) ** 3
        low, high = ordered(bump(l), bump(h))
        low = np.where((l <= sqrt(3) * (1 + 1e-15)) & (h >= sqrt(3) * (1 - 1e-15)), -4 / 9 * K, low)
        loose = ROUNDING * K  # 1 − r² loses digits near v_s
        b = self.b * tanh(4.0)
        return total((b, b), (sech(h), sech(l)), (low - loose, high + loose))
