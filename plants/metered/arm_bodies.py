"""Metered arms written as bodies, rods and forces at their tips: a body on the ground for each arm, its rod between two pins or on
its joint.

Bodies and rods are called as the arms, forces tip_…; a rod of oil that can be compressed is a `CompressibleRod`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plants.drives.metered_rod import MeteredRod
from plants.drives.tip_force import TipForce
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import GROUND, Actuator, Body, Pin
from workbench.contract.parameters import unchecked


def rod(arm) -> MeteredRod:
    """What moves an arm: its section of valves, with its own stiffness and damping between rod and arm."""
    own = {"K": arm.K, "B": arm.B, "section": arm.section, "regeneration": arm.regeneration}
    return unchecked(MeteredRod, **own | ({"i": arm.i} if arm.turns else {}))


def mechanism(name: str, arms, g, supply, drive: Callable[[Any], Any] = rod) -> Mechanism:
    """The mechanism of `arms`, whose numbers may be expressions; drive(arm) is what moves an arm."""
    tips = [
        unchecked(Actuator, name=f"tip_{a.name}", drive=unchecked(TipForce, L=a.L_f), joint=a.name)
        for a in arms
    ]
    return unchecked(
        Mechanism,
        name=name,
        bodies=tuple(map(_body, arms)),
        actuators=(*(_actuator(a, drive(a)) for a in arms), *tips),
        gravity=(0.0, -g, 0.0),
        method="minimal",
        supply=supply,
    )


def _body(arm) -> Body:
    return unchecked(
        Body,
        name=arm.name,
        mass=arm.M,
        com=(arm.L_g, 0.0, 0.0),
        inertia=(0.0, arm.J, arm.J, 0.0, 0.0, 0.0),
        start=arm.θ_0,
    )


def _actuator(arm, drive) -> Actuator:
    if arm.turns:
        return unchecked(Actuator, name=arm.name, drive=drive, joint=arm.name)
    pin = (-arm.L_m * np.cos(arm.α), arm.L_m * np.sin(arm.α), 0.0)
    return unchecked(
        Actuator,
        name=arm.name,
        drive=drive,
        a=unchecked(Pin, body=GROUND, point=(arm.r_bx, arm.r_by, 0.0)),
        b=unchecked(Pin, body=arm.name, point=pin),
    )
