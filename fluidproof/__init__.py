"""Fluidproof: controller design and stability verification for hydraulic robots, under one name.

    import fluidproof as fp

    crane = fp.machine("hiab-xs031").plant
    loop = fp.ClosedLoop(crane, fp.Sampled(fp.VDC(model=crane), 1e-3))
    print(fp.verify(loop, fp.Scenario(duration=5.0)))

Every public name of `plants`, `controllers`, `workbench` and `reports` is found here. What belongs to
one subject only stands in a module of its own: `fp.claims` (what may be asked of a loop),
`fp.planning`, `fp.identification`, `fp.sweep`, `fp.circuits` (valve circuits), `fp.multibody`
(mechanisms of one's own), `fp.tuning` (gains of a law), `fp.metrics` (numbers read off a run).

Where a docstring names a module, `help("plants.components.cylinder")` shows its equations.

Names are looked up on first use: importing this module imports nothing else.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

# Packages whose public names are found here, in the order in which they are asked.
PACKAGES = ("workbench", "plants", "controllers", "reports")

MODULES = {
    "claims": "workbench.verification.claims",
    "planning": "workbench.planning",
    "identification": "workbench.identification",
    "sweep": "workbench.sweep",
    "circuits": "plants.valve_circuits",
    "multibody": "plants.multibody",
    "tuning": "controllers.pid_tuning",
    "metrics": "workbench.run.metrics",
}


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return importlib.import_module(MODULES[name])
    if name == "__version__":
        return _package("workbench").__version__
    if not name.startswith("_"):
        for package in map(_package, PACKAGES):
            if name in package.__all__:
                return getattr(package, name)
    raise AttributeError(f"module 'fluidproof' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Every name found here: those of the four packages, and the modules."""
    found = {name for package in map(_package, PACKAGES) for name in package.__all__}
    return sorted(found | set(MODULES) | {"__version__"})


def _package(name: str) -> ModuleType:
    """One of the four packages, which lie beside this one.

    Raises ImportError where a file or folder of the user's stands in its place.
    """
    package = importlib.import_module(name)
    where = getattr(package, "__file__", None) or "a folder"
    if Path(where).parent.parent != Path(__file__).parent.parent:
        raise ImportError(
            f"fluidproof: {where} is in the place of this library's package {name!r}. "
            f"Give it another name, or start Python in another folder."
        )
    return package
