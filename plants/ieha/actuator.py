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

It is a mechanism: a body of mass m on a level slide, moved by an `IEHADrive`. The shaft of its pump is at φ = ω t.

Source: [Alfayad16] eqs (3)–(18), mended where the signs and factors there are wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Annotated, final

from plants import scales
from plants.drives.ieha_drive import IEHADrive
from plants.drives.outer_force import OuterForce
from plants.ieha.delivery import Delivery
from plants.ieha.hydraulics import DETAILS, Hydraulics
from plants.machine_files import like
from plants.multibody.built import Built
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body
from workbench.contract.errors import InputError
from workbench.contract.machine_limits import Limit, command_limits
from workbench.contract.parameters import Unit, positive, unchecked
from workbench.contract.system import Signal, names
from workbench.numerics.adaptive import Adaptive

__all__ = ["DETAILS", "Delivery", "IEHA"]

LABEL = "Y"  # of the drive in the mechanism
LOAD = "ext"  # of the force from outside


@final
@dataclass(frozen=True)
class IEHA(Hydraulics, Built):
    """An IEHA with its load; equations in `plants.ieha.actuator`. Inputs: X [m] of the micro-valve, F_ext [N] that opposes +Y."""

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
    n = 1
    spaces = ("joint",)
    position_names = ("Y",)

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
        pistons = (s for s in self.drive.pump_signals("") if s.name != "phi")
        return (*self.own_signals(), *load, *pistons, *self.friction.states(LABEL))

    @property
    def monitors(self):
        return self.shown_signals()

    def limits(self):
        """Range of the command: the carriage follows the micro-valve, so X goes no further than the largest eccentricity."""
        return {"X": (-self.drive.limit, self.drive.limit)}

    def as_shipped(self):
        return like(self)

    def scales(self):
        return scales.of_ieha(self)

    def machine_limits(self):
        """Stroke of the load, travel of the carriage, vacuum (gauge; a closed circuit has no number for it), the command."""
        Y = self.stop_Y.limit
        piston = Limit(
            name="piston",
            signals=("Y",),
            low=-Y,
            high=Y,
            unit="m",
            kind="stroke",
            meaning="travel between the end stops",
            key="stop_Y.limit",
        )
        return (piston, *self.own_limits(), *command_limits(self))

    def initial(self):
        """At rest in the middle, the pump recirculating."""
        P = self.P_T if self.circuit == "open" else 0.0
        n = self.pump.N if self.detail == "full" else 0
        rubbed = [0.0] * len(self.friction.states(LABEL))
        return [0.0, 0.0, 0.0, P, P, 0.0, 0.0, *[self.pump.P_rp] * n, *rubbed]

    def task_names(self, space: str) -> tuple[str, ...]:
        """("Y",). Raises InputError for another space than "joint"."""
        if space not in self.spaces:
            raise InputError(f"{self.name} has no {space} space", mend="choose joint or output")
        return self.position_names

    def task(self, space: str, q) -> list:
        """[Y]."""
        self.task_names(space)
        return list(q)

    # ---- the same as a mechanism ------------------------------------------------------------------------------------
    @cached_property
    def drive(self) -> IEHADrive:
        """The actuator without its load."""
        return unchecked(IEHADrive, **{f.name: getattr(self, f.name) for f in fields(Hydraulics)})

    @cached_property
    def mechanism(self) -> Mechanism:
        """The load on a level slide, the actuator, and the force from outside."""
        load = unchecked(Body, name="load", joint="prismatic", axis=(1.0, 0.0, 0.0), mass=self.m)
        drives = {LABEL: self.drive, LOAD: OuterForce()}
        return unchecked(
            Mechanism,
            name=self.name,
            bodies=(load,),
            actuators=tuple(
                unchecked(Actuator, name=name, drive=drive, joint="load")
                for name, drive in drives.items()
            ),
            gravity=(0.0, 0.0, 0.0),
            method="minimal",
        )

    @property
    def called(self):
        """Names of the mechanism's signals without the drive's label; those of the friction's states keep it."""
        kept = names(self.friction.states(LABEL))
        own = (
            name
            for signals in (self.drive.states(LABEL), self.drive.logged(LABEL))
            for name in names(signals)
            if name not in kept
        )
        return {"x_load": "Y", "dx_load": "dY"} | {
            name: name.removesuffix(f"_{LABEL}") for name in own
        }

    @property
    def causes(self):
        found = {}
        for cause in self.drive.causes:
            if cause == "carried":
                found["load"] = (LOAD,)
            found[cause] = (f"{cause}_{LABEL}",)
        return found

    def given(self, u):
        return u

    def timed(self, t):
        return {f"phi_{LABEL}": self.pump.ω * t} if self.drive.turning else {}

    def out(self, t, x):
        return [x[5], x[6], x[0], x[3], x[4]]

    def monitor(self, t, x, u):
        at = self.logged(t, x, u)
        return [at[name] for name in names(self.drive.logged(LABEL))[1:]]

    @property
    def adaptive(self) -> Adaptive:
        """Errors a step may make, and where the flow has edges: a piston changes ports, the distributor switches."""
        own = self.mechanism.adaptive
        return replace(own, errors=tuple(self.outer(own.errors)), watched="E")
