"""Plants of a user, none of them shipped: a servo cylinder, a cart with a pole, two masses on a shaft, a water column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np

from workbench import Signal, System
from workbench.contract.parameters import Unit, positive


@final
@dataclass(frozen=True)
class Servo(System):
    """Differential cylinder behind a four-way valve with lag, moving a mass on a slide.

        m v̇ = A_a p_a − A_b p_b − b v − F,   ṗ_a = β/V_a (Q_a − A_a v − c (p_a − p_b)),   ṗ_b = β/V_b (−Q_b + A_b v + c (p_a − p_b))
        Q_a = k s √|Δp| sgn Δp with the pressures on the side that s opens;   τ ṡ = u − s

    Source: [Merritt67], with both chambers.
    """

    m: Annotated[float, Unit("kg"), "moved mass", positive] = 140.0
    b: Annotated[float, Unit("N s/m"), "viscous friction"] = 900.0
    A_a: Annotated[float, Unit("m^2"), "piston area", positive] = 1.3e-3
    A_b: Annotated[float, Unit("m^2"), "rod side area", positive] = 0.8e-3
    V: Annotated[float, Unit("m^3"), "volume of a chamber", positive] = 0.7e-3
    β: Annotated[float, Unit("Pa"), "bulk modulus", positive] = 0.9e9
    c: Annotated[float, Unit("m^3/(s Pa)"), "leakage"] = 3e-12
    k: Annotated[float, Unit("m^3/(s V Pa^0.5)"), "valve", positive] = 1.1e-8
    τ: Annotated[float, Unit("s"), "lag of the spool", positive] = 4e-3
    p_s: Annotated[float, Unit("Pa"), "supply", positive] = 120e5
    limit: Annotated[float, Unit("V"), "command range", positive] = 10.0

    states = (
        Signal("y", "m", "position"),
        Signal("v", "m/s", "velocity"),
        Signal("p_a", "Pa", "piston side"),
        Signal("p_b", "Pa", "rod side"),
        Signal("s", "V", "spool"),
    )
    inputs = (Signal("u", "V", "command"), Signal("F", "N", "load, against +y", "disturbance"))
    outputs = (
        Signal("y", "m", "position"),
        Signal("v", "m/s", "velocity"),
        Signal("p_a", "Pa", "piston side"),
        Signal("p_b", "Pa", "rod side"),
    )
    pressure_names = ("p_a", "p_b")

    def limits(self):
        return {"u": (-self.limit, self.limit)}

    def initial(self):
        p_a = 0.5 * self.p_s * 2 * self.A_b / (self.A_a + self.A_b)
        return [0.0, 0.0, p_a, p_a * self.A_a / self.A_b, 0.0]

    def rhs(self, t, x, u):
        _, v, p_a, p_b, s = x
        command, F = u
        root = lambda dp: dp / (dp * dp + 1e6) ** 0.25
        out = np.where(s > 0, s, 0.0)
        back = np.where(s < 0, s, 0.0)
        Q_a = self.k * (out * root(self.p_s - p_a) + back * root(p_a))
        Q_b = self.k * (out * root(p_b) + back * root(self.p_s - p_b))
        leak = self.c * (p_a - p_b)
        command = np.minimum(np.maximum(command, -self.limit), self.limit)
        return [
            v,
            (self.A_a * p_a - self.A_b * p_b - self.b * v - F) / self.m,
            self.β / self.V * (Q_a - self.A_a * v - leak),
            self.β / self.V * (-Q_b + self.A_b * v + leak),
            (command - s) / self.τ,
        ]

    def out(self, t, x):
        return list(x[:4])


@final
@dataclass(frozen=True)
class CartPole(System):
    """A cart pushed by u with a pole on a pivot, φ from upright (`up`) or from hanging.

    (M + m) ẍ + m l (φ̈ cos φ − φ̇² sin φ) = u − b ẋ,   l φ̈ + ẍ cos φ = ± g sin φ − d φ̇
    """

    M: Annotated[float, Unit("kg"), "cart", positive] = 1.7
    m: Annotated[float, Unit("kg"), "bob", positive] = 0.23
    l: Annotated[float, Unit("m"), "pole", positive] = 0.41
    b: Annotated[float, Unit("N s/m"), "friction of the cart"] = 2.1
    d: Annotated[float, Unit("m/s"), "friction of the pivot"] = 0.05
    up: bool = True
    limit: Annotated[float, Unit("N"), "force range", positive] = 40.0

    states = (
        Signal("x", "m", "cart"),
        Signal("φ", "rad", "pole"),
        Signal("dx", "m/s", "cart's rate"),
        Signal("dφ", "rad/s", "pole's rate"),
    )
    inputs = (Signal("u", "N", "force"),)
    outputs = states

    def limits(self):
        return {"u": (-self.limit, self.limit)}

    def initial(self):
        return [0.0, 0.0, 0.0, 0.0]

    def rhs(self, t, x, u):
        _, φ, dx, dφ = x
        force = np.minimum(np.maximum(u[0], -self.limit), self.limit)
        pull = (9.81 if self.up else -9.81) * np.sin(φ) - self.d * dφ
        c = np.cos(φ)
        ddx = (force - self.b * dx + self.m * self.l * dφ * dφ * np.sin(φ) - self.m * c * pull) / (
            self.M + self.m * (1 - c * c)
        )
        return [dx, dφ, ddx, (pull - ddx * c) / self.l]

    def out(self, t, x):
        return list(x)


@final
@dataclass(frozen=True)
class TwoMass(System):
    """A motor turns a load through a shaft: J_1 θ̈_1 = u − k (θ_1 − θ_2) − d (θ̇_1 − θ̇_2) − b θ̇_1, J_2 likewise, without u."""

    J_1: Annotated[float, Unit("kg m^2"), "motor", positive] = 0.02
    J_2: Annotated[float, Unit("kg m^2"), "load", positive] = 0.11
    k: Annotated[float, Unit("N m"), "shaft", positive] = 90.0
    d: Annotated[float, Unit("N m s"), "damping of the shaft"] = 0.02
    b: Annotated[float, Unit("N m s"), "friction of the motor"] = 0.3
    sees: str = "motor"

    states = (
        Signal("θ_1", "rad", "motor"),
        Signal("θ_2", "rad", "load"),
        Signal("dθ_1", "rad/s", "motor's rate"),
        Signal("dθ_2", "rad/s", "load's rate"),
    )
    inputs = (Signal("u", "N m", "torque"),)

    @property
    def outputs(self):
        seen = {"motor": (0, 2), "load": (1, 3), "both": (0, 1, 2, 3)}[self.sees]
        return tuple(self.states[i] for i in seen)

    def initial(self):
        return [0.0, 0.0, 0.0, 0.0]

    def rhs(self, t, x, u):
        a, b, da, db = x
        twist = self.k * (a - b) + self.d * (da - db)
        return [da, db, (u[0] - twist - self.b * da) / self.J_1, twist / self.J_2]

    def out(self, t, x):
        seen = {"motor": (0, 2), "load": (1, 3), "both": (0, 1, 2, 3)}[self.sees]
        return [x[i] for i in seen]


@final
@dataclass(frozen=True)
class Column(System):
    """Two tanks in series: a_1 ḣ_1 = u − c_1 √h_1, a_2 ḣ_2 = c_1 √h_1 − c_2 √h_2; h measured from the bottom."""

    a_1: Annotated[float, Unit("m^2"), "upper tank", positive] = 0.031
    a_2: Annotated[float, Unit("m^2"), "lower tank", positive] = 0.047
    c_1: Annotated[float, Unit("m^2.5/s"), "outlet", positive] = 2.3e-3
    c_2: Annotated[float, Unit("m^2.5/s"), "outlet", positive] = 1.9e-3
    limit: Annotated[float, Unit("m^3/s"), "pump", positive] = 4e-3

    states = outputs = (Signal("h_1", "m", "level"), Signal("h_2", "m", "level"))
    inputs = (Signal("u", "m^3/s", "inflow"),)

    def limits(self):
        return {"u": (0.0, self.limit)}

    def initial(self):
        return [0.0682, 0.1]

    def rhs(self, t, x, u):
        root = lambda h: h / (h * h + 1e-8) ** 0.25
        flow = np.minimum(np.maximum(u[0], 0.0), self.limit)
        first = self.c_1 * root(x[0])
        return [(flow - first) / self.a_1, (first - self.c_2 * root(x[1])) / self.a_2]

    def out(self, t, x):
        return list(x)


@final
@dataclass(frozen=True)
class Play(System):
    """A motor turns a load through teeth with play: T = k w, w what the twist is beyond ± h; the motor has J_1 and b, the load J_2.

    Where the teeth touch they are damped by d.
    """

    h: Annotated[float, Unit("rad"), "half of the play"] = 0.02
    J_1: Annotated[float, Unit("kg m^2"), "motor", positive] = 0.02
    J_2: Annotated[float, Unit("kg m^2"), "load", positive] = 0.11
    k: Annotated[float, Unit("N m"), "teeth", positive] = 90.0
    d: Annotated[float, Unit("N m s"), "damping of the teeth"] = 0.6
    b: Annotated[float, Unit("N m s"), "friction of the motor"] = 0.3

    states = outputs = TwoMass.states
    inputs = (Signal("u", "N m", "torque"),)

    def initial(self):
        return [0.0, 0.0, 0.0, 0.0]

    def rhs(self, t, x, u):
        a, b, da, db = x
        beyond = np.maximum(a - b - self.h, 0.0) + np.minimum(a - b + self.h, 0.0)
        touch = np.tanh((beyond / 1e-3) ** 2)
        torque = self.k * beyond + touch * self.d * (da - db)
        return [da, db, (u[0] - torque - self.b * da) / self.J_1, torque / self.J_2]

    def out(self, t, x):
        return list(x)


@final
@dataclass(frozen=True)
class Counting(System):
    """An axis, ẍ = u − (b + w tanh n) ẋ, with an odometer ṅ = |ẋ|; where w is not 0 the axis wears with what it travels.

    counts: "travel", or "way" for ṅ = ẋ; "encoder": that, and the law sees n in place of x; "shown": an output tells n, too.
    """

    b: Annotated[float, Unit("N s/m"), "viscous friction"] = 2.0
    w: Annotated[float, Unit("N s/m"), "what wear adds to it"] = 0.0

    counts: str = "travel"

    states = (Signal("x", "m", "place"), Signal("v", "m/s", "rate"), Signal("n", "1", "odometer"))
    inputs = (Signal("u", "N", "force"),)

    def initial(self):
        return [0.0, 0.0, 0.0]

    def rhs(self, t, x, u):
        _, v, n = x
        counted = np.sqrt(v * v + 1e-8) if self.counts in ("travel", "shown") else v
        return [v, u[0] - (self.b + self.w * np.tanh(n)) * v, counted]

    @property
    def outputs(self):
        return tuple(self.states[i] for i in self._told)

    def out(self, t, x):
        return [x[i] for i in self._told]

    @property
    def _told(self):
        return {"encoder": (2, 1), "shown": (0, 1, 2)}.get(self.counts, (0, 1))


@final
@dataclass(frozen=True)
class Slide(System):
    """A mass on a slide, m v̇ = u − b v − F_c tanh(v/w)."""

    m: Annotated[float, Unit("kg"), "mass", positive] = 3.7
    b: Annotated[float, Unit("N s/m"), "viscous friction"] = 4.0
    F_c: Annotated[float, Unit("N"), "dry friction"] = 5.0
    w: Annotated[float, Unit("m/s"), "width of its turn", positive] = 5e-3
    limit: Annotated[float, Unit("N"), "force range", positive] = 50.0

    states = outputs = (Signal("x", "m", "position"), Signal("v", "m/s", "velocity"))
    inputs = (Signal("u", "N", "force"),)

    def limits(self):
        return {"u": (-self.limit, self.limit)}

    def initial(self):
        return [0.0, 0.0]

    def rhs(self, t, x, u):
        force = np.minimum(np.maximum(u[0], -self.limit), self.limit)
        return [x[1], (force - self.b * x[1] - self.F_c * np.tanh(x[1] / self.w)) / self.m]

    def out(self, t, x):
        return list(x)
