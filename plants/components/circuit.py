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

from plants.components import sizes
from plants.components.circuit_checks import check_chambers, check_pins, pressure_at_rest
from plants.components.circuit_sizes import CircuitSizes
from plants.components.friction import BrownMcPhee, Friction
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive

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
class ThrottledCircuit(CircuitSizes):
    """A cylinder behind throttle and directional valve, with a pump of its own; equations in `plants.components.circuit`.

    As a drive (`plants.drives.contract`) it acts between two pins at the distance s, or on a sliding joint at the position s.
    Input: U_ref [V]. States: p_1, p_2, p_3 [Pa], U [V] and those of the friction law.

    There are no end stops: pressures grow without bound where a volume vanishes. Raises ValueError for numbers out of their
    bounds, InputError for a start outside the stroke, or one that needs a negative pressure.
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
    bore: Annotated[float, Unit("m"), "diameter of the piston", sizes.length] = 0.080
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
        check_chambers(self)
        if self.rod >= self.bore:
            raise InputError(f"rod: {self.rod:g} m is not thinner than the bore, {self.bore:g} m")
        if self.p_P <= self.p_T:
            raise InputError(
                f"p_P: the pump's {self.p_P / 1e5:g} bar are not above the tank's {self.p_T / 1e5:g} bar"
            )

    def check_pins(self, owner: str) -> None:
        """ValueError, for the part `owner` of the plant, where the retracted cylinder is longer than its pins come together.

        On a sliding joint it has no pins.
        """
        check_pins(self, owner)

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
        p_2 = pressure_at_rest(self, s, force)
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
        pump = np.where(U >= 0, Q.in_1, -Q.out_3)
        tank = np.where(U >= 0, Q.out_3, -Q.in_1)
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
