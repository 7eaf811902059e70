"""Planning of redundant motions for least energy at the pump, see `workbench.planning.dynamic`, or for least time, see
`workbench.planning.fastest`."""

from __future__ import annotations

_HOME = {
    "Task": "task",
    "Step": "task",
    "optimise": "recursion",
    "Plan": "dynamic",
    "Search": "dynamic",
    "motion": "dynamic",
    "ConstantPressure": "supplies",
    "LoadSensing": "supplies",
    "ElectricLoadSensing": "supplies",
    "TwoPressures": "supplies",
    "Work": "supplies",
    "Speed": "supplies",
    "EfficiencyMap": "supplies",
    "explain": "feasibility",
    "shortest_time": "feasibility",
    "Stretched": "paths",
    "least_time": "fastest",
    "Fastest": "fastest",
}

__all__ = list(_HOME)


def __getattr__(name: str):
    if name in _HOME:
        import importlib

        return getattr(importlib.import_module(f"workbench.planning.{_HOME[name]}"), name)
    raise AttributeError(f"module 'workbench.planning' has no attribute {name!r}")
