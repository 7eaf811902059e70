"""Virtual decomposition control of a hydraulic four-bar: a position loop outside a force loop."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal, final

from controllers.vdc.law import VDC
from plants.four_bar.linkage import FourBar
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, positive, unchecked
from workbench.contract.system import Controller, Signal


@final
@dataclass(frozen=True)
class ForcePosition(Controller):
    """Virtual decomposition control of a four-bar's crank angle through the force of its cylinder.

        ż_r  = ż_d + λ (z_d − z_1),   V_r of crank, coupler, rocker from ż_r by the closed loop
        F_r* = M_A V̇_r + G_A + κ M_A (V_r − V),   f_cr = Σ_A (∂V_A/∂s)ᵀ F_r*
        f_pr = f_cr + f_fr                                 friction at the required speed
        u_fr = ḟ_pr/β + h ṡ + k_x (ṡ_r − ṡ) + k_f (f_pr − f_p)
        U    = inverse of valve and throttle in series     (`plants.components.circuit_inverse`)

    It is `VDC` of the four-bar's mechanism (bodies: `controllers.vdc.bodies`; cylinder:
    `controllers.vdc.drives.throttled`), with its own defaults, one number for each gain, and the crank angle for its path.

    model       the four-bar as the controller knows it (truth and model are two objects)
    derivative  how ḟ_pr is formed: exact along the model's acceleration ("model"), along the desired one ("desired"), "zero"
    states      the observed states of a friction law with memory
    references  z_1_d and its three derivatives
    The spool's lag and the oil between valve and throttle are what it does not know. Raises ValueError for gains that are
    not positive.

    Source: [Petrovic22] (8), (90)–(93) on the plant of [Jaiswal21].
    """

    model: FourBar
    λ: Annotated[float, Unit("1/s"), "position gain", positive] = 8.0
    κ: Annotated[float, Unit("1/s"), "velocity gain per mass, K_A = κ M_A", positive] = 10.0
    k_x: Annotated[float, Unit("m"), "velocity gain of the actuator", positive] = 6e-3
    βk_f: Annotated[
        float, Unit("1/s"), "force gain of the actuator times the bulk modulus", positive
    ] = 60.0
    derivative: Literal["model", "desired", "zero"] = "model"

    def __post_init__(self):
        if why := self.unfit(self.model):
            raise why.at(key="model")
        check_bounds(self)

    @staticmethod
    def unfit(model) -> InputError | None:
        """Why this law cannot serve a plant, if it cannot."""
        if isinstance(model, FourBar):
            return None
        return InputError(
            f"ForcePosition: {type(model).__name__} is no four-bar",
            mend="choose VDC for a crane, PID for any plant",
        )

    @cached_property
    def vdc(self) -> VDC:
        """The law of the mechanism; its numbers may be expressions, and have been checked here."""
        return unchecked(
            VDC,
            model=self.model,
            λ=(self.λ,),
            κ=self.κ,
            k_x=(self.k_x,),
            βk_f=(self.βk_f,),
            derivative=self.derivative,
        )

    # ---- signals ----------------------------------------------------------------------------------------------------
    @property
    def measured(self):
        return self.vdc.measured

    @property
    def commands(self):
        return self.model.inputs

    @property
    def references(self):
        return self.vdc.references

    @property
    def states(self):
        return self.vdc.states

    @property
    def monitors(self):
        return Signal("f_pr", "N", "required force of the oil"), Signal(
            "e_z_1", "rad", "tracking error of the crank angle"
        )

    # ---- the contract -----------------------------------------------------------------------------------------------
    def command(self, t, z, y, r):
        return self.vdc.command(t, z, y, r)

    def rhs(self, t, z, y, r):
        return self.vdc.rhs(t, z, y, r)

    def step_at(self, T_s, t, z, y, r):
        return self.vdc.step_at(T_s, t, z, y, r)

    def monitor(self, t, z, y, r):
        return self.vdc.monitor(t, z, y, r)

    def certificate(self, plant):
        """The dissipation ledger of this law on `plant`."""
        return self.vdc.certificate(plant)
