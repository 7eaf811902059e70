"""Hydraulic manipulator of parallel–serial structures with chamber pressures, valves and friction."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, final

from plants.components import sizes
from plants.components.chamber import Oil
from plants.components.spatial import Body, Frame, add, turn
from plants.crane import bodies as crane_bodies
from plants.crane.equations import Crane
from plants.crane.segments import Prismatic, Revolute, Structure
from plants.drives.contract import Line
from plants.multibody import drive_forces
from plants.multibody.mechanism import Mechanism
from plants.multibody.planar import Closing
from plants.supplies.constant import ConstantPressure
from plants.supplies.contract import check_line
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, check_parts, nonnegative
from workbench.contract.units import quantity

__all__ = ["Manipulator", "Structure", "Revolute", "Prismatic", "Body", "Frame", "Oil"]


@final
@dataclass(frozen=True)
class Manipulator(Crane):
    """n structures in series, each a revolute closed chain, optionally followed by a prismatic segment.

        f_c(q, q̇, q̈) = f_p − f_f,   f_p = A_a p_a − A_b p_b                      (68), (78), (79)
        ṗ_a, ṗ_b: `Cylinder`;   Q_a, Q_b and the spool: `Valve`;   f_f: `Friction`

    States: joint positions q_j (rad) and x_tj (m) in order of the chain, their rates, p_a, p_b per cylinder (Pa), then spool
    and friction states. Inputs: one voltage u per valve; disturbances: motion and weight direction of the base frame
    {B_c1} in its own axes, and the wrench the end-effector exerts on its surroundings, in the last end frame.
    The payload is a rigid body in that frame. Gravity g acts along −y of W.

    Source: [Petrovic22] eqs (14)–(34), (49)–(69), (78)–(91).
    """

    name: str
    structures: tuple[Structure, ...]
    base: Frame = Frame()
    oil: Oil = Oil()
    p_s: Annotated[float, Unit("Pa"), "supply pressure", sizes.pressure] = ConstantPressure.p_s
    p_r: Annotated[float, Unit("Pa"), "return pressure", nonnegative] = ConstantPressure.p_r
    Q_max: Annotated[float, Unit("m^3/s"), "largest pump flow", sizes.flow] = ConstantPressure.Q_max
    g: Annotated[float, Unit("m/s^2"), "gravity, along −y of the world frame", nonnegative] = 9.8066
    payload: Body = Body()
    pose: Annotated[
        tuple[str | float, ...] | None,
        Unit("1"),
        "initial joint positions, rad or m (or 45 deg, 300 mm)",
    ] = None
    pressures: Annotated[
        tuple[Annotated[tuple[float, float], Unit("Pa")], ...] | None,
        "initial (p_a, p_b) per cylinder",
    ] = None
    closings: tuple[Closing, ...] = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self):
        check_parts(self)
        if not self.structures:
            raise InputError("structures: a manipulator needs at least one")
        if isinstance(self.pose, tuple):
            object.__setattr__(
                self,
                "pose",
                tuple(map(self._joint_position, self.joint_names, self.pose)) + self.pose[self.n :],
            )
        check_bounds(self)
        object.__setattr__(self, "closings", crane_bodies.closings(self))
        check_line(Line(self.p_s, self.p_r))
        if self.pose is not None:
            if len(self.pose) != self.n:
                raise InputError(
                    f"pose: expected {self.n} joint positions ({', '.join(self.joint_names)}), "
                    f"got {len(self.pose)}"
                )
            self.check_pose(self.pose)
        for label, pair in zip(self.labels, self.pressures or ()):
            for side, p in zip("ab", pair):
                if not 0 <= p <= self.p_s:
                    raise InputError(
                        f"pressures: p_{side}{label} = {p / 1e5:g} bar is outside 0 … {self.p_s / 1e5:g} bar, "
                        "what the supply can give"
                    )
        if self.pressures is not None and len(self.pressures) != self.n:
            raise InputError(
                f"pressures: expected {self.n} pairs (p_a, p_b), got {len(self.pressures)}"
            )

    def _joint_position(self, name, value):
        if not isinstance(value, str):
            return value
        try:
            return quantity(value, "m" if name.startswith("x") else "rad")
        except InputError as why:
            raise InputError(f"pose: {name}: {why.message}", mend=why.mend) from None

    # ---- the machine as a mechanism ---------------------------------------------------------------------------------
    @cached_property
    def mechanism(self) -> Mechanism:
        """The machine as bodies, joints, loops and drives, see `plants.crane.bodies`."""
        return crane_bodies.mechanism(self)

    # ---- a sensible start -------------------------------------------------------------------------------------------
    def rest(self, q, pressures=None) -> list[float]:
        """State at rest at joint positions q: given pressures, or those that carry the weight (middle of what the supply
        allows)."""
        still = [0.0] * self.n
        f_c = drive_forces.asked(self.mechanism, q, still, still)
        if pressures is None:
            pressures = [c.balanced(f, self.p_s, self.p_r) for c, f in zip(self.cylinders, f_c)]
        extra = len(self.states) - 4 * self.n
        return [
            *map(float, q),
            *[0.0] * self.n,
            *(float(p) for pair in pressures for p in pair),
            *[0.0] * extra,
        ]

    def initial(self):
        q = self.pose or tuple((low + high) / 2 for low, high in self.joint_range())
        return self.rest(q, self.pressures)

    # ---- variants ---------------------------------------------------------------------------------------------------
    def locked(self, **at: float) -> Manipulator:
        """The machine with prismatic segments, named with their extension, frozen into rigid links."""
        known = [s.name for s in self.segments if isinstance(s, Prismatic)]
        unknown = set(at) - set(known)
        if unknown:
            raise InputError(
                f"lock: no prismatic segment is called {', '.join(sorted(unknown))}",
                mend=f"choose from {', '.join(known) or 'none (this machine has no prismatic segment)'}",
            )
        keep = [
            i
            for i, s in enumerate(self.segments)
            if not (isinstance(s, Prismatic) and s.name in at)
        ]
        pick = lambda values: None if values is None else tuple(values[i] for i in keep)
        structures = tuple(
            _frozen(s, at.get(s.prismatic.name)) if s.prismatic is not None else s
            for s in self.structures
        )
        return replace(
            self, structures=structures, pose=pick(self.pose), pressures=pick(self.pressures)
        )


def _frozen(structure: Structure, extension: float | None) -> Structure:
    if extension is None:
        return structure
    r = structure.revolute
    s = structure.prismatic
    if not 0 <= extension <= s.cylinder.stroke:
        raise InputError(
            f"lock: {s.name} = {extension:g} m is outside its stroke, 0 … {s.cylinder.stroke:g} m"
        )
    at_tube = Frame((r.L1, 0.0, 0.0)).then(r.end)
    slid = Frame(
        tuple(map(float, add(s.start.r, turn(s.start.R, (extension, 0.0, 0.0))))), s.start.R
    )
    at_rod = at_tube.then(slid)
    at_object = at_rod.then(s.rod_end)
    arm = (
        r.arm.joined(s.tube.moved(at_tube))
        .joined(s.rod.moved(at_rod))
        .joined(s.object.moved(at_object))
    )
    end = r.end.then(slid).then(s.rod_end).then(s.end)
    return Structure(structure.name, replace(r, arm=arm, end=Frame(tuple(end.r), tuple(end.R))))
