"""The hydraulics of an integrated electro-hydraulic actuator: all of it but the load. Equations in `plants.ieha.actuator`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from plants.components.chamber import Oil
from plants.components.friction import Friction, Frictionless
from plants.components.micro_valve import Distributor, MicroValve
from plants.components.orifice import root
from plants.components.radial_pump import RadialPump
from plants.components.transition import EndStop
from plants.ieha.delivery import Delivering, Delivery
from plants.ieha.statements import Statements
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive

_LEAK = Unit("m^3/(s Pa)")
Detail = Literal["averaged", "ripple", "full"]
DETAILS = get_args(Detail)
# Error a step may make, in the order of the states; what is left after many steps is larger (benchmarks/ieha.py): of E 2e-9 m,
# and up to some 1e-8 m just after a large step. A run estimates what is left, and `Scenario.accuracy` makes it smaller.
STEP_ERRORS = {
    "E": 1e-10,
    "dE": 1e-5,
    "zeta": 150.0,
    "P_A": 0.1,
    "P_B": 0.1,
    "Y": 1e-9,
    "dY": 2e-8,
    "phi": 1e-9,
    "p": 1000.0,
    "z": 1e-11,
    "h": 1e-7,
}


@dataclass(frozen=True)
class Hydraulics(Delivering, Statements):
    """Parameters and equations. A state x has E, Ė, ζ, P_A, P_B, Y, Ẏ, whatever moves Y, then the pistons' pressures
    and at its end the states of the friction."""

    detail: Detail = "averaged"
    circuit: Literal["open", "closed"] = "closed"
    oil: Oil = Oil(β=800e6, air=1e-6, width=1e3)
    ρ: Annotated[float, Unit("kg/m^3"), "density of the oil", positive] = 840.0
    C_d: Annotated[float, Unit("1"), "discharge coefficient", positive] = 0.62
    δ: Annotated[
        float, Unit("Pa"), "pressure drop over which the ports' roots are regularised", positive
    ] = 1e3
    valve: MicroValve = MicroValve()
    pump: RadialPump = RadialPump()
    distributor: Distributor = Distributor()
    m_e: Annotated[float, Unit("kg"), "mass of the carriage", positive] = 0.091
    S_e: Annotated[float, Unit("m^2"), "area of a carriage chamber", positive] = 1.644e-4
    v_e: Annotated[float, Unit("m^3"), "volume of a carriage chamber", positive] = 0.0822e-6
    b_e: Annotated[float, Unit("N s/m"), "viscous friction of the carriage", nonnegative] = 0.0
    k_e: Annotated[float, _LEAK, "leakage of the carriage", nonnegative] = 1e-12
    stop_E: EndStop = EndStop(0.5e-3)
    S_A: Annotated[float, Unit("m^2"), "area of the cylinder, side A", positive] = 2.356e-4
    S_B: Annotated[float, Unit("m^2"), "area of the cylinder, side B", positive] = 2.356e-4
    V_A0: Annotated[float, Unit("m^3"), "volume of chamber A at Y = 0", positive] = 23.562e-6
    V_B0: Annotated[float, Unit("m^3"), "volume of chamber B at Y = 0", positive] = 23.562e-6
    K_in: Annotated[float, _LEAK, "leakage between the chambers", nonnegative] = 2.75e-13
    K_ex: Annotated[float, _LEAK, "leakage of a chamber to the outside", nonnegative] = 7.5e-14
    P_T: Annotated[float, Unit("Pa"), "return pressure of the open circuit", nonnegative] = 0.0
    b_v: Annotated[float, Unit("N s/m"), "viscous friction of the cylinder", nonnegative] = 375.0
    friction: Friction = Frictionless()  # of the cylinder, besides b_v
    stop_Y: EndStop = EndStop(0.05)

    def __post_init__(self):
        check_bounds(self)
        if self.circuit == "closed" and self.S_A != self.S_B:
            raise InputError(
                f"S_B: a closed circuit needs a symmetric cylinder, S_B = S_A = {self.S_A:g} m²"
            )
        if (
            min(self.V_A0 - self.S_A * self.stop_Y.limit, self.V_B0 - self.S_B * self.stop_Y.limit)
            <= 0
        ):
            raise InputError(
                f"stop_Y: at ±{self.stop_Y.limit:g} m a chamber is empty; shorten the stroke or enlarge V_A0, V_B0"
            )
        if self.stop_E.limit >= self.pump.R_b - self.pump.l_p - self.pump.d:
            raise InputError(
                f"stop_E: at ±{self.stop_E.limit:g} m a piston is at the bottom of its chamber"
            )

    @property
    def velocity_gain(self):
        """Velocity of the load per metre of X, 1/s: the pump's mean flow over the mean of the areas."""
        return self.pump.mean_flow(1.0) / (0.5 * (self.S_A + self.S_B))

    # ---- the equations ----------------------------------------------------------------------------------------------
    def rubbing(self, x):
        """f_f [N] and the states of the friction."""
        z = list(x[len(x) - len(self.friction.states("Y")) :])
        return self.friction.force(x[6], z), z

    def volumes(self, Y):
        """V_A, V_B, m³."""
        return self.V_A0 + self.S_A * Y, self.V_B0 - self.S_B * Y

    def to_tank(self, E, P_A, P_B):
        """What A and B give to the tank of the open circuit, m³/s."""
        ways = self.distributor.ways(E)
        area = self.c * self.pump.A_0
        return ways.B * area * root(P_A - self.P_T, self.δ), ways.A * area * root(
            P_B - self.P_T, self.δ
        )

    def chambers(self, x, Q_A, Q_B):
        """Ṗ_A, Ṗ_B."""
        E, _, _, P_A, P_B, Y, Ydot = x[:7]
        V_A, V_B = self.volumes(Y)
        between = self.K_in * (P_A - P_B)
        out_A = self.S_A * Ydot + between + self.K_ex * P_A
        out_B = -self.S_B * Ydot - between + self.K_ex * P_B
        if self.circuit == "closed":
            return self.oil.β / V_A * (Q_A - Q_B - out_A), self.oil.β / V_B * (Q_B - Q_A - out_B)
        β_A, β_B = (self.oil.stiffness(P + self.oil.p_0) for P in (P_A, P_B))
        tank_A, tank_B = self.to_tank(E, P_A, P_B)
        return β_A / V_A * (Q_A - tank_A - out_A), β_B / V_B * (Q_B - tank_B - out_B)

    def carriage(self, x, X, made: Delivery):
        """Ë and ζ̇ at the position X of the micro-valve."""
        E, Edot, ζ = x[:3]
        Q_e = self.valve.flow(self.c, X - E, ζ)
        push = 2 * self.S_e * ζ + made.F_p - self.b_e * Edot + self.stop_E.force(E, Edot)
        return push / self.m_e, self.oil.β / self.v_e * (Q_e - self.S_e * Edot - 2 * self.k_e * ζ)

    def thrust(self, x):
        """What the piston gives along +Y, N."""
        P_A, P_B, Y, Ydot = x[3:7]
        f_f, _ = self.rubbing(x)
        inside = self.S_A * P_A - self.S_B * P_B - self.b_v * Ydot - f_f
        return inside + self.stop_Y.force(Y, Ydot)

    def shown(self, φ, x, X) -> list:
        """Q, P_A − P_B, Q_e, F_p, power of the shaft, and the friction where there is one."""
        made = self.delivery(φ, x)
        return [
            made.Q_A - made.Q_B,
            x[3] - x[4],
            self.valve.flow(self.c, X - x[0], x[2]),
            made.F_p,
            made.torque * self.pump.ω,
            *((self.rubbing(x)[0],) if self.rubs else ()),
        ]
