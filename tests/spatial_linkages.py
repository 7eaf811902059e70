"""Machines in space: random loops through ball joints, and a plate on a ball joint that three drives tilt."""

from __future__ import annotations

import numpy as np
from random_linkages import solid

from plants.drives.laws import Force
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body, Loop, Pin, Place


def _near(rng, direction, size: float = 0.15) -> tuple:
    """A direction near another one."""
    return tuple(map(float, np.array(direction) + size * rng.normal(size=3)))


def rocker(seed: int, drive=None, **options) -> Mechanism:
    """A crank, a rod on a universal joint and a rocker across it, closed by a ball joint; a drive between ground and crank."""
    rng = np.random.default_rng(seed)
    damping = float(rng.uniform(0.0, 20.0))
    crank = Body(
        "crank",
        axis=_near(rng, (0, 0, 1)),
        start=0.4,
        hold=True,
        damping=damping,
        **solid(rng, 0.4),
    )
    cross = Body(
        "cross", "crank", point=(0.4, 0.0, 0.05), axis=(0.0, 1.0, 0.1), start=0.3, **solid(rng, 0.1)
    )
    rod = Body("rod", "cross", axis=_near(rng, (0, 0, 1)), start=-0.4, **solid(rng, 0.9))
    arm = Body(
        "arm", point=(1.2, -0.4, 0.2), axis=_near(rng, (0.3, 0.2, 1)), start=1.5, **solid(rng, 0.6)
    )
    ball = Loop("ball", Place("rod", (1.0, 0.0, 0.0)), Place("arm", (0.7, 0.0, 0.0)), "spherical")
    pins = Pin("ground", (-0.5, -0.4, 0.1)), Pin("crank", (0.3, 0.1, 0.0))
    return Mechanism(
        (crank, cross, rod, arm), (ball,), (Actuator("d", drive or Force(), *pins),), **options
    )


def plate(drive=None, **options) -> Mechanism:
    """A plate on a ball joint; three drives between the ground and its rim, none of which knows a joint."""
    legs = []
    for k in range(3):
        foot, rim = 2.1 * k, 2.1 * k + 0.4
        legs.append(
            Actuator(
                f"leg{k}",
                drive or Force(),
                Pin("ground", (1.0 * float(np.cos(foot)), 0.0, float(np.sin(foot)))),
                Pin("plate", (0.7 * float(np.cos(rim)), 0.05, 0.7 * float(np.sin(rim)))),
            )
        )
    body = Body(
        "plate",
        joint="spherical",
        point=(0.0, 0.9, 0.0),
        mass=120.0,
        com=(0.02, 0.3, 0.01),
        inertia=(9.0, 12.0, 8.0, 0.2, 0.1, 0.3),
        start=(0.05, 0.1, -0.08),
        damping=4.0,
    )
    return Mechanism((body,), actuators=tuple(legs), **options)
