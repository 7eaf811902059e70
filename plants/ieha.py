"""Integrated electro-hydraulic actuator: a micro-valve moves the ring of a radial pump, the pump moves a cylinder.

    m_e Ë         = 2 S_e ζ + F_p − b_e Ė + stop(E)                                       (12)
    (v_e/β) ζ̇     = Q_e(X − E, ζ) − S_e Ė − 2 k_e ζ                                       (13), sign of the leakage
    open circuit, pump to A (E > 0) and B to the tank, or pump to B and A to the tank:
    (V_A/β_A) Ṗ_A = Q_A − d_B c A_0 q(P_A − P_T) − S_A Ẏ − K_in (P_A − P_B) − K_ex P_A    (11), (18), likewise P_B
    closed, symmetric circuit (S = S_A = S_B):
    (V_A/β) Ṗ_A   = (Q_A − Q_B) − S Ẏ − K_in (P_A − P_B) − K_ex P_A                       (17), (18), and the mirror for B
    m Ÿ           = S_A P_A − S_B P_B − F_ext − b_v Ẏ − f_f(Ẏ, z) + stop(Y)               (17), f_f: `friction`
    V_A = V_A0 + S_A Y,  V_B = V_B0 − S_B Y,  c = C_d √(2/ρ)

Pressures are gauge pressures. In the open circuit β_A = β_e(P_A) falls as the absolute pressure goes to zero
(`chamber.Oil`): a chamber cavitates instead of pulling. In the closed circuit they are relative to its charge pressure.
What one chamber gets the other gives, so the pump's intake is made up from P_rp by what the other chamber returns.

How the pump is seen (`detail`), with the laws of `components.radial_pump`:

    averaged   Q_A, Q_B, F_p as means over a revolution: 7 states E, Ė, ζ, P_A, P_B, Y, Ẏ
    ripple     the same states; ideal pistons at the pressures of their ports, one by one
    full       every piston with its chamber pressure: N more states

Source: [Alfayad16] eqs (3)–(18), mended where the signs and factors there are wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Annotated, Literal, NamedTuple, final

from plants import ieha_energy as energy
from plants import scales
from plants.components.chamber import Oil
from plants.components.friction import Friction, Frictionless
from plants.components.micro_valve import Distributor, MicroValve, Ways
from plants.components.orifice import root
from plants.components.radial_pump import RadialPump
from plants.components.transition import EndStop
from workbench.contract.errors import InputError
from workbench.contract.machine_limits import Limit, chamber_limits, command_limits
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive
from workbench.contract.system import Signal, System
from workbench.numerics.adaptive import Adaptive

_LEAK = Unit("m^3/(s Pa)")
DETAILS = ("averaged", "ripple", "full")
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
    "p": 1000.0,
    "z": 1e-11,
    "h": 1e-7,
}


class Delivery(NamedTuple):
    """What the pump does: flows into A and B, m³/s; force on the ring, N; shaft torque, N m; rates ṗ_i, Pa/s."""

    Q_A: object
    Q_B: object
    F_p: object
    torque: object
    rates: list


@final
@dataclass(frozen=True)
class IEHA(System):
    """The actuator with its load; equations in the module's docstring. Inputs X [m], F_ext [N], opposing +Y."""

    name: str = "IEHA"
    detail: Literal["averaged", "ripple", "full"] = "averaged"
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
    m: Annotated[float, Unit("kg"), "mass of the load", positive] = 10.0
    b_v: Annotated[float, Unit("N s/m"), "viscous friction of the cylinder", nonnegative] = 375.0
    friction: Friction = Frictionless()  # of the cylinder, besides b_v
    stop_Y: EndStop = EndStop(0.05)

    inputs = (
        Signal("X", "m", "position of the micro-valve"),
        Signal("F_ext", "N", "external force, opposing +Y", "disturbance"),
    )
    outputs = (
        Signal("Y", "m", "position of the load"),
        Signal("dY", "m/s", "velocity of the load"),
        Signal("E", "m", "eccentricity"),
        Signal("P_A", "Pa", "pressure in A"),
        Signal("P_B", "Pa", "pressure in B"),
    )
    pressure_names = ("P_A", "P_B")

    def __post_init__(self):
        check_bounds(self)
        for key, known in (("detail", DETAILS), ("circuit", ("open", "closed"))):
            if getattr(self, key) not in known:
                raise InputError(
                    f"{key}: there is no {getattr(self, key)!r}; choose from {', '.join(known)}"
                )
        if self.circuit == "closed" and self.S_A != self.S_B:
            raise InputError(
                f"S_B: a closed circuit needs a symmetric cylinder, S_B = S_A = {self.S_A} m²"
            )
        if (
            min(self.V_A0 - self.S_A * self.stop_Y.limit, self.V_B0 - self.S_B * self.stop_Y.limit)
            <= 0
        ):
            raise InputError(
                f"stop_Y: at ±{self.stop_Y.limit} m a chamber is empty; shorten the stroke or enlarge V_A0, V_B0"
            )
        if self.stop_E.limit >= self.pump.R_b - self.pump.l_p - self.pump.d:
            raise InputError(
                f"stop_E: at ±{self.stop_E.limit} m a piston is at the bottom of its chamber"
            )

    linear_twin = "ieha-published-linear"

    @property
    def friction_laws(self):
        return (self.friction,)

    @property
    def states(self):
        own = (
            Signal("E", "m", "eccentricity"),
            Signal("dE", "m/s", "velocity of the carriage"),
            Signal("zeta", "Pa", "half the pressure difference of the carriage chambers"),
            Signal("P_A", "Pa", "pressure in A"),
            Signal("P_B", "Pa", "pressure in B"),
            Signal("Y", "m", "position of the load"),
            Signal("dY", "m/s", "velocity of the load"),
        )
        n = self.pump.N if self.detail == "full" else 0
        return (
            *own,
            *(Signal(f"p_{i}", "Pa", f"pressure of micro-piston {i}") for i in range(1, n + 1)),
            *self.friction.states("Y"),
        )

    @property
    def monitors(self):
        own = (
            Signal("Q", "m^3/s", "pump flow into A less that into B"),
            Signal("P_AB", "Pa", "pressure difference P_A − P_B"),
            Signal("Q_e", "m^3/s", "flow of the micro-valve"),
            Signal("F_p", "N", "force of the pistons on the carriage"),
            Signal("shaft", "W", "power of the motor's shaft"),
        )
        rubs = not isinstance(self.friction, Frictionless)
        return (
            *own,
            *((Signal("f_f", "N", "friction of the cylinder, besides b_v Ẏ"),) if rubs else ()),
        )

    @property
    def velocity_gain(self):
        """Velocity of the load per metre of X, 1/s: the pump's mean flow over the mean of the areas."""
        return self.pump.mean_flow(1.0) / (0.5 * (self.S_A + self.S_B))

    def limits(self):
        """The carriage follows the micro-valve, so that goes no further than the largest eccentricity."""
        return {"X": (-self.stop_E.limit, self.stop_E.limit)}

    def as_shipped(self):
        from plants.shipped import like  # which imports this file

        return like(self)

    def scales(self):
        return scales.of_ieha(self)

    def machine_limits(self):
        """Stroke of the load, travel of the carriage, vacuum (gauge; a closed circuit has no number for it), the command."""
        Y, E = self.stop_Y.limit, self.stop_E.limit
        vacuum = (
            chamber_limits(self.pressure_names, self.oil.hollow - self.oil.p_0)
            if self.circuit == "open"
            else ()
        )
        return (
            Limit(
                "piston",
                ("Y",),
                -Y,
                Y,
                "m",
                "stroke",
                "travel between the end stops",
                "stop_Y.limit",
            ),
            Limit(
                "carriage",
                ("E",),
                -E,
                E,
                "m",
                "valve",
                "travel of the ring",
                "stop_E.limit",
                bearable=True,
            ),
            *vacuum,
            *command_limits(self),
        )

    def initial(self):
        """At rest in the middle, the pump recirculating."""
        P = self.P_T if self.circuit == "open" else 0.0
        n = self.pump.N if self.detail == "full" else 0
        return [
            0.0,
            0.0,
            0.0,
            P,
            P,
            0.0,
            0.0,
            *[self.pump.P_rp] * n,
            *[0.0] * len(self.friction.states("Y")),
        ]

    @property
    def c(self):
        """Flow per area and root of pressure, C_d √(2/ρ)."""
        return self.C_d * (2.0 / self.ρ) ** 0.5

    # ---- the pump ---------------------------------------------------------------------------------------------------
    def delivery(self, t, x) -> Delivery:
        """The pump at state x, by `detail`."""
        E, Edot, _, P_A, P_B = x[:5]
        if self.detail == "full":
            return self._full(t, E, Edot, P_A, P_B, self.pistons(x))
        ways = self.distributor.ways(E)
        pump = self.pump
        p_1, p_2 = self.port_pressures(P_A, P_B, ways)
        loss_A, loss_B = (pump.mean_loss(E, P, self.oil.β) for P in (P_A, P_B))
        if self.detail == "ripple":
            pistons = pump.pistons(t, E)
            p = pump.at_ports(pistons, p_1, p_2)
            Q_1, Q_2 = pump.delivery(pistons, Edot)
            F_p, torque = pump.force(pistons, p), pump.torque(pistons, p)
        else:
            Q_2 = pump.mean_flow(E)
            Q_1 = -Q_2
            F_p, torque = pump.mean_force(E, p_1, p_2), Q_2 / pump.ω * (p_2 - p_1)
        return Delivery(ways.A * (Q_2 + loss_A), ways.B * (Q_1 + loss_B), F_p, torque, [])

    def port_pressures(self, P_A, P_B, ways: Ways):
        """Pressures at port 1 and port 2 as ideal pistons see them."""
        P_rp = self.pump.P_rp
        return P_rp + ways.B * (P_B - P_rp), P_rp + ways.A * (P_A - P_rp)

    def exchanged(self, t, E, P_A, P_B, p) -> list[tuple]:
        """Each piston with its flows from the intake, to A, to B, m³/s."""
        pump, ways, area, found = self.pump, self.distributor.ways(E), self.c * self.pump.A_0, []
        for piston, p_i in zip(pump.pistons(t, E), p):
            open_1, open_2 = pump.openings(piston)
            found.append(
                (
                    piston,
                    area
                    * (open_1 * ways.intake_1 + open_2 * ways.intake_2)
                    * root(pump.P_rp - p_i, self.δ),
                    area * open_2 * ways.A * root(p_i - P_A, self.δ),
                    area * open_1 * ways.B * root(p_i - P_B, self.δ),
                )
            )
        return found

    def _full(self, t, E, Edot, P_A, P_B, p) -> Delivery:
        pump, flows = self.pump, self.exchanged(t, E, P_A, P_B, p)
        pistons = [piston for piston, *_ in flows]
        rates = [
            self.oil.β
            / pump.volume(piston.L)
            * (fed - to_A - to_B - pump.swept(piston, Edot) - pump.k_p * p_i)
            for (piston, fed, to_A, to_B), p_i in zip(flows, p)
        ]
        return Delivery(
            sum(f[2] for f in flows),
            sum(f[3] for f in flows),
            pump.force(pistons, p),
            pump.torque(pistons, p),
            rates,
        )

    # ---- the equations ----------------------------------------------------------------------------------------------
    def pistons(self, x):
        """p_i of the full pump."""
        return x[7 : 7 + self.pump.N]

    def rubbing(self, x):
        """f_f [N] and the states of the friction."""
        z = list(x[len(x) - len(self.friction.states("Y")) :])
        return self.friction.force(x[6], z), z

    def volumes(self, Y):
        """V_A, V_B, m³."""
        return self.V_A0 + self.S_A * Y, self.V_B0 - self.S_B * Y

    def to_tank(self, E, P_A, P_B):
        """What A and B give to the tank of the open circuit, m³/s."""
        ways, area = self.distributor.ways(E), self.c * self.pump.A_0
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

    def rhs(self, t, x, u):
        E, Edot, ζ, P_A, P_B, Y, Ydot = x[:7]
        X, F_ext = u
        made = self.delivery(t, x)
        Q_e = self.valve.flow(self.c, X - E, ζ)
        f_f, z = self.rubbing(x)
        return [
            Edot,
            (2 * self.S_e * ζ + made.F_p - self.b_e * Edot + self.stop_E.force(E, Edot)) / self.m_e,
            self.oil.β / self.v_e * (Q_e - self.S_e * Edot - 2 * self.k_e * ζ),
            *self.chambers(x, made.Q_A, made.Q_B),
            Ydot,
            (
                self.S_A * P_A
                - self.S_B * P_B
                - F_ext
                - self.b_v * Ydot
                - f_f
                + self.stop_Y.force(Y, Ydot)
            )
            / self.m,
            *made.rates,
            *self.friction.rate(Ydot, z),
        ]

    def out(self, t, x):
        return [x[5], x[6], x[0], x[3], x[4]]

    def monitor(self, t, x, u):
        made = self.delivery(t, x)
        return [
            made.Q_A - made.Q_B,
            x[3] - x[4],
            self.valve.flow(self.c, u[0] - x[0], x[2]),
            made.F_p,
            made.torque * self.pump.ω,
            *((self.rubbing(x)[0],) if len(self.monitors) > 5 else ()),
        ]

    @property
    def power_names(self):
        return energy.NAMES if self.detail == "full" else (*energy.NAMES, energy.GAP)

    def powers(self, t, x, u):
        """Power into the energy stored, by cause (W); their sum is d(stored)/dt: `plants.ieha_energy`."""
        return energy.powers(self, t, x, u)

    def stored(self, t, x, u):
        """Energy of masses, stops and compressed oil, J."""
        return energy.stored(self, x) + (
            energy.in_pistons(self, t, x) if self.detail == "full" else 0.0
        )

    # ---- how it is integrated ---------------------------------------------------------------------------------------
    @property
    def adaptive(self) -> Adaptive:
        """Errors a step may make, and where the flow has edges: a piston changes ports, the distributor switches."""
        errors = tuple(
            STEP_ERRORS[s.name.split("_")[0] if s.name[:2] in ("p_", "z_", "h_") else s.name]
            for s in self.states
        )
        # θ_i = k π happens at multiples of π/(N ω) for an odd number of pistons, 2π/(N ω) for an even one.
        step = pi / (self.pump.N * self.pump.ω) * (1 if self.pump.N % 2 else 2)
        return Adaptive(
            errors, 0.0 if self.detail == "averaged" else step, "E", self.distributor.edges()
        )
