"""Identification of linear models from test-bench records.

signals     inputs of a test bench: Pulse, Step, Chirp, MultiSine, PRBS
records     Record: checked inputs and outputs; reading: CSV, NetCDF, MAT files
model       Shape (structure), Channel (one transfer function), LinearModel
fit         fit(records, shapes, output) → Fit: estimates with 95 % intervals, what is not identifiable
friction    fit_friction(law, Points | records) → FrictionFit: numbers of a friction law
order       select_order, compare;  residuals: examine, validate, whiteness;  report: table and JSON
"""

from __future__ import annotations

import sys
from types import ModuleType

from workbench.contract.lazy import imported

_HOME = {
    "Record": "records",
    "read_record": "reading",
    "read_table": "reading",
    "Shape": "model",
    "Channel": "model",
    "LinearModel": "model",
    "Fit": "fit",
    "fit": "fit",
    "Pulse": "signals",
    "Step": "signals",
    "Chirp": "signals",
    "MultiSine": "signals",
    "PRBS": "signals",
    "values": "signals",
    "Points": "friction",
    "FrictionFit": "friction",
    "fit_friction": "friction",
    "select_order": "order",
    "compare": "order",
    "examine": "residuals",
    "validate": "residuals",
    "whiteness": "residuals",
}

__all__ = list(_HOME)


def __getattr__(name: str):
    return imported(__name__, _HOME, name)


class _Package(ModuleType):
    # `fit` is a module and the function in it: the import system binds the module, we keep the function.
    def __setattr__(self, name, value):
        super().__setattr__(
            name,
            getattr(value, name, value)
            if name in _HOME and isinstance(value, ModuleType)
            else value,
        )


sys.modules[__name__].__class__ = _Package
