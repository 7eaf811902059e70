"""Planning of redundant motions for least energy at the pump, see `workbench.planning.dynamic`, or for least time, see
`workbench.planning.fastest.motion`."""

from __future__ import annotations

from workbench.contract.lazy import imported

_HOME = {
    "Task": "task",
    "Step": "task",
    "optimise": "optimum",
    "Plan": "dynamic",
    "Search": "dynamic",
    "motion": "dynamic",
    "PlannedConstantPressure": "supplies",
    "PlannedLoadSensing": "supplies",
    "ElectricLoadSensing": "supplies",
    "TwoPressures": "supplies",
    "Work": "supplies",
    "Speed": "supplies",
    "EfficiencyMap": "supplies",
    "explain": "feasibility",
    "shortest_time": "feasibility",
    "Stretched": "paths",
    "least_time": "fastest.motion",
    "Fastest": "fastest.motion",
}

__all__ = list(_HOME)

# Supplies of a plan have names of their own here, since `plants` has supplies of machines that are called so.
_NOW = {"ConstantPressure": "PlannedConstantPressure", "LoadSensing": "PlannedLoadSensing"}


def __getattr__(name: str):
    if name in _NOW:
        raise AttributeError(
            f"module 'workbench.planning' has no attribute {name!r}: the supply of a plan is called {_NOW[name]}, "
            f"{name} is the supply of a machine, in `plants`"
        )
    return imported(__name__, _HOME, name)
