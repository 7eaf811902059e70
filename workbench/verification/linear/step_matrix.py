"""The matrix of a loop linearised at one instant: of its flow, or from one sample to the next.

    continuous   A = ∂f/∂x
    sampled      M = J · exp(A (T − δ))                     J = ∂(what jumps)/∂x, T the sample time
                 M = J · exp(A (T − δ)) · R · exp(A δ)      with commands released δ after the sample, R = ∂(release)/∂x

The matrix is scaled by the sizes of the states. Where a plant has constraints, every slope is projected on them from both
sides.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
from scipy.linalg import expm

from workbench.contract.closed_loop import ClosedLoop
from workbench.numerics.calculus import Traced
from workbench.verification.linear.local import _sizes, jacobians_of


class Matrices:
    """Slopes of a traced loop, and the matrix over one sample."""

    def __init__(self, loop: ClosedLoop, traced: Traced):
        self.loop = loop
        self.traced = traced
        self.jac = jacobians_of(traced)
        self.c = traced.constants(loop)
        self.S = _sizes(loop.states)

    def value(self, name: str, t, x, w) -> np.ndarray:
        """Flow, jump, release, log or out as an array."""
        return np.array(getattr(self.traced, name)(t, x, w, self.c)).ravel()

    def over_sample(self, t, x, there, w, later) -> np.ndarray:
        """A of a continuous loop, or M from just after a sample to just after the next one, scaled.

        x: state after the first sample. there: state before the second one.
        """
        A = M = self.slope("flow", t, x, w)
        if self.loop.period is not None:
            T = float(self.loop.period)
            lag = float(self.loop.lag)
            M = expm(A * (T - lag))
            if lag > 0:
                M = M @ self.slope("release", t, x, w) @ expm(A * lag)
            M = self.slope("jump", t, there, later) @ M
        return M / self.S[:, None] * self.S

    def slope(self, name: str, t, x, w) -> np.ndarray:
        """∂/∂x of flow, jump or release; by central differences where it is not finite (√ at 0)."""
        n = len(x)
        J = np.array(self.jac[name](t, x, w, self.c)[0])[:n]
        f = getattr(self.traced, name)
        for i in np.flatnonzero(~np.isfinite(J).all(axis=0)):
            step = np.zeros(n)
            step[i] = 1e-6 * max(abs(x[i]), self.S[i])
            above = np.array(f(t, x + step, w, self.c)).ravel()[:n]
            below = np.array(f(t, x - step, w, self.c)).ravel()[:n]
            J[:, i] = (above - below) / (2 * step[i])
        if self.traced.project is None:
            return J
        P = np.array(_projection(self.traced)(t, x, w, self.c))
        return P @ J @ P


_projections: dict = {}


def _projection(traced) -> ca.Function:
    """∂/∂x of a system's projection on its constraints."""
    if id(traced) not in _projections:
        a = [ca.SX.sym(n, traced.project.size1_in(i)) for i, n in enumerate("txwc")]
        J = ca.densify(ca.jacobian(traced.project(*a), a[1]))
        _projections[id(traced)] = (traced, ca.Function("project", a, [J]))
    return _projections[id(traced)][1]
