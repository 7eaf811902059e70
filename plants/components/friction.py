"""Friction between piston and bore: each law with its slope, its storage and its part in the stability ledger.

Every law is a frozen dataclass with

    states(name)            its memory as Signals, none for a static law; z, ẑ below are sequences of that length
    force(v, z)             f_f [N], opposing motion when subtracted as in f_c = f_p − f_f                    (78)
    rate(v, z)              ż
    slope(v_max)            floats (low, high) that enclose df_f/dv of steady sliding over 0 < |v| ≤ v_max
    monotone(v_max)         True only if f_f is proved to be an increasing function of v there
    observer(v, v_r, ẑ)     required friction f_fr [N] and the rates ẑ̇ of its memory
    storage(ẑ, z)           W [J], what the law adds to the accompanying function
    part(v, v_r, z, ẑ)      −(v_r − v)(f_fr − f_f) + Ẇ [W], what the law adds to its derivative
    power_limit()           speed [m/s] up to which `part` ≤ 0 is proved for dynamic laws; inf for static ones, whose
                            sign is a question of slope

A static law has f_fr = f_f(v_r), W = 0, and part ≤ 0 wherever f_f is increasing: (C.13) of the paper. Slopes of
nonmonotone laws may be negative: with df_f/dv ≥ −μ the part is at most μ (v_r − v)².

To add a law: a class here, its name in `Friction`, a line in the test's list.
Source: [Petrovic22] eq. (78) and App. C; LuGre [Canudas95].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import exp, inf, sqrt, tanh
from typing import Annotated, final

import numpy as np

from workbench.parameters import Unit, check_bounds, nonnegative, positive
from workbench.system import Signal

_ROUNDING = 1e-13  # relative, per term: covers a dozen rounded operations and library functions off by a few ulp


class Static(ABC):
    """A law f_f(v) without memory."""

    @abstractmethod
    def force(self, v, z=()):
        """f_f(v) [N]."""

    @abstractmethod
    def slope(self, v_max: float) -> tuple[float, float]:
        """Enclosure of df_f/dv [N s/m] over |v| ≤ v_max [m/s]."""

    def monotone(self, v_max: float) -> bool:
        return self.slope(v_max)[0] >= 0.0

    def states(self, name: str) -> tuple[Signal, ...]:
        return ()

    def rate(self, v, z=()) -> list:
        return []

    def observer(self, v, v_r, z_hat=()):
        return self.force(v_r), []

    def storage(self, z_hat=(), z=()):
        return 0.0

    def part(self, v, v_r, z=(), z_hat=()):
        return -(v_r - v) * (self.force(v_r) - self.force(v))

    def power_limit(self) -> float:
        return inf


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
        k, T = self.F_c / self.width, tanh(abs(v_max) / self.width)
        low = k * max((1.0 - T) * (1.0 + T) - 1e-15, 0.0)
        return self.b + low * (1 - _ROUNDING), (self.b + k) * (1 + _ROUNDING)


@final
@dataclass(frozen=True)
class Stribeck(Static):
    """f_f = S(v) tanh(v/w) + b v, S(v) = F_c + (F_s − F_c) exp(−(v/v_s)²): falls around v_s when b is small."""

    F_c: Annotated[float, Unit("N"), "Coulomb friction", nonnegative] = 3000.0
    F_s: Annotated[float, Unit("N"), "breakaway friction", nonnegative] = 4500.0
    v_s: Annotated[float, Unit("m/s"), "Stribeck speed", positive] = 0.03
    b: Annotated[float, Unit("N s/m"), "viscous friction", nonnegative] = 2000.0
    width: Annotated[float, Unit("m/s"), "speed w over which the sign is smoothed", positive] = 1e-3

    def __post_init__(self):
        check_bounds(self)

    def force(self, v, z=()):
        return _stribeck(self, v) * np.tanh(v / self.width) + self.b * v

    def slope(self, v_max):
        """Interval arithmetic on S' tanh + S tanh' + b over a subdivision of [0, v_max] (the slope is even)."""
        return _subdivided(self._slope_within, abs(v_max), min(self.width, self.v_s))

    def _slope_within(self, l, h):
        """Enclosures of the slope over the speeds [l, h], arrays: every factor is monotone in v ≥ 0, or is split so."""
        w, D, v_s = self.width, self.F_s - self.F_c, self.v_s
        T = np.tanh(l / w), np.tanh(h / w)
        dT = (np.maximum(1 - T[1] ** 2, 0) / w, (1 - T[0] ** 2) / w)
        E = np.exp(-((h / v_s) ** 2)), np.exp(-((l / v_s) ** 2))
        S = _sort(self.F_c + D * E[0], self.F_c + D * E[1])
        dS = _sort(-2 * D / v_s**2 * l * E[0], -2 * D / v_s**2 * h * E[1])
        falling, rising = _times(dS, T), _times(S, dT)
        loose = _ROUNDING * (self.F_c + self.F_s) / w  # 1 − T² loses digits that S/w magnifies; its sign is known
        rising = np.maximum(rising[0] - loose, 0.0), rising[1] + loose
        sums = [self.b + f + r for f, r in zip(falling, rising)]
        margin = [_ROUNDING * (self.b + abs(f) + r) for f, r in zip(falling, rising)]
        return sums[0] - margin[0], sums[1] + margin[1]


@final
@dataclass(frozen=True)
class LuGre:
    """Bristles of mean deflection z [m].

        g(v) = F_c + (F_s − F_c) exp(−(v/v_s)²),   ż = v − a z,   a = σ_0 |v|/g(v),   f_f = σ_0 z + σ_1 ż + b v

    Sliding steadily, f_f = g(v) sign(v) + b v. The law has memory and is no increasing function of v. Its observer runs
    on the true speed v and the required speed v_r,

        ẑ̇ = v_r − a ẑ,   f_fr = σ_0 ẑ + σ_1 ẑ̇ + b v_r,   W = ½ σ_0 (ẑ − z)²

    so that with e = v_r − v, ε = ẑ − z: f_fr − f_f = σ_0 ε + σ_1 (e − a ε) + b e, Ẇ = σ_0 ε (e − a ε), and

        part = −(σ_1 + b) e² + σ_1 a e ε − σ_0 a ε²

    a quadratic form that is ≤ 0 for all e, ε exactly when σ_1² a ≤ 4 (σ_1 + b) σ_0, i.e. |v| ≤ 4 (σ_1 + b) g(v)/σ_1².
    """

    F_c: Annotated[float, Unit("N"), "Coulomb friction", positive] = 3000.0
    F_s: Annotated[float, Unit("N"), "breakaway friction", positive] = 4500.0
    v_s: Annotated[float, Unit("m/s"), "Stribeck speed", positive] = 0.03
    b: Annotated[float, Unit("N s/m"), "viscous friction", nonnegative] = 2000.0
    σ_0: Annotated[float, Unit("N/m"), "bristle stiffness", positive] = 1e7
    σ_1: Annotated[float, Unit("N s/m"), "bristle damping", nonnegative] = 4e4

    def __post_init__(self):
        check_bounds(self)

    def states(self, name: str) -> tuple[Signal, ...]:
        return (Signal(f"z_{name}", "m", f"bristle deflection, {name}"),)

    def _loss(self, v):
        """a(v) = σ_0 |v|/g(v), 1/s."""
        return self.σ_0 * np.abs(v) / _stribeck(self, v)

    def rate(self, v, z) -> list:
        return [v - self._loss(v) * z[0]]

    def force(self, v, z):
        return self.σ_0 * z[0] + self.σ_1 * self.rate(v, z)[0] + self.b * v

    def slope(self, v_max):
        """Closed form of steady sliding: g'(v) + b at v > 0, least at v_s/√2 if F_s > F_c; inf, the jump at rest."""
        v, D = min(abs(v_max), self.v_s / sqrt(2)), self.F_s - self.F_c
        fall = max(2 * D * v / self.v_s**2 * exp(-((v / self.v_s) ** 2)), 0.0)
        return self.b - fall - _ROUNDING * fall, inf

    def monotone(self, v_max: float) -> bool:
        """False: with memory, f_f is no function of v, whatever its slope in steady sliding."""
        return False

    def observer(self, v, v_r, z_hat):
        rate = v_r - self._loss(v) * z_hat[0]
        return self.σ_0 * z_hat[0] + self.σ_1 * rate + self.b * v_r, [rate]

    def storage(self, z_hat, z):
        return 0.5 * self.σ_0 * (z_hat[0] - z[0]) ** 2

    def part(self, v, v_r, z, z_hat):
        f_fr, (rate,) = self.observer(v, v_r, z_hat)
        return (-(v_r - v) * (f_fr - self.force(v, z))
                + self.σ_0 * (z_hat[0] - z[0]) * (rate - self.rate(v, z)[0]))

    def power_limit(self) -> float:
        """4 (σ_1 + b) g/σ_1² with g at its least, min(F_c, F_s), m/s."""
        return 4 * (self.σ_1 + self.b) * min(self.F_c, self.F_s) / self.σ_1**2 if self.σ_1 > 0 else inf


