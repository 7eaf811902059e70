"""Numbers read off a run: pure functions of time t (N,) and signals e (N,) or (N, n).

Signals with n columns are measured by their Euclidean length at each time. Nothing here hides a failed run: where a
signal is not a number, neither is the result (`settling_time` refuses it).
"""

from __future__ import annotations

import math

import numpy as np

from workbench.contract.errors import InputError
from workbench.numerics.overflow import may_overflow

__all__ = [
    "l2_norm",
    "linf_norm",
    "magnitude",
    "max_abs",
    "overshoot",
    "performance_index",
    "rms",
    "settling_time",
]


def __dir__() -> list[str]:
    return __all__


@may_overflow()
def magnitude(e) -> np.ndarray:
    """|e| (N,): absolute value, or Euclidean length of the rows."""
    e = np.asarray(e, dtype=float)
    return np.abs(e) if e.ndim == 1 else np.sqrt((e**2).sum(axis=1))


def rms(t, e) -> float:
    """√(1/T ∫ |e|² dt) by the trapezoid rule, in the unit of e."""
    t = np.asarray(t, dtype=float)
    if t.size < 2 or not t[-1] > t[0]:
        raise InputError("rms: needs at least two samples at different times")
    return l2_norm(t, e) / math.sqrt(t[-1] - t[0])


@may_overflow()
def l2_norm(t, e) -> float:
    """‖e‖₂ = √(∫ |e|² dt) by the trapezoid rule, in unit·√s."""
    return float(np.sqrt(np.trapezoid(magnitude(e) ** 2, np.asarray(t, dtype=float))))


def linf_norm(e) -> float:
    """‖e‖∞ = max_t |e(t)|."""
    return float(np.max(magnitude(e)))


def max_abs(e) -> float:
    """Largest entry in absolute value; for one signal the same as `linf_norm`."""
    return float(np.max(np.abs(np.asarray(e, dtype=float))))


def performance_index(e, v) -> float:
    """ρ = max|e| / max|v| in s: position error over velocity of the same motion. Source: [Petrovic22] Section I."""
    fastest = linf_norm(v)
    if fastest == 0:
        raise InputError(
            "performance index: the velocity is zero throughout",
            mend="measure it on a run that moves",
        )
    return linf_norm(e) / fastest


def settling_time(t, y, target: float, band: float) -> float:
    """Time (s, from t[0]) after which |y − target| ≤ band for the rest of the run; inf when it ends outside."""
    t = np.asarray(t, dtype=float)
    away = np.abs(np.asarray(y, dtype=float) - target) - band
    _finite("settling time", away)
    outside = np.flatnonzero(away > 0)
    if outside.size == 0:
        return 0.0
    i = outside[-1]
    if i == away.size - 1:
        return math.inf
    return float(t[i] + (t[i + 1] - t[i]) * away[i] / (away[i] - away[i + 1]) - t[0])


def overshoot(y, target: float) -> float:
    """Largest excursion beyond `target`, as a fraction of the step from y[0]; 0 when it is never passed."""
    y = np.asarray(y, dtype=float)
    step = target - y[0]
    if step == 0:
        raise InputError("overshoot: the signal begins at its target", mend="measure it on a step")
    return float(np.maximum(np.max((y - target) / step), 0.0))


def _finite(what: str, values: np.ndarray) -> None:
    if not np.isfinite(values).all():
        raise InputError(f"{what}: the signal is not finite", mend="look at the run's status first")
