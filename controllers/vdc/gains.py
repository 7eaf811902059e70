"""Gains of virtual decomposition control: unit, meaning and bound of each, and what it is where a file leaves it out.

Laws with the same gain take its type and its default from here. A tuple has one number for all actuators, or one for each. k_x of a
hydraulic motor is in m³/rad², where a cylinder's is in m.

Source: [Petrovic22] (8), (35)–(37), (90)–(93); k_m and Kk_f stand in place of k_x and βk_f behind metering valves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from workbench.contract.parameters import Unit, nonnegative, positive

PositionGains = Annotated[tuple[float, ...], Unit("1/s"), "position gains", positive]
MassGain = Annotated[float, Unit("1/s"), "velocity gain per mass, K_A = κ M_A + K_I 1", nonnegative]
DiagonalGain = Annotated[
    float,
    Unit("1"),
    "velocity gain added on the diagonal of every K_A (N s/m, N m s)",
    nonnegative,
]
VelocityGains = Annotated[
    tuple[float, ...],
    Unit("m"),
    "velocity gain of the actuators; left out, by the oil's stiffness",
    positive,
]
ForceGains = Annotated[
    tuple[float, ...], Unit("1/s"), "force gain of the actuators times the bulk modulus", positive
]
MeteredVelocityGains = Annotated[
    tuple[float, ...], Unit("1"), "velocity gain of metered sections", positive
]
MeteredForceGains = Annotated[
    tuple[float, ...],
    Unit("1/s"),
    "force gain of metered sections times the oil's stiffness",
    positive,
]

USUAL_λ = 8.0  # 1/s
USUAL_κ = 10.0  # 1/s
USUAL_K_I = 0.0
USUAL_K_X = 6e-3  # m, at most (`controllers.vdc.drives.servo_valve.bearable_k_x`)
USUAL_βk_f = 120.0  # 1/s
USUAL_k_m = 1.0
USUAL_Kk_f = 60.0  # 1/s


def agreed(values: Iterable[float]) -> tuple[float, ...]:
    """One number where all of them agree, else each."""
    found = tuple(values)
    return found[:1] if len(set(found)) == 1 else found
