"""Laws that are curves, as expressions: u = K e + c e³, or K h tanh(e/h) where c is 0, of the first output of a plant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from workbench.contract.system import Controller, Signal


@final
@dataclass(frozen=True)
class Curve(Controller):
    """One of them; h is the error beyond which the command hardly grows."""

    plant: Any
    K: float
    c: float = 0.0
    h: float = 0.5

    @property
    def measured(self):
        return self.plant.outputs

    @property
    def commands(self):
        return self.plant.inputs

    @property
    def references(self):
        return (Signal(f"{self.plant.outputs[0].name}_d", "1", "wanted", "reference"),)

    def command(self, t, z, y, r):
        e = r[0] - y[0]
        return [self.K * e + self.c * e**3 if self.c else self.K * self.h * np.tanh(e / self.h)]
