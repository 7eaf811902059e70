"""A velocity gain K_A of one body, given by the user as a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds


@final
@dataclass(frozen=True)
class BodyGain:
    """K_A of one body, named by structure and frame ("tilt.B1"): 6×6, row by row; its symmetric part positive definite."""

    name: str
    K: Annotated[
        tuple[float, ...], Unit("1"), "K_A in SI units (N s/m, N s, N m s), 36 numbers row by row"
    ]

    def __post_init__(self):
        check_bounds(self)
        if len(self.K) != 36:
            raise InputError(f"K: expected 36 numbers, row by row, got {len(self.K)}")
        low = np.linalg.eigvalsh(symmetric(self.K))[0]
        if low <= 0:
            raise InputError(
                f"K: K_A of {self.name} is not positive definite (smallest eigenvalue of its symmetric part "
                f"{low:.4g})"
            )


def symmetric(K) -> np.ndarray:
    """Symmetric part of a 6×6 matrix given row by row."""
    K = np.array(K, float).reshape(6, 6)
    return (K + K.T) / 2
