"""Linear systems of the tests on stability and margins."""

import control
import numpy as np

from workbench.verification.linear.systems import LinearSystem

s = control.tf("s")


def system(g) -> LinearSystem:
    return LinearSystem.from_control(control.ss(g))


def random_loop(seed: int) -> LinearSystem:
    """A stable open loop of 1 to 7 states, continuous or sampled, with and without feedthrough."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    A = rng.normal(size=(n, n)) * 3
    T = None if seed % 2 else 0.013
    λ = np.linalg.eigvals(A)
    A = A - (λ.real.max() + 0.3) * np.eye(n) if T is None else A * 0.9 / abs(λ).max()
    D = 0.4 * rng.normal() * (seed % 3 == 0)
    return LinearSystem(A, rng.normal(size=(n, 1)), rng.normal(size=(1, n)), [[D]], T)


def response(L, ω):
    """L by python-control at frequencies ω."""
    return np.asarray(L.to_control()(1j * ω if L.T is None else np.exp(1j * ω * L.T))).ravel()
