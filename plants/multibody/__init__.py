"""Multibody mechanisms: trees of bodies, loops cut and closed, three solvers over one text."""

from __future__ import annotations

from workbench.contract.lazy import imported

_HOME = (
    {name: "multibody.parts" for name in ("Body", "Loop", "Place", "Actuator", "Pin")}
    | {name: "drives.laws" for name in ("Force", "Torque", "SpringDamper")}
    | {"Mechanism": "multibody.mechanism", "Penalty": "multibody.penalty.integrator"}
)

__all__ = list(_HOME)


def __getattr__(name: str):
    return imported(__name__, _HOME, name, "plants")