Friction = CoulombViscous | Stribeck | LuGre | Frictionless


def _stribeck(law, v):
    """Sliding friction without its sign, F_c + (F_s − F_c) exp(−(v/v_s)²), N."""
    r = v / law.v_s
    return law.F_c + (law.F_s - law.F_c) * np.exp(-(r * r))


def _sort(p, q):
    return np.minimum(p, q), np.maximum(p, q)


def _times(p, q):
    """Product of intervals (low, high), arrays."""
    ends = np.stack([p[0] * q[0], p[0] * q[1], p[1] * q[0], p[1] * q[1]])
    return ends.min(0), ends.max(0)


def _subdivided(within, v_max: float, scale: float, rounds: int = 60) -> tuple[float, float]:
    """Floats (low, high) enclosing the range over [0, v_max] of a function with interval extension `within(l, h)`.

    Starts from parts that grow with v beyond `scale`; those that could still hold an extreme beyond what is attained at
    mid-points are quartered, until the slack is 1e-6 of the range's size. The enclosure is valid whenever it stops.
    """
    knots = np.unique(np.clip(np.concatenate([[0.0], scale * np.geomspace(1e-2, max(v_max / scale, 1e-1), 400)]),
                              0.0, v_max))
    knots = np.unique(np.append(knots, v_max))
    return tuple(sign * _lowest(within, knots, sign, rounds) for sign in (1.0, -1.0))


def _lowest(within, knots, sign, rounds):
    def signed(l, h):
        low, high = within(l, h)
        return (low, high) if sign > 0 else (-high, -low)

    l, h = (knots[:-1], knots[1:]) if len(knots) > 1 else (knots, knots)
    done = attained = np.inf
    for _ in range(rounds):
        low, m = signed(l, h)[0], 0.5 * (l + h)
        attained = min(attained, signed(m, m)[1].min())
        open_ = low < attained - 1e-6 * max(abs(attained), abs(low.min()))
        done = min(done, low[~open_].min(initial=np.inf))
        if not open_.any() or open_.sum() > 20000:
            return float(min(done, low.min()))
        l, h = l[open_], h[open_]
        quarters = [l + (h - l) * k / 4 for k in range(4)] + [h]
        l, h = np.concatenate(quarters[:-1]), np.concatenate(quarters[1:])
    return float(min(done, signed(l, h)[0].min()))
