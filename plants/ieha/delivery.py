"""What the pump of an integrated electro-hydraulic actuator delivers, in three details. Equations in `plants.ieha.actuator`."""

from __future__ import annotations

from typing import NamedTuple

from plants.components.chamber import Oil
from plants.components.micro_valve import Distributor, Ways
from plants.components.orifice import root
from plants.components.radial_pump import RadialPump


class Delivery(NamedTuple):
    """What the pump does: flows into A and B, m³/s; force on the ring, N; shaft torque, N m; rates ṗ_i, Pa/s."""

    Q_A: object
    Q_B: object
    F_p: object
    torque: object
    rates: list


class Delivering:
    """The part of `plants.ieha.hydraulics.Hydraulics` that is the pump and its distributor."""

    detail: str
    oil: Oil
    ρ: float
    C_d: float
    δ: float
    pump: RadialPump
    distributor: Distributor

    @property
    def c(self):
        """Flow per area and root of pressure, C_d √(2/ρ)."""
        return self.C_d * (2.0 / self.ρ) ** 0.5

    def pistons(self, x):
        """p_i of the full pump."""
        return x[7 : 7 + self.pump.N]

    def delivery(self, φ, x) -> Delivery:
        """The pump at state x with its shaft at φ, by `detail`."""
        E, Edot, _, P_A, P_B = x[:5]
        if self.detail == "full":
            return self._full(φ, E, Edot, P_A, P_B, self.pistons(x))
        ways = self.distributor.ways(E)
        pump = self.pump
        p_1, p_2 = self.port_pressures(P_A, P_B, ways)
        loss_A, loss_B = (pump.mean_loss(E, P, self.oil.β) for P in (P_A, P_B))
        if self.detail == "ripple":
            pistons = pump.pistons(φ, E)
            p = pump.at_ports(pistons, p_1, p_2)
            Q_1, Q_2 = pump.delivery(pistons, Edot)
            F_p = pump.force(pistons, p)
            torque = pump.torque(pistons, p)
        else:
            Q_2 = pump.mean_flow(E)
            Q_1 = -Q_2
            F_p = pump.mean_force(E, p_1, p_2)
            torque = Q_2 / pump.ω * (p_2 - p_1)
        return Delivery(ways.A * (Q_2 + loss_A), ways.B * (Q_1 + loss_B), F_p, torque, [])

    def port_pressures(self, P_A, P_B, ways: Ways):
        """Pressures at port 1 and port 2 as ideal pistons see them."""
        P_rp = self.pump.P_rp
        return P_rp + ways.B * (P_B - P_rp), P_rp + ways.A * (P_A - P_rp)

    def exchanged(self, φ, E, P_A, P_B, p) -> list[tuple]:
        """Each piston with its flows from the intake, to A, to B, m³/s."""
        pump = self.pump
        ways = self.distributor.ways(E)
        area = self.c * pump.A_0
        found = []
        for piston, p_i in zip(pump.pistons(φ, E), p):
            open_1, open_2 = pump.openings(piston)
            intake = open_1 * ways.intake_1 + open_2 * ways.intake_2
            fed = area * intake * root(pump.P_rp - p_i, self.δ)
            to_A = area * open_2 * ways.A * root(p_i - P_A, self.δ)
            to_B = area * open_1 * ways.B * root(p_i - P_B, self.δ)
            found.append((piston, fed, to_A, to_B))
        return found

    def _full(self, φ, E, Edot, P_A, P_B, p) -> Delivery:
        pump = self.pump
        flows = self.exchanged(φ, E, P_A, P_B, p)
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
