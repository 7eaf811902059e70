"""Multibody mechanisms: trees of bodies, loops cut and closed, three solvers over one text."""

from __future__ import annotations

_HOME = (
    {name: "multibody.parts" for name in ("Body", "Loop", "Place", "Actuator", "Pin")}
    | {name: "drives.laws" for name in ("Force", "Torque", "SpringDamper")}
    | {"Mechanism": "multibody.mechanism", "Penalty": "multibody.penalty"}
)

__all__ = list(_HOME)


def __getattr__(name: str):
    if name in _HOME:
        import importlib

        return getattr(importlib.import_module(f"plants.{_HOME[name]}"), name)
    raise AttributeError(f"module 'plants.multibody' has no attribute {name!r}")
