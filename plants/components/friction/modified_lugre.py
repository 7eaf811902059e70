"""Friction with bristles and a film of fluid that is late."""

from __future__ import annotations

from dataclasses import dataclass
from math import e, inf
from typing import Annotated, final

import numpy as np

from plants.components.friction.bristles import (
    EXPONENT,
    Bristles,
    Damping,
    Stiffness,
    _bell,
    check_bristles,
)
from plants.components.friction.enclosure import subdivided, times, total
from plants.components.friction.static import Breakaway
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, nonnegative, positive
from workbench.contract.system import Signal


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
    F_s: Breakaway = None
    v_s: Annotated[float, Unit("m/s"), "Stribeck speed", positive] = 0.03
    b: Annotated[float, Unit("N s/m"), "viscous friction", nonnegative] = 2000.0
    σ_0: Stiffness = None
    σ_1: Damping = None
    v_b: Annotated[float, Unit("m/s"), "speed from which on the film grows no more", positive] = (
        0.12
    )
    τ_hp: Annotated[float, Unit("s"), "time constant of the film, acceleration", positive] = 0.05
    τ_hn: Annotated[float, Unit("s"), "time constant of the film, deceleration", positive] = 0.5
    τ_h0: Annotated[float, Unit("s"), "time constant of the film, dwell", positive] = 20.0
    width: Annotated[float, Unit("m/s"), "speed w below which the cylinder dwells", positive] = 1e-4
    n: Annotated[float, Unit("1"), "exponent of the Stribeck curve", EXPONENT] = 2.0

    def __post_init__(self):
        check_bristles(self)
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
            self.deflection(name),
            Signal(f"h_{name}", "1", f"film thickness, {name}", "friction"),
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
        τ_M = np.maximum(self.τ_hp, self.τ_hn)
        n = self.n
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
        w = self.width
        n = self.n
        D = self.F_s - self.F_c
        s_b = self._speed(self.v_b)
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
        thick = times((-ds[1] / s_b, -ds[0] / s_b), E)
        thin = times(left, dE)
        return total((self.b, self.b), tuple(D * x for x in thick), tuple(D * x for x in thin))

    def power_limit(self) -> float:
        """Half of LuGre's limit; the other half pays for films that differ."""
        return self.quadratic_limit() / 2

    def domain(self, z) -> list:
        """Room of |z| below 1.005 F_s/σ_0, m."""
        return [1.005 * self.F_s / self.σ_0 - np.abs(z[0])]
