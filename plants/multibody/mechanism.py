"""A mechanism of bodies, joints, loops and actuators: a System in relative coordinates.

    M^Σ z̈ + Φ_zᵀ λ = Q^Σ,   Φ(z) = 0                                                       (9) without penalty

method (all with the same text of M^Σ, Q^Σ, Φ, Φ_z, Φ̇_z ż):

    projected   states z, ż. z̈ and λ from both equations, the second differentiated twice: (Φ_z M⁻¹ Φ_zᵀ) λ = Φ_z M⁻¹ Q + Φ̇_z ż;
                `project` puts positions and velocities back on the loops after every step, in the metric of M^Σ
    minimal     states are the independent z, ż alone; the loops are planar and close in closed form (`plants.multibody.planar`)
    penalty     the augmented Lagrangian and the trapezoidal rule of [Jaiswal21], a solver of its own (`penalty.integrator`);
                linearisations and claims see the same flow as projected

Source: [Jaiswal21] eqs (1)–(12), (35)–(42); [Bayo96] for the projections.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Literal, final

from plants.multibody import checks, fit, pins
from plants.multibody.abilities import Abilities
from plants.multibody.closings import closings_of
from plants.multibody.leading import leading
from plants.multibody.measured import Measured
from plants.multibody.parts import Actuator, Body, Loop, Pin
from plants.multibody.paths import Paths
from plants.multibody.planar import Closing
from plants.multibody.points import NamedPoint, PinTable, named_points
from plants.multibody.starting import rested, start
from plants.supplies.contract import Supply
from plants.supplies.kinds import SupplyKind
from workbench.contract.errors import Faults, InputError, tried
from workbench.contract.parameters import Unit, check_bounds

__all__ = ["Actuator", "Body", "Loop", "Mechanism"]


@final
@dataclass(frozen=True)
class Mechanism(Abilities, Measured, Paths):
    """Bodies on joints, loops closed by cut joints, actuators and their supply.

    Equations and methods in `plants.multibody.mechanism`.

    Inputs: those of the drives. Outputs: lengths s_… and rates ds_… of the actuators, then positions and rates of all joints
    (q_…, dq_… revolute; x_…, dx_… prismatic; e_…_0 to 3, ω_…_x to z spherical), then the states of drives and supply. Also
    logged: forces f_… of the actuators, the gap of each loop, and what drives and supply log. gravity: in the ground's axes.
    pins: pins of the ground by name, {foot: [0.1, 0.6]}; tcp: the pin that is the tool. moving_ground and tool_wrench add
    disturbances for the motion of the ground and the force at the tool (`plants.multibody.surroundings`).

    Raises InputError for names that do not exist, loops that cannot be closed, motion without mass, singular starts,
    cylinders out of their range.
    """

    bodies: tuple[Body, ...]
    loops: tuple[Loop, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    gravity: Annotated[
        tuple[float, ...], Unit("m/s^2"), "gravity in the ground's axes: how bodies fall"
    ] = (
        0.0,
        -9.81,
        0.0,
    )
    method: Literal["projected", "minimal", "penalty"] = "projected"
    supply: SupplyKind | Supply | None = None
    name: str = "mechanism"
    pins: PinTable | tuple[NamedPoint, ...] = ()
    tcp: Annotated[
        str | Pin | None, "tool centre point: a pin such as bucket.teeth, or body and point"
    ] = None
    moving_ground: Annotated[bool, "whether motion of the ground is a disturbance input"] = False
    tool_wrench: Annotated[bool, "whether the wrench on the tool is a disturbance input"] = False
    # Independent rows of Φ.
    kept: tuple[int, ...] = field(init=False, repr=False, compare=False, default=())
    # Rows of Φ that act.
    used: tuple[int, ...] = field(init=False, repr=False, compare=False, default=())
    # Of method minimal.
    closings: tuple[Closing, ...] = field(init=False, repr=False, compare=False, default=())
    # Rates that others follow from, where loops have no closed form.
    leads: tuple[int, ...] = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self):
        check_bounds(self)
        object.__setattr__(self, "gravity", tuple(float(v) for v in self.gravity))
        for parts in ("bodies", "loops", "actuators"):
            object.__setattr__(self, parts, tuple(getattr(self, parts)))
        named_points(self)
        if not self.bodies or len(self.gravity) != 3:
            raise InputError(
                "bodies: a mechanism needs at least one"
                if not self.bodies
                else f"gravity: expected three numbers, got {len(self.gravity)}",
                mend="write 'boom: {mass: 95 kg, I_zz: 28}' below it"
                if not self.bodies
                else "write [x, y, z], such as [0, -9.81, 0]",
            )
        checks.tell_odd_gravity(self.gravity)
        drawn = pins.resolve(self)
        tried(
            partial(check, self)
            for check in (checks.check_names, checks.check_supply, checks.check_surroundings)
        )
        self._assemble()
        object.__setattr__(
            self, "closings", closings_of(self, self.assembly.z) if self.method == "minimal" else ()
        )
        if not self.closings and self.used:
            object.__setattr__(self, "leads", leading(self))
        checks.check_signals(self)
        fit.check_fit(self, drawn)

    def _assemble(self) -> None:
        """Close the loops; Faults with the machine as it was given, for a drawing, where one of them stays open."""
        try:
            found = self.assembly
        except InputError as why:
            raise Faults([why], fit.opened(self) if self.loops else None) from None
        object.__setattr__(self, "kept", found.kept)
        object.__setattr__(self, "used", found.used)

    def held_at(self) -> dict[str, tuple[str, ...]]:
        """Path of a pin as written in a file → paths of its coordinates."""
        return pins.held_at(self)

    # ---- a sensible start -------------------------------------------------------------------------------------------
    def initial(self):
        """The assembled start, drives at rest under the forces that hold it."""
        return start(self)

    def rest(self, q) -> list:
        """The state at rest with the loops closed near positions q, of the leading position states; what is held stays exact."""
        return rested(self, q)

    def check_pose(self, q, where: str = "start") -> None:
        """ValueError when `rest` is impossible there."""
        try:
            self.rest(q)
        except InputError as why:
            raise InputError(f"{where}: {why.message}", mend=why.advice) from None
