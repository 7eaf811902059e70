"""A double-acting cylinder behind a throttle, a directional valve with a lagging spool, a pump and a tank: three volumes of oil.

    ṗ_1 = B_e1/V_1 (Q_d1 − Q_t)            V_1 = V_h1                          valve to throttle
    ṗ_2 = B_e2/V_2 (Q_t − A_2 ṡ)           V_2 = V_h2 + A_2 l_2                throttle to piston           (43), (44)
    ṗ_3 = B_e3/V_3 (A_3 ṡ − Q_3d)          V_3 = V_h3 + A_3 l_3                rod side to valve
    U̇   = (sat(U_ref) − U)/τ,   sat to ±U_max                                                               (18)
    Q_t  = C_vt v(p_1 − p_2),   C_vt = C_d A_t √(2/ρ)                                                       (15), (16)
    Q_d1 = C_vd U v(U ≥ 0: p_P − p_1, else p_1 − p_T)                                                       (17)
    Q_3d = C_vd U v(U ≥ 0: p_3 − p_T, else p_P − p_3),   C_vd = Q_n/(U_max √Δp_n)
    F_c  = A_2 p_2 − A_3 p_3 − F_μ(ṡ)                                                                       (20)

    v(Δp) = Δp/√max(|Δp|, p_l): the root, linear (laminar) below p_l
    V_k/B_ek = V_k/B_oil + V_hk/B_h + A_k l_k/B_c                                                           (14)
    l_2 = l_20 + s − s_0,   l_3 = l_30 − s + s_0

with s the distance of the pins; (44) as printed has the signs of s the other way round, against (43). l_2 ≥ l_2min and
l_3 ≥ l_3min: chambers may be longer than the stroke.

The oil stores ½ Σ (V_k/B_ek) p_k². A chamber that grows by A_k ṡ takes over oil and wall that are under pressure already:
½ A_k ṡ (1/B_oil + 1/B_c) p_k² comes with it (`carried`), about 0.1 % of the power p_k A_k ṡ.

Source: [Jaiswal21] eqs (13)–(20), (43)–(45).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Annotated, ClassVar, NamedTuple, final

import numpy as np

from plants.components.friction import BrownMcPhee, Friction
from plants.drives.contract import Drive, Sizes, spool_limit
from workbench.contract.errors import InputError
from workbench.contract.machine_limits import chamber_limits
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive
from workbench.contract.system import Signal

KEPT = 4  # states ahead of those of the friction law


class Flows(NamedTuple):
    """Q_d1, Q_t, Q_3d [m³/s] and the pressure drops [Pa] over the valve's two edges."""

    in_1: object
    throttle: object
    out_3: object
    drop_1: object
    drop_3: object


