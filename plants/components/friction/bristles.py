"""Friction laws with memory: bristles that bend and slip, and a film of oil between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import exp, inf
from typing import Annotated, final

import numpy as np

from plants.components.friction.enclosure import ROUNDING
from plants.components.friction.static import Breakaway, check_stribeck, follow
from workbench.contract.described import described
from workbench.contract.parameters import Bound, Unit, nonnegative, positive
from workbench.contract.system import Signal

BREAKS_AT = 0.45e-3  # m, how far bristles are bent where they break away
YIELDS_IN = 4e-3  # s, σ_1/σ_0
Stiffness = Annotated[
    float | None,
    Unit("N/m"),
    f"bristle stiffness; left out: F_s/{BREAKS_AT * 1e3:g} mm",
    positive,
]
Damping = Annotated[
    float | None,
    Unit("N s/m"),
    f"bristle damping; left out: {YIELDS_IN * 1e3:g} ms × σ_0",
    nonnegative,
]


def check_bristles(law) -> None:
    """As `check_stribeck`; numbers of bristles that were left out follow the breakaway friction."""
    check_stribeck(law)
    follow(law, σ_0=law.F_s / BREAKS_AT)
    follow(law, σ_1=YIELDS_IN * law.σ_0)


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

    def deflection(self, name: str) -> Signal:
        """z, in the unit whose rate v_s has."""
        speed = described(self)["v_s"]
        unit = speed.unit.removesuffix("/s") if speed else ""
        return Signal(f"z_{name}", unit, f"bristle deflection, {name}", "friction")

    @abstractmethod
    def grip(self, v, z):
        """g [N]."""

    @abstractmethod
    def film(self, v, z) -> list:
        """Rates of the states that follow z."""

    @abstractmethod
    def film_after(self, T, v, z) -> list:
        """The states that follow z, T seconds later at constant speed."""

    @abstractmethod
    def film_settled(self, v) -> list:
        """States of bristles and oil film once the velocity has been v for long."""

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

    F_s, σ_0 and σ_1 go with the load on the seal. Left out they follow F_c: F_s = 1.5 F_c, the bristles break away at
    F_s/σ_0 = 0.45 mm, and σ_1/σ_0 = 4 ms ([Canudas95] has 0.015 mm and 3.2 ms, [Jaiswal21] 0.05 mm and 3.3 ms). A σ_1 that is large
    beside F_c lowers the limit of speed above, beyond which a law that makes up for friction chatters.

    Source: [Canudas95]; [Jaiswal21] eqs (25)–(27), b is its σ_2.
    """

    F_c: Annotated[float, Unit("N"), "Coulomb friction", positive] = 3000.0
    F_s: Breakaway = None
    v_s: Annotated[float, Unit("m/s"), "Stribeck speed", positive] = 0.03
    b: Annotated[float, Unit("N s/m"), "viscous friction", nonnegative] = 2000.0
    σ_0: Stiffness = None
    σ_1: Damping = None
    n: Annotated[float, Unit("1"), "exponent of the Stribeck curve", EXPONENT] = 2.0

    def __post_init__(self):
        check_bristles(self)

    def states(self, name: str) -> tuple[Signal, ...]:
        return (self.deflection(name),)

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
        n = self.n
        top = ((self.n - 1) / self.n) ** (1 / self.n)
        r = min(abs(v_max) / self.v_s, top) if n > 1 else 0.0
        fall = (
            (self.F_s - self.F_c) * n / self.v_s * (r ** (n - 1) if n > 1 else 1.0) * exp(-(r**n))
        )
        return self.b - fall - ROUNDING * (fall + self.b), inf

    def power_limit(self) -> float:
        return self.quadratic_limit()

    def domain(self, z) -> list:
        return []
