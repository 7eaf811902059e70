"""Where a log came from, as plain data: what is needed to run it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass

import numpy as np

from workbench.contract.parameters import digest, leaves
from workbench.contract.system import System
from workbench.run.grid import Grid
from workbench.run.pace import Pace
from workbench.run.plain_data import SIMPLE
from workbench.run.scenario import Scenario


def provenance(
    loop: System, scenario: Scenario, g: Grid | None = None, pace: Pace | None = None
) -> dict:
    """What is needed to run this again: scenario, parameters and their hash, versions, seed."""
    import platform

    import casadi

    import workbench

    return {
        "scenario": described(scenario),
        "parameters": {leaf.path: float(leaf.value) for leaf in leaves(loop)},
        "parameter_hash": digest(loop),
        "seed": scenario.seed,
        "grid": dict(vars(g)) if g else {},
        "pace": pace.told() if pace else {},
        "versions": {
            "fluidproof": workbench.__version__,
            "numpy": np.__version__,
            "casadi": casadi.__version__,
            "python": platform.python_version(),
        },
    }


def described(value):
    """Plain data for any frozen value (dataclass, mapping, tuple, number, text)."""
    if type(value) in SIMPLE:
        return value
    if is_dataclass(value):
        return {"type": type(value).__name__} | {
            k: described(v) for k, v in vars(value).items() if not k.startswith("_")
        }
    if isinstance(value, Mapping):
        return {k: described(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [described(v) for v in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value if isinstance(value, (int, float, str)) else repr(value)
