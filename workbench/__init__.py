"""Fluidproof: controller design and stability verification for hydraulic robots."""

from __future__ import annotations

import sys
from types import ModuleType

__version__ = "0.1.0"

# Names are looked up on first use, so that `--help` does not pay for libraries it does not need.
_HOME = {
    "Signal": "system",
    "System": "system",
    "Controller": "system",
    "ClosedLoop": "closed_loop",
    "Plain": "plain",
    "Sampled": "wrappers",
    "Delayed": "wrappers",
    "Saturated": "wrappers",
    "Filtered": "wrappers",
    "Quantised": "wrappers",
    "Noisy": "wrappers",
    "Scenario": "scenario",
    "simulate": "simulate",
    "linearize": "calculus",
    "equilibrium": "calculus",
    "Verdict": "verdict",
    "Log": "log",
    "InputError": "errors",
    "Waypoints": "reference",
    "Sine": "reference",
    "Hold": "reference",
    "Spline": "spline",
    "Steps": "steps",
    "verify": "verification.judge",
    "changed": "edit",
    "load": "file",
    "Case": "file",
    "to_control": "interop",
    "from_control": "interop",
}

__all__ = list(_HOME)


def __getattr__(name: str):
    if name in _HOME:
        import importlib

        return getattr(importlib.import_module(f"workbench.{_HOME[name]}"), name)
    raise AttributeError(f"module 'workbench' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])


class _Package(ModuleType):
    # `workbench.simulate` is a module and a public function: the import system binds the module, we keep the function.
    def __setattr__(self, name, value):
        if name in _HOME and isinstance(value, ModuleType):
            value = getattr(value, name, value)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
