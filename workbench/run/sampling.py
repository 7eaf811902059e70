"""What references share: spaces, points, instants, jumps."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from workbench.contract.errors import InputError

Space = Literal["joint", "piston", "cartesian", "output"]


Point = tuple[float, ...] | Literal["start"]


NAMES = {"joint": "q_d{}", "piston": "x_d{}", "output": "y_d{}"}


AXES = ("x_d", "y_d", "z_d")


def component_names(space: Space, n: int) -> tuple[str, ...]:
    """q_d1 … (joint), x_d1 … (piston), y_d1 … (output), or x_d, y_d, z_d (cartesian, n ≤ 3)."""
    if space == "cartesian" and n > 3:
        raise InputError(
            f"a cartesian reference has at most 3 components, not {n}",
            mend="give x, y (and z) in metres, or another space",
        )
    return AXES[:n] if space == "cartesian" else tuple(NAMES[space].format(i + 1) for i in range(n))


def fix(reference, **values) -> None:
    """Set fields of a frozen object while it is being built."""
    for name, value in values.items():
        object.__setattr__(reference, name, value)


def check_space(space) -> None:
    """InputError unless `space` is one of the four."""
    if space not in (*NAMES, "cartesian"):
        raise InputError(f"space: {space!r}", mend="choose joint, piston, cartesian or output")


def _point(value, where: str) -> Point:
    if isinstance(value, str) and value == "start":
        return value
    try:
        point = tuple(float(entry) for entry in _array(value).reshape(-1))
    except (TypeError, ValueError):
        point = ()
    if not point or not all(map(math.isfinite, point)):
        raise InputError(f"{where}: expected finite numbers or 'start', got {value!r}")
    return point


def _numbers(value, where: str) -> float | tuple[float, ...]:
    """One float or a tuple of them, as plain Python numbers."""
    try:
        return _array(value).item() if np.ndim(value) == 0 else tuple(_array(value).tolist())
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: expected numbers, got {value!r}") from error


def _array(value) -> np.ndarray:
    """Numbers as an array; TypeError for text, which NumPy would read as a number."""
    if np.asarray(value).dtype.kind not in "iuf":
        raise TypeError("text is no number")
    return np.asarray(value, float)


def _known(point: Point) -> tuple[float, ...]:
    if point == "start":
        raise InputError(
            "the reference begins at 'start', which is not known yet",
            mend="call resolve(point) first; simulate does so with the machine's initial state",
        )
    return point


def sample_times(t, order) -> tuple[np.ndarray, int]:
    """t as an array (N,), order as a checked int."""
    if not isinstance(order, (int, np.integer)) or order < 0:
        raise InputError(
            f"order: {order!r}; the number of derivatives is a whole number, 0 or more"
        )
    return np.atleast_1d(np.asarray(t, dtype=float)), int(order)


def merged_jumps(times: np.ndarray, jumps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Jumps at equal times added, those that vanish dropped, in order of time."""
    unique, place = np.unique(times, return_inverse=True)
    total = np.zeros((unique.size, jumps.shape[1]))
    np.add.at(total, place, jumps)
    keep = (total != 0).any(axis=1)
    return unique[keep], total[keep]
