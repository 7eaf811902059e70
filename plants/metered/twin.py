"""Metered arms with compressible oil in lumped volumes: the same arms and valves as the quasistatic `MeteredArms`.

Each arm's rod is a `CompressibleRod`, the pump's line a `SharedPump` with the same oil, relief slope G and width w. Arms, valves,
reliefs, K, B and the names of the signals are those of the `MeteredArms` in the field `of`. As β, G → ∞ and w → 0, the balance
of each volume becomes one of (39), and this model becomes `MeteredArms`.

Source: [Merritt67] lumped pressures; [Kikuuwe21] (39) is the limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, final

import numpy as np

from plants import delegation
from plants.drives.compressible_rod import VALVES, CompressibleRod, Flows
from plants.metered import arm_bodies
from plants.metered.arms import MeteredArms
from plants.metered.on_valves import pump_limit
from plants.multibody.built import Built
from plants.multibody.mechanism import Mechanism
from plants.supplies.shared_pump import SharedPump
from plants.valve_circuits.valve_sections import ValveSections
from workbench.contract.parameters import Unit, check_bounds, positive, unchecked
from workbench.contract.system import Signal
from workbench.numerics.adaptive import Adaptive


@final
@dataclass(frozen=True)
class MeteredTwin(Built):
    """`MeteredArms` with compressible oil: `CompressibleRod`s on a `SharedPump`. Its inputs are those of `MeteredArms`.

    It starts at rest: one chamber of each cylinder carries the arm, the other one is at the tank's pressure.

    Raises ValueError for numbers out of range.
    """

    name: str = "metered arm, compressible oil"
    of: MeteredArms = MeteredArms()
    β: Annotated[float, Unit("Pa"), "bulk modulus of oil and hoses", positive] = CompressibleRod.β
    V_h: Annotated[float, Unit("m^3"), "volume of each head side with its hose", positive] = (
        CompressibleRod.V_h
    )
    V_r: Annotated[float, Unit("m^3"), "volume of each rod side with its hose", positive] = (
        CompressibleRod.V_r
    )
    V_p: Annotated[float, Unit("m^3"), "volume of the pump's line", positive] = 3e-3
    G: Annotated[float, Unit("m^3/(s Pa)"), "slope of reliefs and suction checks", positive] = (
        CompressibleRod.G
    )
    w: Annotated[float, Unit("Pa"), "width of the roots at zero pressure drop", positive] = (
        CompressibleRod.w
    )

    def __post_init__(self):
        check_bounds(self)

    # ---- signals ----------------------------------------------------------------------------------------------------
    names = delegation.of("of.names")
    inputs = delegation.of("of.inputs")
    outputs = delegation.of("of.outputs")
    pressure_names = delegation.of("of.pressure_names")
    pressure_limits = delegation.of("of.pressure_limits")
    limits = delegation.of("of.limits")
    scales = delegation.of("of.scales")
    holding = delegation.of("of.holding")
    # Standing pressures know nothing of the oil's stiffness.
    velocity_gain = delegation.of("of.velocity_gain")
    given = delegation.of("of.given")
    drawn_as = delegation.of("of")

    @property
    def called(self):
        return self.of.called

    @property
    def states(self):
        sides = (("h", "head"), ("r", "rod"))
        own = [
            Signal(f"P_{key}_{name}", "Pa", f"{side} side of arm {name}")
            for name in self.names
            for key, side in sides
        ]
        return (*self.of.states, *own, Signal("P", "Pa", "pressure of the pump"))

    @property
    def monitors(self):
        return tuple(
            s for s in self.of.monitors if s.name not in (*self.pressure_names, "P", "r_P")
        )

    @property
    def causes(self):
        own = [f"{valve}_{n}" for n in self.names for valve in (*VALVES, "element", "tip")]
        return {name: (name,) for name in ("pump", "bleed", "relief", *own)}

    @property
    def adaptive(self):
        """Angles to 1e-9 rad, rods to 1e-10 m, pressures to 10 Pa a step."""
        n = len(self.names)
        return Adaptive((1e-9, 1e-8, 1e-10) * n + (10.0,) * (2 * n + 1))

    cuts_commands = True  # an opening beyond fully open is none

    @property
    def loop_rate(self) -> float:
        """Rate that a position loop can have, as of `MeteredArms`, with K in series with the oil that is shut in."""
        oil = [
            self.β * (a.section.A_h**2 / self.V_h + a.section.A_r**2 / self.V_r)
            for a in self.of.arms
        ]
        return self.of.borne([a.K * k / (a.K + k) for a, k in zip(self.of.arms, oil)])

    def as_shipped(self):
        return MeteredTwin()

    def machine_limits(self):
        """The limits of the arms, and the pressure of the pump's relief when it takes all of Q."""
        relief = pump_limit(self.of.pump, self.G, "of.pump.P_M")
        return (*self.of.machine_limits(), relief)

    @property
    def valve_sections(self) -> ValveSections:
        """The valves of the arms as reports draw them; pressures are states."""
        return self.of.valve_sections._replace(balance="volumes")

    def valve_account(self, log):
        """As of `MeteredArms`; pressures are states here, and what a suction check lets in follows from how far below the tank."""
        from plants.valve_circuits.accounts import of_filled

        return of_filled(self, log)

    def initial(self):
        found = []
        pressures = []
        for a in self.of.arms:
            f = self.carried(a)
            found += [a.θ_0, 0.0, a.length(a.θ_0) + f / a.K]
            pressures += [max(f, 0.0) / a.section.A_h, max(-f, 0.0) / a.section.A_r]
        return [*found, *pressures, min(self.of.pump.P_M, self._bled())]

    def carried(self, arm):
        """Force of a rod that holds its arm at the start, N."""
        return -arm.torque(arm.θ_0, 0.0, 0.0, self.of.g) / arm.lever(arm.θ_0)

    def _bled(self):
        Q, _, k_b = self.of.supply
        return (Q / k_b) ** 2 if k_b > 0 else np.inf

    # ---- equations --------------------------------------------------------------------------------------------------
    @cached_property
    def mechanism(self) -> Mechanism:
        """The arms' bodies and tips, their rods with compressible oil, and the pump's line."""
        arms = self.of
        pump = unchecked(
            SharedPump, pump=arms.pump, u_b=arms.u_b, V_p=self.V_p, G=self.G, β=self.β, w=self.w
        )
        return arm_bodies.mechanism(self.name, arms.arms, arms.g, pump, self._rod)

    def _rod(self, arm) -> CompressibleRod:
        own = {"β": self.β, "V_h": self.V_h, "V_r": self.V_r, "G": self.G, "w": self.w}
        return unchecked(CompressibleRod, rod=arm_bodies.rod(arm), **own)

    def section(self, row, P, P_h, P_r) -> Flows:
        """Flows of one section with its row as `Circuit.rows` has it."""
        return self._rod(self.of.arms[0]).flows(row, P, P_h, P_r)

    def out(self, t, x):
        return self.of.out(t, x[: 3 * len(self.names)])

    def monitor(self, t, x, u):
        at = self.logged(t, x, u)
        shown = []
        for j, a in enumerate(self.of.arms):
            own = (at[f"{key}_{a.name}"] for key in ("v", "f_p", "stretch"))
            shown += [a.length(x[3 * j]), *own]
        return shown