@final
@dataclass(frozen=True)
class ThrottledCircuit(Drive):
    """Equations in the module's docstring; states p_1, p_2, p_3 [Pa], U [V] and those of the friction law, input U_ref [V].

    A drive (`plants.drives.contract`) with a pump of its own: it may stand between any two points s apart, or on a sliding joint
    at the position s. Raises ValueError for numbers out of their bounds, InputError for a start outside the stroke or one that
    needs a negative pressure. There are no end stops: pressures leave all bounds where a volume vanishes.
    """

    equal_steps: ClassVar[bool] = True
    name: str = "cylinder"
    p_P: Annotated[float, Unit("Pa"), "pressure of the pump", positive] = 7.6e6
    p_T: Annotated[float, Unit("Pa"), "pressure of the tank", nonnegative] = 0.1e6
    p_30: Annotated[float, Unit("Pa"), "pressure p_3 at the start", nonnegative] = 3.5e6
    B_oil: Annotated[float, Unit("Pa"), "bulk modulus of the oil", positive] = 1500e6
    B_h: Annotated[float, Unit("Pa"), "bulk modulus of the hoses", positive] = 150e6
    B_c: Annotated[float, Unit("Pa"), "bulk modulus of the cylinder", positive] = 31500e6
    V_h1: Annotated[float, Unit("m^3"), "volume from valve to throttle", positive] = 4.71e-5
    V_h2: Annotated[float, Unit("m^3"), "hose from throttle to piston", nonnegative] = 3.14e-5
    V_h3: Annotated[float, Unit("m^3"), "hose from rod side to valve", nonnegative] = 7.85e-5
    bore: Annotated[float, Unit("m"), "diameter of the piston", positive] = 0.080
    rod: Annotated[float, Unit("m"), "diameter of the rod", nonnegative] = 0.035
    s_0: Annotated[
        float, Unit("m"), "distance of the pins at which l_20 and l_30 are given", positive
    ] = 3**0.5
    l_20: Annotated[float, Unit("m"), "length of the chamber at the piston", nonnegative] = 0.5
    l_30: Annotated[float, Unit("m"), "length of the chamber at the rod", nonnegative] = 0.5
    Q_n: Annotated[
        float, Unit("m^3/s"), "nominal flow of the valve, at U_max and Δp_n an edge", positive
    ] = 24e-3 / 60
    Δp_n: Annotated[float, Unit("Pa"), "pressure drop of an edge at the nominal flow", positive] = (
        35e5
    )
    U_max: Annotated[float, Unit("V"), "voltage of the full opening", positive] = 10.0
    τ: Annotated[float, Unit("s"), "time constant of the spool", positive] = 1 / (70 * pi)
    d_t: Annotated[float, Unit("m"), "diameter of the throttle", positive] = 6e-3
    C_d: Annotated[float, Unit("1"), "discharge coefficient of the throttle", positive] = 0.8
    ρ: Annotated[float, Unit("kg/m^3"), "density of the oil", positive] = 850.0
    p_l: Annotated[float, Unit("Pa"), "pressure drop below which flow is laminar", positive] = 2e5
    friction: Friction = BrownMcPhee(F_c=210.0, F_s=300.0, v_s=5e-3, b=330.0)
    l_2min: Annotated[
        float, Unit("m"), "length of the chamber at the piston, rod retracted", nonnegative
    ] = 0.0
    l_3min: Annotated[
        float, Unit("m"), "length of the chamber at the rod, rod extended", nonnegative
    ] = 0.0

    def __post_init__(self):
        check_bounds(self)
        self._check_chambers()
        if self.rod >= self.bore:
            raise InputError(f"rod: {self.rod} m is not thinner than the bore, {self.bore} m")
        if self.p_P <= self.p_T:
            raise InputError(
                f"p_P: the pump's {self.p_P / 1e5:g} bar are not above the tank's {self.p_T / 1e5:g} bar"
            )

    def _check_chambers(self) -> None:
        chambers = (
            (2, "piston", self.l_20, self.l_2min, self.V_h2),
            (3, "rod", self.l_30, self.l_3min, self.V_h3),
        )
        for k, where, l_0, least, hose in chambers:
            if l_0 < least:
                raise InputError(
                    f"l_{k}0: {l_0:g} m at s_0 is shorter than l_{k}min = {least:g} m, the shortest the chamber at the "
                    f"{where} can be",
                    key=f"l_{k}0",
                    mend="give the length of the chamber at s_0, its part beyond the stroke included",
                )
            if hose == 0.0 and least == 0.0:
                raise InputError(
                    f"V_h{k}: without a hose and with l_{k}min = 0 the volume at the {where} vanishes at the end of the "
                    "stroke, and its pressure leaves all bounds",
                    key=f"V_h{k}",
                    mend=f"give V_h{k} or l_{k}min more than zero",
                )
        if self.stroke <= 0.0:
            raise InputError(
                f"l_20: the chambers, {self.l_20:g} and {self.l_30:g} m long, leave no stroke",
                key="l_20",
                mend="give chambers longer than l_2min and l_3min",
            )

    def check_pins(self, owner: str) -> None:
        """ValueError, for the part `owner` of the plant, where the retracted cylinder is longer than its pins come together.

        On a sliding joint it has no pins.
        """
        shortest, _ = self.range
        if shortest < self.stroke:
            raise InputError(
                f"{owner}.l_20: retracted, the pins are {shortest:.4g} m apart, less than the stroke, {self.stroke:.4g} m",
                mend="where the chambers are longer than the stroke, give their lengths at its ends, l_2min and l_3min; "
                "else change s_0, l_20 or l_30",
            )

    # ---- constants --------------------------------------------------------------------------------------------------
    @property
    def A_2(self):
        """Area of the piston, m²."""
        return pi / 4 * self.bore**2

    @property
    def A_3(self):
        """Area of the annulus, m²."""
        return pi / 4 * (self.bore**2 - self.rod**2)

    @property
    def C_vd(self):
        """Flow constant of the valve, m³/(s V √Pa) (17)."""
        return self.Q_n / (self.U_max * self.Δp_n**0.5)

    @property
    def C_vt(self):
        """Flow constant of the throttle (16), m³/(s √Pa)."""
        return self.C_d * pi / 4 * self.d_t**2 * (2.0 / self.ρ) ** 0.5

    @property
    def limit(self):
        """Largest U_ref, both ways, V."""
        return self.U_max

    @property
    def range(self):
        """Shortest and longest distance of the pins, m."""
        return self.s_0 - self.l_20 + self.l_2min, self.s_0 + self.l_30 - self.l_3min

    @property
    def stroke(self):
        """Way of the piston, m."""
        return self.l_20 + self.l_30 - self.l_2min - self.l_3min

    def bears(self, line=None):
        """Least and greatest force at rest, N: one side at the pump's pressure, the other at the tank's."""
        return self.A_2 * self.p_T - self.A_3 * self.p_P, self.A_2 * self.p_P - self.A_3 * self.p_T

    def bears_by(self, line=None) -> str:
        return f"{self.p_T / 1e5:g} and {self.p_P / 1e5:g} bar"

    @property
    def velocity_gain(self):
        """ṡ per volt while the cylinder is held by no force, extending and retracting averaged, m/(s V)."""
        r, drop = self.A_3 / self.A_2, (self.p_P - self.p_T) ** 0.5
        return 0.5 * self.C_vd * drop / self.A_2 * (1.0 + r**0.5) / (1.0 + r**3) ** 0.5

    def velocity_gain_on(self, line):
        return self.velocity_gain

    def sizes(self, line=None) -> Sizes:
        """Its scales, by its own pump."""
        return Sizes(
            self.p_P,
            "pressure of the pump",
            self.p_P * self.A_2 * self.stroke,
            self.p_P * self.A_3,
            self.stroke,
            self.velocity_gain * self.limit,
        )

    def pressures(self, label: str = "") -> tuple[str, ...]:
        return tuple(_named(f"p_{k}", label) for k in (1, 2, 3))

    def machine_limits(self, label: str, key: str):
        spool = spool_limit(label, _named("U", label), self.limit, f"{key}.U_max")
        return (*chamber_limits(self.pressures(label), 0.0), spool)

    # ---- signals ----------------------------------------------------------------------------------------------------
    def states(self, label: str = "") -> tuple[Signal, ...]:
        of = f", {label}" if label else ""
        return (
            *(
                Signal(_named(f"p_{k}", label), "Pa", f"pressure {where}{of}")
                for k, where in (
                    (1, "before the throttle"),
                    (2, "at the piston"),
                    (3, "at the rod"),
                )
            ),
            Signal(_named("U", label), "V", f"spool{of}"),
            *self.friction.states(label or "c"),
        )

    def inputs(self, label: str = "") -> tuple[Signal, ...]:
        return (
            Signal(
                _named("U_ref", label),
                "V",
                "reference of the spool" + (f", {label}" if label else ""),
            ),
        )

    def power_names(self, label: str = "") -> tuple[str, ...]:
        """Pump and tank, what valve, throttle and friction take, and what comes with growing chambers."""
        return tuple(
            _named(name, label)
            for name in ("pump", "tank", "valve", "throttle", "friction", "carried")
        )

    # ---- equations --------------------------------------------------------------------------------------------------
    def laminar_root(self, dp):
        """v(Δp), √Pa."""
        return dp / np.sqrt(np.maximum(np.abs(dp), self.p_l))

    def flows(self, x) -> Flows:
        p_1, p_2, p_3, U = x[:KEPT]
        drop_1 = np.where(U >= 0, self.p_P - p_1, p_1 - self.p_T)
        drop_3 = np.where(U >= 0, p_3 - self.p_T, self.p_P - p_3)
        opening = self.C_vd * U
        return Flows(
            opening * self.laminar_root(drop_1),
            self.C_vt * self.laminar_root(p_1 - p_2),
            opening * self.laminar_root(drop_3),
            drop_1,
            drop_3,
        )

    def volumes(self, s):
        """V_1, V_2, V_3 [m³] at a distance s of the pins."""
        return (
            self.V_h1,
            self.V_h2 + self.A_2 * (self.l_20 + s - self.s_0),
            self.V_h3 + self.A_3 * (self.l_30 - s + self.s_0),
        )

    def compliances(self, s):
        """V_k/B_ek [m³/Pa] (14)."""
        hose = 1.0 / self.B_oil + 1.0 / self.B_h
        tube = 1.0 / self.B_oil + 1.0 / self.B_c
        return (
            self.V_h1 * hose,
            self.V_h2 * hose + self.A_2 * (self.l_20 + s - self.s_0) * tube,
            self.V_h3 * hose + self.A_3 * (self.l_30 - s + self.s_0) * tube,
        )

    def rates(self, x, s, sdot, u, line=None) -> list:
        """ẋ of the circuit's states, with u = [U_ref]."""
        Q, (K_1, K_2, K_3) = self.flows(x), self.compliances(s)
        return [
            (Q.in_1 - Q.throttle) / K_1,
            (Q.throttle - self.A_2 * sdot) / K_2,
            (self.A_3 * sdot - Q.out_3) / K_3,
            (np.clip(u[0], -self.U_max, self.U_max) - x[3]) / self.τ,
            *self.friction.rate(sdot, x[KEPT:]),
        ]

    def rubbing(self, x, sdot):
        """F_μ [N], opposing ṡ."""
        return self.friction.force(sdot, x[KEPT:])

    def force(self, x, s, sdot, u=(), line=None):
        """F_c [N] along the extension."""
        return self.A_2 * x[1] - self.A_3 * x[2] - self.rubbing(x, sdot)

    def initial(self, s: float, force: float, line=None) -> list:
        """States at rest at s that carry `force`: p_1 = p_2, p_3 = p_30, spool closed, no friction."""
        low, high = self.range
        if not low <= s <= high:
            raise InputError(
                f"the cylinder reaches from {low:.4g} m to {high:.4g} m, and the start is at s = {s:.4g} m "
                "(s: the distance of its pins, or the position of the joint it is on)",
                mend="start elsewhere, change s_0 (where l_20 and l_30 are given), l_20 or l_30, or move the pins",
            )
        p_2 = (force + self.A_3 * self.p_30) / self.A_2
        if p_2 < 0:
            raise InputError(
                f"to hold {force:.4g} N with p_30 = {self.p_30:.4g} Pa takes p_2 = {p_2:.4g} Pa",
                mend="raise p_30 or the bore",
            )
        return [p_2, p_2, self.p_30, 0.0, *[0.0] * len(self.friction.states("c"))]

    # ---- energy -----------------------------------------------------------------------------------------------------
    def stored(self, x, s):
        """Energy of compressed oil and bent bristles, J."""
        return 0.5 * sum(K * p * p for K, p in zip(self.compliances(s), x)) + self.friction.stored(
            x[KEPT:]
        )

    def powers(self, x, s, sdot, u, line=None) -> list:
        """W, by `power_names`; their sum is d(stored)/dt + F_c ṡ."""
        p_1, p_2, p_3, U = x[:KEPT]
        Q = self.flows(x)
        pump, tank = np.where(U >= 0, Q.in_1, -Q.out_3), np.where(U >= 0, Q.out_3, -Q.in_1)
        lost = np.where(U >= 0, 1.0, -1.0) * (Q.drop_1 * Q.in_1 + Q.drop_3 * Q.out_3)
        tube = 0.5 * (1.0 / self.B_oil + 1.0 / self.B_c) * sdot
        return [
            self.p_P * pump,
            -self.p_T * tank,
            -lost,
            -(p_1 - p_2) * Q.throttle,
            -self.friction.loss(sdot, x[KEPT:]),
            tube * (self.A_2 * p_2 * p_2 - self.A_3 * p_3 * p_3),
        ]


def _named(name: str, label: str) -> str:
    return f"{name}_{label}" if label else name
