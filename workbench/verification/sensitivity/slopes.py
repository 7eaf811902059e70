"""How margins change with numbers, by differences of runs, each with an estimate of its error.

    D(ε) = (m(θ(1 + ε)) − m(θ(1 − ε))) / (2ε)          central difference of the margin m to ln θ
    D    = (4 D(ε/2) − D(ε)) / 3                        the first term of its error taken off
    error  |D(ε/2) − D(ε)|                              of the order ε²; large where the margin has a kink there

A number moves the margin by 0.1 D where it grows by 10 %, and by D/θ where it grows by one unit. Margins are least values over
time, so that they have kinks where another instant or another clause takes over: there the error is as large as what it is of,
which is then told as not smooth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

STEP = 0.01  # ε
FACTORS = (1 - STEP, 1 - STEP / 2, 1 + STEP / 2, 1 + STEP)
SMOOTH = 0.3  # of a slope: the error up to which a margin counts as smooth

DERIVATIVE, DIFFERENCES, MORRIS = "derivative", "differences", "Morris"  # where a slope is from

Margins = Callable[[Sequence[Mapping[str, float]]], np.ndarray]  # factors (k) → margins (k, m)


@dataclass(frozen=True)
class Slope:
    """What a number does to a margin: change where it grows by 10 %, its error, in the margin's unit; NaN where runs fail.

    by: a derivative of the run, differences of runs beside it, or Morris' effects over a range, where the margin is not smooth.
    """

    name: str
    tenth: float
    error: float
    by: str = DIFFERENCES

    @property
    def known(self) -> bool:
        """Whether the runs beside the case say how the margin changes."""
        return bool(np.isfinite(self.tenth))

    @property
    def smooth(self) -> bool:
        """Whether one slope says how the margin changes near by."""
        tells = self.known and self.by != MORRIS
        return tells and bool(self.error <= SMOOTH * abs(self.tenth))


def slopes(margins: Margins, names: Sequence[str]) -> list[list[Slope]]:
    """For every margin, the slope of each number: runs with each number (name → factor) moved alone."""
    asked = [{name: factor} for name in names for factor in FACTORS]
    found = np.asarray(margins(asked), float).reshape(len(names), len(FACTORS), -1)
    wide = (found[:, 3] - found[:, 0]) / (2 * STEP)
    narrow = (found[:, 2] - found[:, 1]) / STEP
    slope = (4 * narrow - wide) / 3
    error = np.abs(narrow - wide)
    return [
        [
            Slope(name, float(0.1 * slope[i, j]), float(0.1 * error[i, j]))
            for i, name in enumerate(names)
        ]
        for j in range(found.shape[2])
    ]
