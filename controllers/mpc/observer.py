"""State and disturbance estimation: a stationary Kalman filter with integrating disturbances.

    x⁺ = A x + B u + B_d d + w_x,   d⁺ = d + w_d,   y = C x + C_d d + v
    x̂ ← x̂ + L (y − C x̂ − C_d d̂)   at the sample,   then the prediction

Without steady-state error when there are as many disturbances as measured outputs [PannocchiaRawlings03].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np

from controllers.riccati import riccati
from workbench.contract.errors import InputError, miscounted
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive


@final
@dataclass(frozen=True)
class Observer:
    """Noise and disturbances that the Kalman filter assumes; a single entry stands for all signals of its kind.

    σ_y          standard deviation of the noise on each measured output, in its unit
    σ_d          standard deviation of the change of each disturbance from sample to sample, in the unit of its signal
    σ_w          standard deviation of white noise added to each disturbance, in the same unit
    σ_x          standard deviation of white noise added to each state at every sample, in its unit; 0: none
    disturbance  where the disturbances act, by name: on a command, on a disturbance input, or added to an output; () stands
                 for all commands
    Raises ValueError for σ_y or σ_d that is not positive, and for σ_w or σ_x below zero.
    """

    σ_y: Annotated[
        tuple[float, ...], Unit("1"), "measurement noise, in the outputs' units", positive
    ]
    σ_d: Annotated[tuple[float, ...], Unit("1"), "change of the disturbances a sample", positive]
    σ_w: Annotated[tuple[float, ...], Unit("1"), "white disturbance", nonnegative] = (0.0,)
    σ_x: Annotated[tuple[float, ...], Unit("1"), "white noise on the states", nonnegative] = (0.0,)
    disturbance: tuple[str, ...] = ()

    def __post_init__(self):
        check_bounds(self)


@dataclass(frozen=True, eq=False)
class Kalman:
    """Stationary filter: gain L (x̂ ← x̂ + L innovation), predicted covariance P, spectral radius of A(1 − L C), residual."""

    L: np.ndarray
    P: np.ndarray
    radius: float
    residual: float


def kalman(A, C, W, V) -> Kalman:
    """The stationary filter for process covariance W and measurement covariance V.

    Raises InputError when V is not positive definite, W not positive semidefinite, or no stable filter exists.
    """
    A, C, W, V = (np.atleast_2d(np.asarray(M, float)) for M in (A, C, W, V))
    check_covariance("V", V, strict=True)
    check_covariance("W", W)
    try:
        found = riccati(A.T, C.T, W, V)
    except InputError as reason:
        raise InputError(
            f"no stationary Kalman filter: {reason.message}",
            mend="measure, and let noise drive, every mode that is not stable by itself",
        ) from None
    P = found.P
    return Kalman(np.linalg.solve(C @ P @ C.T + V, C @ P).T, P, found.radius, found.residual)


def check_covariance(name: str, M: np.ndarray, strict: bool = False) -> None:
    """InputError unless M is symmetric and positive (semi)definite."""
    d = np.sqrt(np.maximum(np.diag(M), 0.0))
    d = np.where(d > 0, d, 1.0)
    low = np.linalg.eigvalsh((M + M.T) / 2 / d[:, None] / d).min(initial=np.inf)
    if not np.allclose(M, M.T, rtol=1e-9, atol=0.0) or not (
        low > 1e-13 if strict else low >= -1e-12
    ):
        raise InputError(
            f"{name}: no covariance: smallest eigenvalue {low:.3g} (scaled to unit variances), "
            f"expected {'more than 0' if strict else '0 or more'}",
            mend="give variances, the squares of standard deviations",
        )


def augmented(A, B_d, C, C_d) -> tuple[np.ndarray, np.ndarray]:
    """A and C of (x, d)."""
    n, k = B_d.shape
    return np.block([[A, B_d], [np.zeros((k, n)), np.eye(k)]]), np.hstack([C, C_d])


def check_observable(A, B_d, C, C_d, labels=()) -> None:
    """Refuse disturbances that the outputs cannot tell apart from each other or from the states.

    rank [1 − A, −B_d; C, C_d] must be n + n_d [PannocchiaRawlings03].
    """
    n, k = B_d.shape
    M = np.block([[np.eye(n) - A, -B_d], [C, C_d]])
    M = M / np.maximum(np.abs(M).max(axis=0), 1e-300)
    M = M / np.maximum(np.abs(M).max(axis=1, keepdims=True), 1e-300)
    s = np.linalg.svd(M, compute_uv=False)
    if k > len(C) or s[-1] < 1e-10 * s[0]:
        raise InputError(
            f"the disturbances {', '.join(labels) or k} cannot be told apart from the states by what is "
            f"measured ({len(C)} outputs)",
            mend="at most one disturbance a measured output; on an output behind an integrator only one at "
            "the input can be seen",
        )


def covariances(n: int, B_d, p: int, given: Observer) -> tuple[np.ndarray, np.ndarray]:
    """W of (x, d) and V that `given` describes, for n states, p outputs."""
    k = B_d.shape[1]
    σ = {}
    for name, count in {"σ_y": p, "σ_d": k, "σ_w": k, "σ_x": n}.items():
        value = getattr(given, name)
        if len(value) not in (1, count):
            raise miscounted(f"observer.{name}", len(value), count)
        σ[name] = np.broadcast_to(np.array(value, float), (count,))
    W = np.zeros((n + k, n + k))
    W[:n, :n] = np.diag(σ["σ_x"] ** 2) + B_d @ np.diag(σ["σ_w"] ** 2) @ B_d.T
    W[n:, n:] = np.diag(σ["σ_d"] ** 2)
    return W, np.diag(σ["σ_y"] ** 2)


def design(A, B_d, C, C_d, given: Observer, labels=()) -> Kalman:
    """The filter for (x, d) that `given` describes. Raises InputError as its parts do."""
    check_observable(A, B_d, C, C_d, labels)
    return kalman(*augmented(A, B_d, C, C_d), *covariances(len(A), B_d, len(C), given))
