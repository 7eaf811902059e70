"""Friction laws with memory: bristles that bend and slip, and a film of oil between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import e, exp, inf
from typing import Annotated, final

import numpy as np

from plants.components.friction.enclosure import ROUNDING, subdivided, times, total
from plants.components.friction.static import check_stribeck
from workbench.contract.errors import InputError
from workbench.contract.parameters import Bound, Unit, nonnegative, positive
from workbench.contract.system import Signal


class Bristles(ABC):
    """Bristles of mean deflection z [m], the first of the states; further ones in what follows are a film's.

        ż = v − a z,   a = σ_0 |v|/g,   f_f = σ_0 z + σ_1 ż + b v                                (25), (27), (28), (34)

    Sliding steadily, f_f = g sign(v) + b v. The law has memory and is no increasing function of v. Its observer runs on the
    true speed v and the required speed v_r, everything else (a, the film) as in the law itself at the observed states,

        ẑ̇ = v_r − a ẑ,   f_fr = σ_0 ẑ + σ_1 ẑ̇ + b v_r,   W = ½ σ_0 (ẑ − z)² + ½ Σ k_i (ĥ_i − h_i)²

    The bristles store ½ σ_0 z²; with that, f_f v − d/dt ½ σ_0 z² = (σ_1 + b) v² − σ_1 a z v + σ_0 a z² is lost.
    """

    F_c: float
    F_s: float
    b: float
    σ_0: float
    σ_1: float

    @abstractmethod
    def grip(self, v, z):
        """g [N]."""

    @abstractmethod
    def film(self, v, z) -> list:
        """Rates of the states behind z."""

    @abstractmethod
    def film_after(self, T, v, z) -> list:
        """The same states T seconds later at constant speed."""

    @abstractmethod
    def film_settled(self, v) -> list:
        """The same states after long at v."""

    @abstractmethod
    def film_weights(self) -> list:
        """k_i [J] in W."""

    def slip(self, v, z):
        """a = σ_0 |v|/g, 1/s."""
        return self.σ_0 * np.abs(v) / self.grip(v, z)

    def rate(self, v, z) -> list:
        return [v - self.slip(v, z) * z[0], *self.film(v, z)]

    def force(self, v, z):
        return self.σ_0 * z[0] + self.σ_1 * self.rate(v, z)[0] + self.b * v

    def steady(self, v):
        return self.grip(v, [0.0, *self.film_settled(v)]) * np.sign(v) + self.b * v

    def monotone(self, v_max: float) -> bool:
        """False: with memory, f_f is no function of v, whatever its slope in steady sliding."""
        return False

    def stiff(self, name: str) -> tuple[str, ...]:
        return (f"z_{name}",)

    def after(self, T, v, z, rates) -> list:
        """z + ż (1 − e^{−aT})/a, exact for constant speeds as long as a is constant, and the film, exact for constant speed."""
        return [z[0] + rates[0] * T * _mean(self.slip(v, z) * T), *self.film_after(T, v, z)]

    def stored(self, z):
        return 0.5 * self.σ_0 * z[0] * z[0]

    def loss(self, v, z):
        return self.force(v, z) * v - self.σ_0 * z[0] * self.rate(v, z)[0]

    def observer(self, v, v_r, z_hat):
        rate = v_r - self.slip(v, z_hat) * z_hat[0]
        return self.σ_0 * z_hat[0] + self.σ_1 * rate + self.b * v_r, [rate, *self.film(v, z_hat)]

    def strain(self, z_hat, z) -> list:
        return [k * (a - b) for k, a, b in zip([self.σ_0, *self.film_weights()], z_hat, z)]

    def storage(self, z_hat, z):
        return 0.5 * sum(s * (a - b) for s, a, b in zip(self.strain(z_hat, z), z_hat, z))

    def part(self, v, v_r, z, z_hat):
        f_fr, rates = self.observer(v, v_r, z_hat)
        return -(v_r - v) * (f_fr - self.force(v, z)) + sum(
            s * (a - b) for s, a, b in zip(self.strain(z_hat, z), rates, self.rate(v, z))
        )

    def quadratic_limit(self) -> float:
        """4 (σ_1 + b) g/σ_1² with g at its least, F_c, m/s."""
        return 4 * (self.σ_1 + self.b) * self.F_c / self.σ_1**2 if self.σ_1 > 0 else inf


def _mean(a):
    """(1 − e^{−a})/a, 1 at a = 0."""
    return np.where(a > 1e-8, (1 - np.exp(-a)) / np.maximum(a, 1e-8), 1 - a / 2)


def _bell(r, n):
    """exp(−|r|^n), with a derivative by n at r = 0."""
    return np.exp(-(np.maximum(np.abs(r), 1e-100) ** n))


EXPONENT = Bound(low=1.0, words="1 or greater")


@final
@dataclass(frozen=True)
class LuGre(Bristles):
    """Bristles as in `Bristles`, with a grip that falls with speed:

        g(v) = F_c + (F_s − F_c) exp(−|v/v_s|^n),   σ_1 constant                                              (25)–(27)

    In the ledger, with e = v_r − v, ε = ẑ − z: f_fr − f_f = σ_0 ε + σ_1 (e − a ε) + b e, Ẇ = σ_0 ε (e − a ε), and

        part = −(σ_1 + b) e² + σ_1 a e ε − σ_0 a ε²

    a quadratic form that is ≤ 0 for all e, ε exactly when σ_1² a ≤ 4 (σ_1 + b) σ_0, i.e. |v| ≤ 4 (σ_1 + b) g(v)/σ_1². The
    power lost in the bristles is the same form with v and z: up to that speed, and not beyond, friction only takes power.

    Source: [Canudas95]; [Jaiswal21] eqs (25)–(27), b is its σ_2.
    """

    F_c: Annotated[float, Unit("N"), "Coulomb friction", positive] = 3000.0
    F_s: Annotated[float, Unit("N"), "breakaway friction", positive] = 4500.0
    v_s: Annotated[float, Unit("m/s"), "Stribeck speed", positive] = 0.03
    b: Annotated[float, Unit("N s/m"), "viscous friction", nonnegative] = 2000.0
    σ_0: Annotated[float, Unit("N/m"), "bristle stiffness", positive] = 1e7
    σ_1: Annotated[float, Unit("N s/m"), "bristle damping", nonnegative] = 4e4
    n: Annotated[float, Unit("1"), "exponent of the Stribeck curve", EXPONENT] = 2.0

    def __post_init__(self):
        check_stribeck(self)

    def states(self, name: str) -> tuple[Signal, ...]:
        return (Signal(f"z_{name}", "m", f"bristle deflection, {name}"),)

    def grip(self, v, z=()):
        return self.F_c + (self.F_s - self.F_c) * _bell(v / self.v_s, self.n)

    def film(self, v, z):
        return []

    def film_after(self, T, v, z):
        return []

    def film_settled(self, v):
        return []

    def film_weights(self):
        return []

    def guards(self, v, z):
        return [v]  # a z has a kink where the bristles are bent and the speed turns

    def slope(self, v_max):
        """Closed form of steady sliding: g'(v) + b at v > 0, least at v_s ((n − 1)/n)^{1/n}; inf, the jump at rest."""
        n, top = self.n, ((self.n - 1) / self.n) ** (1 / self.n)
        r = min(abs(v_max) / self.v_s, top) if n > 1 else 0.0
        fall = (
            (self.F_s - self.F_c) * n / self.v_s * (r ** (n - 1) if n > 1 else 1.0) * exp(-(r**n))
        )
        return self.b - fall - ROUNDING * (fall + self.b), inf

    def power_limit(self) -> float:
        return self.quadratic_limit()

    def domain(self, z) -> list:
        return []


