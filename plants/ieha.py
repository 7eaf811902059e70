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
from typing import Annotated, final

from plants import ieha_energy as energy
from plants import scales
from plants.ieha_hydraulics import DETAILS, STEP_ERRORS, Delivery, Hydraulics
from workbench.contract.machine_limits import Limit, command_limits
from workbench.contract.parameters import Unit, positive
from workbench.contract.system import Signal, System
from workbench.numerics.adaptive import Adaptive

__all__ = ["DETAILS", "STEP_ERRORS", "Delivery", "IEHA"]


@final
@dataclass(frozen=True)
class IEHA(Hydraulics, System):
    """The actuator with its load; equations in the module's docstring. Inputs X [m], F_ext [N], opposing +Y."""

    name: str = "IEHA"
    m: Annotated[float, Unit("kg"), "mass of the load", positive] = 10.0

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

    linear_twin = "ieha-published-linear"

    @property
    def friction_laws(self):
        return (self.friction,)

    @property
    def states(self):
        load = (
            Signal("Y", "m", "position of the load"),
            Signal("dY", "m/s", "velocity of the load"),
        )
        n = self.pump.N if self.detail == "full" else 0
        return (
            *self.own_signals(),
            *load,
            *(Signal(f"p_{i}", "Pa", f"pressure of micro-piston {i}") for i in range(1, n + 1)),
            *self.friction.states("Y"),
        )

    @property
    def monitors(self):
        return self.shown_signals()

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
        Y = self.stop_Y.limit
        piston = Limit(
            "piston",
            ("Y",),
            -Y,
            Y,
            "m",
            "stroke",
            "travel between the end stops",
            "stop_Y.limit",
        )
        return (piston, *self.own_limits(), *command_limits(self))

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

    # ---- the equations ----------------------------------------------------------------------------------------------
    def rhs(self, t, x, u):
        X, F_ext = u
        made = self.delivery(t, x)
        dE_rate, ζ_rate = self.carriage(x, X, made)
        return [
            x[1],
            dE_rate,
            ζ_rate,
            *self.chambers(x, made.Q_A, made.Q_B),
            x[6],
            (self.thrust(x) - F_ext) / self.m,
            *made.rates,
            *self.friction.rate(x[6], self.rubbing(x)[1]),
        ]

    def out(self, t, x):
        return [x[5], x[6], x[0], x[3], x[4]]

    def monitor(self, t, x, u):
        return self.shown(t, x, u[0])

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
