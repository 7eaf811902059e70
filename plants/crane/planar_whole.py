"""The planar crane within a `Manipulator`: its geometry exactly, its bodies lumped into three, or all of its dynamics.

`reduced` keeps lengths, offsets and masses of the links and drops the masses of the lift and tilt cylinders, which swing
between two links. `WholeCrane` has the same members with the forces of the `Manipulator` itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi
from typing import final

import numpy as np

from plants.crane.manipulator import Manipulator
from plants.crane.planar import Actuator, Link, PlanarCrane, Triangle
from plants.multibody import drive_forces
from plants.shipped import machine
from workbench.contract.errors import InputError

# Of lift, tilt, extension: assumed, as in hiab-reduced.yaml.
SPEEDS = (0.10, 0.10, 0.25)
ACCELERATIONS = (0.20, 0.20, 0.50)


def reduced(machine: Manipulator, v_max=SPEEDS, a_max=ACCELERATIONS) -> PlanarCrane:
    """The planar crane of a machine with lift, tilt and extension, all in one vertical plane.

    Raises InputError for a machine of another build.
    """
    _check_build(machine)
    q = [-pi / 2, -pi / 2, 0.0]
    p1, p2 = machine.frames(q)
    at1 = p1["B1"].r
    at2 = p2["B1"].r
    tip = p2["E2"].r
    axis = p2["B5"].R
    _check_plane(machine, axis, p1["B1"].R, p2["B1"].R)
    θ1 = np.arctan2(at2[1] - at1[1], at2[0] - at1[0])
    θ2 = np.arctan2(axis[3], axis[0])
    X, Y = _seen(tip, at2, θ2)
    one = machine.structures[0].revolute
    two = machine.structures[1].revolute
    slide = machine.structures[1].prismatic
    L_1 = float(np.hypot(at2[0] - at1[0], at2[1] - at1[1]))
    bodies = (
        _lump([(p1["B1"], one.arm), (p2["B0"], two.link)], at1, θ1),
        _lump([(p2["B1"], two.arm), (p2["P2"], slide.tube)], at2, θ2),
        _lump(
            [(p2["B5"], slide.rod), (p2["P3"], slide.object), (p2["E2"], machine.payload)],
            at2,
            θ2,
            -X,
        ),
    )
    turned = [(one, q[0] + pi - θ1), (two, q[1] + pi - (θ2 - θ1))]
    lift, tilt = (Triangle(s.L, s.L1, s.x0, _folded(float(φ))) for s, φ in turned)
    cylinders = tuple(
        Actuator(c.bore, c.rod, c.stroke, v, a) for c, v, a in zip(machine.cylinders, v_max, a_max)
    )
    return PlanarCrane(
        name=machine.name,
        origin=(float(at1[0]), float(at1[1])),
        L_1=L_1,
        L_2=X,
        lift=lift,
        tilt=tilt,
        cylinders=cylinders,
        bodies=bodies,
        h=Y,
        load=0.0,
        g=machine.g,
    )


def _check_plane(machine: Manipulator, axis, lift, tilt) -> None:
    """InputError where the extension, or a link, has a direction out of the plane. axis, lift, tilt: their rotations."""
    if max(abs(axis[6]), abs(lift[6]), abs(tilt[6]), abs(tilt[7])) > 1e-9:
        raise InputError(
            f"{machine.name}: its extension leaves the plane of its links",
            mend="plan for a planar machine",
        )


def _check_build(machine: Manipulator) -> None:
    """InputError for a machine without lift, tilt and extension on the usual sides."""
    kinds = [s.prismatic is not None for s in machine.structures]
    if kinds != [False, True]:
        raise InputError(
            f"{machine.name}: a planar crane has a lift, a tilt and an extension, in this order",
            mend="plan for a machine of two revolute segments, the second followed by a prismatic one",
        )
    low = [r[0] for r in machine.joint_range()]
    if low[0] > 0 or low[1] > 0:
        raise InputError(
            f"{machine.name}: a joint has its cylinder on the other side (its pose is positive)",
            mend="plan for a machine with joint positions in (−π, 0)",
        )


def _folded(angle: float) -> float:
    """In (−π, π]."""
    return pi - (pi - angle) % (2 * pi)


def _seen(point, origin, θ) -> tuple[float, float]:
    """Coordinates in the plane along and beside a direction."""
    x = point[0] - origin[0]
    y = point[1] - origin[1]
    return float(x * np.cos(θ) + y * np.sin(θ)), float(y * np.cos(θ) - x * np.sin(θ))


def _lump(parts, origin, θ, shift=0.0) -> Link:
    """Several bodies, each (pose in the world, Body), as one; its coordinate r begins `shift` before the origin."""
    masses = [body.mass for _, body in parts]
    places = []
    own = []
    for at, body in parts:
        R = np.array(at.R, float).reshape(3, 3)
        places.append(_seen(np.array(at.r, float) + R @ np.array(body.com), origin, θ))
        own.append((R @ body.tensor() @ R.T)[2, 2])
    total = sum(masses)
    r, s = (float(np.dot(masses, [p[i] for p in places]) / total) for i in (0, 1))
    spread = sum(m * ((p[0] - r) ** 2 + (p[1] - s) ** 2) for m, p in zip(masses, places))
    return Link(total, r + shift, float(sum(own) + spread), s)


@final
@dataclass(frozen=True)
class WholeCrane:
    """A `PlanarCrane` with the forces of the whole machine, f_c of (68), (55): cylinder masses, case and rod are included.

    planar: the geometry; machine: the `Manipulator` that gives the forces.
    """

    planar: PlanarCrane
    machine: Manipulator

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.planar, name)

    @classmethod
    def of(cls, machine: Manipulator, **limits) -> WholeCrane:
        """The crane of a machine; `limits` as for `reduced`."""
        return cls(reduced(machine, **limits), machine)

    def positions(self, q) -> list:
        """Joint positions of the machine."""
        return [q[0] + self.planar.lift.φ_0 - pi, q[1] + self.planar.tilt.φ_0 - pi, q[2]]

    def forces(self, q, qd, qdd):
        """Cylinder forces, N."""
        return drive_forces.asked(self.machine.mechanism, self.positions(q), list(qd), list(qdd))


def whole_crane(
    name: str, whole: bool = True, change: Callable = lambda plant: plant
) -> WholeCrane | PlanarCrane:
    """The crane of a shipped machine after `change`, with its own dynamics or lumped into three bodies."""
    made = change(machine(name).plant)
    if not isinstance(made, Manipulator):
        raise InputError(f"{name} is no crane", mend="choose hiab-xs031")
    return WholeCrane.of(made) if whole else reduced(made)
