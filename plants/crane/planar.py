"""Planar crane with one redundant joint: lift q_1, tilt q_2, extension q_3, and a tool that needs only two of them.

    tip   r = o + L_1 e(θ_1) + (L_2 + q_3) e(θ_2) + h n(θ_2),  θ_1 = q_1, θ_2 = q_1 + q_2,  e ⊥ n           (5), (6)
    joints from the tip and q_3: the two-link inverse with q_2 < 0, by atan2 ((22) takes the wrong branch for q_1 > 90°)
    cylinders   d = √(a² + b² − 2ab cos φ), φ = q + φ_0, x = d − d_0;   dx/dq = ab sin φ/d    ((30) without its lost squares)
    forces      f = (dx/dq)⁻ᵀ τ, τ what the motion asks of the joints of the `mechanism`

Every function is text over scalars, arrays or expressions. h and the centres' perpendicular offsets s are zero in [Nurmi17].

Source: [Nurmi17] Sections 2, 5.3, equations as numbered.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, final

import numpy as np

from plants.drives.laws import Force, Torque
from plants.multibody import drive_forces
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import GROUND, Body
from plants.multibody.parts import Actuator as MovedBy
from workbench.cases.build import build
from workbench.cases.refusals import unknown
from workbench.cases.yaml_input import read
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive, unchecked


@final
@dataclass(frozen=True)
class Link:
    """Rigid body in the plane: mass, centre of mass (r along the link, s perpendicular to it), inertia about that centre.

    r is measured from the joint that the link turns on; that of the third body, the extension, from the tip.
    """

    mass: Annotated[float, Unit("kg"), "mass", positive]
    r: Annotated[float, Unit("m"), "centre of mass along the link"]
    inertia: Annotated[float, Unit("kg m^2"), "inertia about the centre of mass", nonnegative]
    s: Annotated[float, Unit("m"), "centre of mass beside the link"] = 0.0


@final
@dataclass(frozen=True)
class Triangle:
    """A cylinder as the third side of a triangle: sides a and b meet in the joint at the angle q + φ_0; equations in the module.

    Its length is d(q), and x = d − d_0 its piston's position.
    """

    a: Annotated[float, Unit("m"), "one fixed side", positive]
    b: Annotated[float, Unit("m"), "the other", positive]
    d_0: Annotated[float, Unit("m"), "length of the retracted cylinder, pin to pin", positive]
    φ_0: Annotated[float, Unit("rad"), "angle between the sides at q = 0"]

    def length(self, q):
        """d(q), m."""
        return np.sqrt(self.a**2 + self.b**2 - 2 * self.a * self.b * np.cos(q + self.φ_0))

    def lever(self, q):
        """dx/dq (30), m/rad."""
        return self.a * self.b * np.sin(q + self.φ_0) / self.length(q)

    def angle(self, x: float) -> float:
        """q at piston position x."""
        d = self.d_0 + x
        return float(np.arccos((self.a**2 + self.b**2 - d**2) / (2 * self.a * self.b))) - self.φ_0


@final
@dataclass(frozen=True)
class Actuator:
    """Areas and limits of one cylinder."""

    bore: Annotated[float, Unit("m"), "piston diameter", positive]
    rod: Annotated[float, Unit("m"), "rod diameter", positive]
    stroke: Annotated[float, Unit("m"), "piston travel", positive]
    v_max: Annotated[float, Unit("m/s"), "largest speed, both ways", positive]
    a_max: Annotated[float, Unit("m/s^2"), "largest acceleration, both ways", positive]

    def __post_init__(self):
        check_bounds(self)
        if self.rod >= self.bore:
            raise InputError(f"rod: {self.rod:g} m is not thinner than the bore, {self.bore:g} m")

    @property
    def areas(self) -> tuple[float, float]:
        """A_a, A_b, m²."""
        return np.pi / 4 * self.bore**2, np.pi / 4 * (self.bore**2 - self.rod**2)


@final
@dataclass(frozen=True)
class PlanarCrane:
    """A crane in one vertical plane with lift, tilt and extension; equations in `plants.crane.planar`.

    origin: the lift joint's place (x, y) in the world, y upwards. cylinders, bodies: those of lift, tilt and extension.
    """

    name: str
    origin: Annotated[tuple[float, float], Unit("m"), "lift joint in the world"]
    L_1: Annotated[float, Unit("m"), "lift joint to tilt joint", positive]
    L_2: Annotated[float, Unit("m"), "tilt joint to tip along the extension, retracted", positive]
    lift: Triangle
    tilt: Triangle
    cylinders: tuple[Actuator, Actuator, Actuator]
    bodies: tuple[Link, Link, Link]
    h: Annotated[float, Unit("m"), "tip beside the extension's axis"] = 0.0
    load: Annotated[float, Unit("kg"), "further mass at the tip", nonnegative] = 0.0
    g: Annotated[float, Unit("m/s^2"), "gravity, along −y", nonnegative] = 9.81

    joint_names = ("q_1", "q_2", "q_3")
    actuator_names = ("lift", "tilt", "extension")

    def __post_init__(self):
        check_bounds(self)
        for name, triangle, c in zip(("lift", "tilt"), (self.lift, self.tilt), self.cylinders):
            low = abs(triangle.a - triangle.b)
            high = triangle.a + triangle.b
            if not low < triangle.d_0 < triangle.d_0 + c.stroke < high:
                raise InputError(
                    f"{name}: {triangle.d_0:g} … {triangle.d_0 + c.stroke:g} m pin to pin is outside "
                    f"({low:.4g}, {high:.4g}) m, what its sides allow"
                )

    # ---- geometry ---------------------------------------------------------------------------------------------------
    def joint_range(self) -> list[tuple[float, float]]:
        """(low, high) of q_1, q_2, q_3 between retracted and extended cylinders."""
        turns = [
            (t.angle(0.0), t.angle(c.stroke))
            for t, c in zip((self.lift, self.tilt), self.cylinders)
        ]
        return [*turns, (0.0, self.cylinders[2].stroke)]

    def pistons(self, q):
        """x of the three cylinders, m."""
        return [
            self.lift.length(q[0]) - self.lift.d_0,
            self.tilt.length(q[1]) - self.tilt.d_0,
            q[2],
        ]

    def levers(self, q):
        """dx/dq, joint by joint."""
        return [self.lift.lever(q[0]), self.tilt.lever(q[1]), 1.0]

    def tip(self, q):
        """r (5), (6), m."""
        c1 = np.cos(q[0])
        s1 = np.sin(q[0])
        c2 = np.cos(q[0] + q[1])
        s2 = np.sin(q[0] + q[1])
        ℓ = self.L_2 + q[2]
        return [
            self.origin[0] + self.L_1 * c1 + ℓ * c2 - self.h * s2,
            self.origin[1] + self.L_1 * s1 + ℓ * s2 + self.h * c2,
        ]

    def stretch(self, r, q_3):
        """cos of the angle between the links that tip and q_3 ask for; beyond ±1 the tip is out of reach."""
        X = r[0] - self.origin[0]
        Y = r[1] - self.origin[1]
        ρ2 = (self.L_2 + q_3) ** 2 + self.h**2
        return (X**2 + Y**2 - self.L_1**2 - ρ2) / (2 * self.L_1 * np.sqrt(ρ2))

    def joints(self, r, q_3):
        """[q_1, q_2, q_3] with the tip at r; meaningless where |stretch| > 1."""
        X = r[0] - self.origin[0]
        Y = r[1] - self.origin[1]
        ρ = np.sqrt((self.L_2 + q_3) ** 2 + self.h**2)
        ε = np.arctan2(self.h, self.L_2 + q_3)
        c = self.stretch(r, q_3)
        s = -np.sqrt(np.maximum(1.0 - c * c, 1e-12))
        q_1 = np.arctan2(Y, X) - np.arctan2(ρ * s, self.L_1 + ρ * c)
        # s < 0, so that q_1 is above −π, and below 2π.
        return [np.where(q_1 > np.pi, q_1 - 2 * np.pi, q_1), np.arctan2(s, c) - ε, q_3]

    def motion(self, r, rd, rdd, q_3, u, w):
        """(q, q̇, q̈) along a path of the tip with q̇_3 = u, q̈_3 = w (25), (26)."""
        q = self.joints(r, q_3)
        c1 = np.cos(q[0])
        s1 = np.sin(q[0])
        c2 = np.cos(q[0] + q[1])
        s2 = np.sin(q[0] + q[1])
        ℓ = self.L_2 + q_3
        x2, y2 = ℓ * c2 - self.h * s2, ℓ * s2 + self.h * c2  # tilt joint → tip
        x1 = self.L_1 * c1 + x2
        y1 = self.L_1 * s1 + y2
        D = x1 * y2 - y1 * x2  # J_1 = (−y1, x1), J_2 = (−y2, x2)

        def rates(X, Y):
            return [(x2 * X + y2 * Y) / D, -(x1 * X + y1 * Y) / D]

        qd = [*rates(rd[0] - c2 * u, rd[1] - s2 * u), u]
        ω1 = qd[0]
        ω2 = qd[0] + qd[1]
        bias = [
            -(ω1**2) * self.L_1 * c1 - ω2**2 * x2 - 2 * u * ω2 * s2,
            -(ω1**2) * self.L_1 * s1 - ω2**2 * y2 + 2 * u * ω2 * c2,
        ]
        qdd = [*rates(rdd[0] - bias[0] - c2 * w, rdd[1] - bias[1] - s2 * w), w]
        return q, qd, qdd

    # ---- forces -----------------------------------------------------------------------------------------------------
    @cached_property
    def mechanism(self) -> Mechanism:
        """The crane's three bodies and its load, with a torque or force on each joint."""
        one, two, three = self.bodies
        bodies = (
            _body("lift", GROUND, one, (*self.origin, 0.0)),
            _body("tilt", "lift", two, (self.L_1, 0.0, 0.0)),
            _body("extension", "tilt", three, (self.L_2, 0.0, 0.0), slides=True),
            unchecked(
                Body,
                name="load",
                parent="extension",
                joint="fixed",
                point=(0.0, self.h, 0.0),
                mass=self.load,
            ),
        )
        acting = zip(self.actuator_names, (Torque(), Torque(), Force()))
        actuators = tuple(
            unchecked(MovedBy, name=name, drive=drive, joint=name) for name, drive in acting
        )
        return unchecked(
            Mechanism,
            name=self.name,
            bodies=bodies,
            actuators=actuators,
            gravity=(0.0, -self.g, 0.0),
            method="minimal",
        )

    def forces(self, q, qd, qdd):
        """Cylinder forces, N, positive when they push the rod out."""
        T_1, T_2, push = drive_forces.asked(self.mechanism, list(q), list(qd), list(qdd))
        return [T_1 / self.lift.lever(q[0]), T_2 / self.tilt.lever(q[1]), push]


