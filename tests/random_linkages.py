"""Random machines with closed loops: chains of links, each turned by a drive of a kind drawn at random.

direct      a cylinder between a pin of the parent and one of the link
cylinder    the same with a case and a piston that weigh something: a loop that a sliding joint closes
crank       a crank and a rod between parent and link (a four-bar), the drive between the parent and the crank
"""

from __future__ import annotations

import numpy as np

from plants import ConstantPressure, Cylinder, ServoCylinder
from plants.components.friction import LuGre
from plants.drives.laws import Force, SpringDamper, Torque
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body, Loop, Pin, Place

KINDS = ("direct", "cylinder", "crank")


def solid(rng, length) -> dict:
    """Mass, centre of mass and inertia of a body about as long as `length`: those of a cloud of points."""
    points = rng.normal(size=(6, 3)) * (0.3 * length, 0.1, 0.07)
    points -= points.mean(axis=0)
    mass = float(rng.uniform(2.0, 20.0))
    J = sum(mass / 6 * (p @ p * np.eye(3) - np.outer(p, p)) for p in points)
    return {
        "mass": mass,
        "com": (0.5 * length, float(0.1 * rng.normal()), float(0.1 * rng.normal())),
        "inertia": tuple(map(float, (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]))),
    }


class _Parts:
    def __init__(self, rng, oil: bool):
        self.rng, self.oil = rng, oil
        self.bodies: list = []
        self.loops: list = []
        self.actuators: list = []

    def drive(self, length: float):
        """A force, or a servo cylinder that is about half extended at this length."""
        if not self.oil or self.rng.random() < 0.3:
            return Force()
        cylinder = Cylinder(
            bore=0.09,
            rod=0.05,
            stroke=0.5 * length,
            V_a0=2e-4,
            c_i=1e-13,
            friction=LuGre() if self.rng.random() < 0.3 else Cylinder(0.1, 0.05, 1.0).friction,
        )
        return ServoCylinder(cylinder, 0.75 * length)

    def link(self, k: int, parent: str, kind: str) -> str:
        """One link on `parent`, with what turns it; its name."""
        rng, name = self.rng, f"link{k}"
        angle = float(rng.uniform(-0.6, 0.6))
        at = (1.0, 0.0, 0.0) if k else (0.0, 0.3, 0.0)
        damping = float(rng.uniform(0.0, 30.0))
        self.bodies.append(
            Body(name, parent, point=at, start=angle, hold=True, damping=damping, **solid(rng, 1.0))
        )
        foot = (at[0] - 0.5, at[1] - 0.35, 0.0)  # on the parent, behind and below the joint
        getattr(self, kind)(k, parent, at, foot, angle)
        return name

    def direct(self, k, parent, at, foot, angle):
        pin = (0.45, 0.1, 0.0)
        c, s = np.cos(angle), np.sin(angle)
        far = np.array([at[0] + c * pin[0] - s * pin[1], at[1] + s * pin[0] + c * pin[1]])
        length = float(np.hypot(*(far - foot[:2])))
        self.actuators.append(
            Actuator(f"d{k}", self.drive(length), Pin(parent, foot), Pin(f"link{k}", pin))
        )

    def cylinder(self, k, parent, at, foot, angle):
        pin = (0.45, 0.1, 0.0)
        c, s = np.cos(angle), np.sin(angle)
        far = np.array([at[0] + c * pin[0] - s * pin[1], at[1] + s * pin[0] + c * pin[1]])
        along = far - foot[:2]
        length = float(np.hypot(*along))
        tilt = float(np.arctan2(along[1], along[0]))
        case, piston = f"case{k}", f"piston{k}"
        self.bodies += [
            Body(case, parent, point=foot, start=tilt, **solid(self.rng, 0.4)),
            Body(
                piston,
                case,
                "prismatic",
                axis=(1.0, 0.0, 0.0),
                start=length - 0.4,
                **solid(self.rng, 0.4),
            ),
        ]
        self.loops.append(Loop(f"eye{k}", Place(piston, (0.4, 0.0, 0.0)), Place(f"link{k}", pin)))
        self.actuators.append(Actuator(f"d{k}", self.drive(length - 0.4), joint=piston))

    def crank(self, k, parent, at, foot, angle):
        """A crank at `foot`, a rod from its end to a pin of the link, the drive on the crank."""
        pin, r = np.array([0.3, 0.3]), 0.45
        c, s = np.cos(angle), np.sin(angle)
        far = np.array([at[0] + c * pin[0] - s * pin[1], at[1] + s * pin[0] + c * pin[1]])
        turn = float(np.arctan2(*(far - foot[:2])[::-1]) + 1.1)
        end = np.array(foot[:2]) + r * np.array([np.cos(turn), np.sin(turn)])
        rod = far - end
        length = float(np.hypot(*rod))
        crank, bar = f"crank{k}", f"rod{k}"
        self.bodies += [
            Body(crank, parent, point=foot, start=turn, **solid(self.rng, r)),
            Body(
                bar,
                crank,
                point=(r, 0.0, 0.0),
                start=float(np.arctan2(rod[1], rod[0]) - turn),
                **solid(self.rng, length),
            ),
        ]
        self.loops.append(
            Loop(
                f"eye{k}",
                Place(bar, (length, 0.0, 0.0)),
                Place(f"link{k}", (float(pin[0]), float(pin[1]), 0.0)),
            )
        )
        hold = (foot[0] - 0.6, foot[1] - 0.2, 0.0)
        reach = float(np.hypot(end[0] - hold[0], end[1] - hold[1]))
        self.actuators.append(
            Actuator(f"d{k}", self.drive(reach), Pin(parent, hold), Pin(crank, (r, 0.0, 0.0)))
        )


def linkage(seed: int, links: int = 2, oil: bool = True, **options) -> Mechanism:
    """A chain of links on a slewing or fixed foot, driven as the seed says; sometimes with a spring."""
    rng = np.random.default_rng(seed)
    parts = _Parts(rng, oil)
    parent = "ground"
    if rng.random() < 0.4:
        parts.bodies.append(Body("slew", axis=(0.0, 1.0, 0.0), start=0.3, **solid(rng, 0.5)))
        parts.actuators.append(Actuator("turn", Torque(), joint="slew"))
        parent = "slew"
    for k in range(links):
        parent = parts.link(k, parent, KINDS[rng.integers(len(KINDS))])
    if rng.random() < 0.5:
        spring = SpringDamper(k=900.0, s_0=0.8, d=40.0)
        parts.actuators.append(
            Actuator(
                "spring", spring, Pin("ground", (0.2, 1.5, 0.0)), Pin("link0", (0.7, 0.2, 0.0))
            )
        )
    given = {"method": "minimal", "supply": ConstantPressure() if oil else None}
    takers = any(isinstance(a.drive, ServoCylinder) for a in parts.actuators)
    if not takers:
        given["supply"] = None
    return Mechanism(
        tuple(parts.bodies), tuple(parts.loops), tuple(parts.actuators), **{**given, **options}
    )