@final
@dataclass(frozen=True)
class ModifiedLuGre(Bristles):
    """Bristles as in `Bristles` in a film of oil, whose thickness h (of no unit, 0 … 1 − F_c/F_s) follows the speed slowly:

        g(v, h) = F_c + ((1 − h) F_s − F_c) exp(−|v/v_s|^n)                                                   (28), (29)
        ḣ       = (h_ss − h)/τ_h,   h_ss = K_f |v|^⅔ up to v_b, and constant beyond; h_ss(v_b) = 1 − F_c/F_s      (30), (32), (33)
        τ_h     = τ_hp when h ≤ h_ss (acceleration), τ_hn when h > h_ss (deceleration), τ_h0 at rest              (31)

    So friction lags behind the speed, and after a dwell breakaway is harder. |v| = 0 is never met in a simulation and |v|^⅔ has
    no slope there; both are smoothed over the speed w (`width`), below which the cylinder counts as dwelling:

        1/τ_h = μ/τ_hp|hn + (1 − μ)/τ_h0,   |v|^⅔ → |v|^⅔ μ^⅔,   μ = v²/(v² + w²)

    off by (2/3)(w/v)² at speeds well above w, and as printed for w → 0. h never leaves 0 … 1 − F_c/F_s, so F_c ≤ g ≤ F_s and
    |z| ≤ F_s/σ_0 is never left either. (Where an offset puts h above, g counts the bracket as 0.)

    In the ledger, the film of the observer runs on the true speed. With e, ε as for LuGre, η = ĥ − h, â and ĝ at ĥ,

        part = −(σ_1 + b) e² + σ_1 â e ε − σ_0 â ε² + δ (σ_1 e − σ_0 ε) + k_h η (ĥ̇ − ḣ),    δ = σ_0 |v| (1/ĝ − 1/g) z

    With equal films, η = 0, it is LuGre's form with its limit L = 4 (σ_1 + b) F_c/σ_1². Else δ stays, and without the last term
    the part takes either sign: a film observed wrongly needs its own storage. Up to |v| = L/2,

        form ≤ −(1 − √½)((σ_1 + b) e² + σ_0 â ε²),   |δ| ≤ |v| F_s² E |η|/(g ĝ) where |z| ≤ F_s/σ_0,   E = exp(−|v/v_s|^n)
        η (ĥ̇ − ḣ) ≤ −r η²,  r = μ/τ_M + (1 − μ)/τ_h0,  τ_M = max(τ_hp, τ_hn):  films forget their difference

    and part ≤ 0 for k_h ≥ 3/(4 − √8) F_s⁴/F_c³ sup |v| E²/r, where |v| E² ≤ v_s (2 n e)^{−1/n} and
    |v|/r ≤ τ_M |v| + w √(τ_M max(τ_M, τ_h0)). (2.6 stands for 2.561 in the code, so |z| may be 0.5 % above.)

    Source: [Jaiswal21] eqs (28)–(34), b is its σ_2; the law is from [Yanada08]. Its part in the ledger is ours.
    """

    F_c: Annotated[float, Unit("N"), "Coulomb friction", positive] = 3000.0
    F_s: Annotated[float, Unit("N"), "breakaway friction", positive] = 4500.0
    v_s: Annotated[float, Unit("m/s"), "Stribeck speed", positive] = 0.03
    b: Annotated[float, Unit("N s/m"), "viscous friction", nonnegative] = 2000.0
    σ_0: Annotated[float, Unit("N/m"), "bristle stiffness", positive] = 1e7
    σ_1: Annotated[float, Unit("N s/m"), "bristle damping", nonnegative] = 4e4
    v_b: Annotated[float, Unit("m/s"), "speed from which on the film grows no more", positive] = (
        0.12
    )
    τ_hp: Annotated[float, Unit("s"), "time constant of the film, acceleration", positive] = 0.05
    τ_hn: Annotated[float, Unit("s"), "time constant of the film, deceleration", positive] = 0.5
    τ_h0: Annotated[float, Unit("s"), "time constant of the film, dwell", positive] = 20.0
    width: Annotated[float, Unit("m/s"), "speed w below which the cylinder dwells", positive] = 1e-4
    n: Annotated[float, Unit("1"), "exponent of the Stribeck curve", EXPONENT] = 2.0

    def __post_init__(self):
        check_stribeck(self)
        if self.v_b < self.v_s:
            raise InputError(
                f"v_b: the film stops growing at {self.v_b:g} m/s, which must not be below v_s = {self.v_s:g} m/s"
            )
        if self.width >= self.v_s:
            raise InputError(
                f"width: the cylinder dwells below {self.width:g} m/s, which must be below v_s = {self.v_s:g} m/s"
            )

    def states(self, name: str) -> tuple[Signal, ...]:
        return (
            Signal(f"z_{name}", "m", f"bristle deflection, {name}"),
            Signal(f"h_{name}", "1", f"film thickness, {name}"),
        )

    def grip(self, v, z):
        bracket = np.maximum((1.0 - z[1]) * self.F_s - self.F_c, 0.0)
        return self.F_c + bracket * _bell(v / self.v_s, self.n)

    def _speed(self, v):
        """|v|^⅔ μ^⅔ = v²/(v² + w²)^⅔."""
        return v * v / (v * v + self.width * self.width) ** (2.0 / 3.0)

    def film_settled(self, v):
        return [
            (1.0 - self.F_c / self.F_s) * np.minimum(self._speed(v) / self._speed(self.v_b), 1.0)
        ]

    def film_decays(self, v) -> tuple:
        """1/τ_h while the film grows, and while it shrinks, 1/s."""
        μ = v * v / (v * v + self.width * self.width)
        return μ / self.τ_hp + (1.0 - μ) / self.τ_h0, μ / self.τ_hn + (1.0 - μ) / self.τ_h0

    def _missing(self, v, z) -> tuple:
        """(h_ss − h while the film grows, h − h_ss while it shrinks), not both."""
        gap = self.film_settled(v)[0] - z[1]
        return np.maximum(gap, 0.0), np.maximum(-gap, 0.0)

    def film(self, v, z):
        (grows, shrinks), (up, down) = self._missing(v, z), self.film_decays(v)
        return [grows * up - shrinks * down]

    def film_after(self, T, v, z):
        (grows, shrinks), (up, down) = self._missing(v, z), self.film_decays(v)
        return [z[1] + grows * (1 - np.exp(-up * T)) - shrinks * (1 - np.exp(-down * T))]

    def film_weights(self):
        τ_M, n = np.maximum(self.τ_hp, self.τ_hn), self.n
        reach = τ_M * self.v_s * (2 * n * e) ** (-1 / n) + self.width * np.sqrt(
            τ_M * np.maximum(τ_M, self.τ_h0)
        )
        return [2.6 * self.F_s**4 / self.F_c**3 * reach]

    def guards(self, v, z):
        return [v, np.abs(v) - self.v_b, z[1] - self.film_settled(v)[0]]

    def slope(self, v_max):
        """Steady sliding: g = F_c + (F_s − F_c)(1 − s/s_b) E up to v_b, by interval arithmetic on −s'/s_b E + (1 − s/s_b) E'."""
        low, _ = subdivided(
            self._slope_within, min(abs(v_max), self.v_b), min(self.width, self.v_s)
        )
        return min(low, self.b), inf

    def _slope_within(self, l, h):
        w, n, D, s_b = self.width, self.n, self.F_s - self.F_c, self._speed(self.v_b)
        E = np.exp(-((h / self.v_s) ** n)), np.exp(-((l / self.v_s) ** n))
        dE = tuple(-n / self.v_s * (x / self.v_s) ** (n - 1) * y for x, y in ((h, E[1]), (l, E[0])))
        ds = (
            2 * l * (l * l / 3 + w * w) / (h * h + w * w) ** (5 / 3),
            2 * h * (h * h / 3 + w * w) / (l * l + w * w) ** (5 / 3),
        )
        left = (
            np.maximum(1 - self._speed(h) / s_b - 1e-15, 0.0),
            np.minimum(1 - self._speed(l) / s_b + 1e-15, 1.0),
        )
        thick, thin = times((-ds[1] / s_b, -ds[0] / s_b), E), times(left, dE)
        return total((self.b, self.b), tuple(D * x for x in thick), tuple(D * x for x in thin))

    def power_limit(self) -> float:
        """Half of LuGre's limit; the other half pays for films that differ."""
        return self.quadratic_limit() / 2

    def domain(self, z) -> list:
        """Room of |z| below 1.005 F_s/σ_0, m."""
        return [1.005 * self.F_s / self.σ_0 - np.abs(z[0])]