def _body(name: str, parent: str, link: Link, point, slides: bool = False) -> Body:
    """A link of the crane, its frame in the joint and along the link."""
    return unchecked(
        Body,
        name=name,
        parent=parent,
        joint="prismatic" if slides else "revolute",
        point=point,
        axis=(1.0, 0.0, 0.0) if slides else Body.axis,
        mass=link.mass,
        com=(link.r, link.s, 0.0),
        inertia=(0.0, 0.0, link.inertia, 0.0, 0.0, 0.0),
    )


FOLDER = Path(__file__).parents[1] / "parameters" / "planar"


def read_planar(path: str | os.PathLike) -> PlanarCrane:
    """The planar crane in a file with a `crane:` section and, if it likes, `sources:`; InputError with file and line."""
    root = read(path)
    if not isinstance(root.value, dict) or "crane" not in root.value:
        raise root.error(
            "a planar crane's file needs a crane: section",
            key="crane",
            mend="write 'crane:' above its keys, indented",
        )
    for key, child in root.value.items():
        if key not in ("crane", "sources"):
            raise unknown(child, key, ("crane", "sources"))
    return build(PlanarCrane, root.value["crane"], "crane")


def planar_cranes() -> tuple[str, ...]:
    """Names of the shipped planar cranes."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


@cache
def planar_crane(name: str = "hiab-reduced") -> PlanarCrane:
    """The shipped planar crane called `name`."""
    if name not in planar_cranes():
        raise InputError(
            f"no planar crane called {name[:60]!r} is shipped",
            mend=f"choose from {', '.join(planar_cranes())}",
        )
    return read_planar(FOLDER / f"{name}.yaml")
