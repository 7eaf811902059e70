"""Linear systems: state space, frequency response, and how loops are put together and taken apart.

    ẋ = A x + B u,  y = C x + D u   (T is None)         x⁺ = A x + B u,  y = C x + D u   (samples every T seconds)

`sampled_data` discretises, `stability` decides from eigenvalues and a Lyapunov matrix, `norms` and `margins` ask how
far from the edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from workbench.contract.errors import InputError

EPS = float(np.finfo(float).eps)


@final
@dataclass(frozen=True, eq=False)
class LinearSystem:
    """State space: A n×n, B n×m, C p×n, D p×m (lists and scalars accepted); T sample time in s, None = continuous.

    Raises InputError when shapes disagree, an entry is not finite, or T is not positive.
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    T: float | None = None

    def __post_init__(self):
        n = np.atleast_2d(self.A).shape[0] if np.size(self.A) else 0
        m = np.atleast_2d(self.D).shape[1]
        p = np.atleast_2d(self.D).shape[0]
        for name, shape in {"A": (n, n), "B": (n, m), "C": (p, n), "D": (p, m)}.items():
            value = np.array(getattr(self, name), dtype=float)
            value = value.reshape(shape) if value.size == 0 and 0 in shape else np.atleast_2d(value)
            if value.shape != shape:
                raise InputError(
                    f"linear system: {name} is {'×'.join(map(str, value.shape))}, expected "
                    f"{shape[0]}×{shape[1]} ({n} states, {m} inputs, {p} outputs)",
                    key=name,
                    mend="give A n×n, B n×m, C p×n, D p×m as nested lists or arrays",
                )
            if not np.all(np.isfinite(value)):
                raise InputError(
                    f"linear system: {name} has an entry that is not finite",
                    key=name,
                    mend="linearise at a state where the plant has a derivative",
                )
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        if self.T is not None and not (np.isfinite(self.T) and self.T > 0):
            raise InputError(
                f"linear system: sample time {self.T:g} s, expected more than 0 s",
                key="T",
                mend="T=None for a continuous system",
            )

    @property
    def siso(self) -> bool:
        return self.D.shape == (1, 1)

    @property
    def top(self) -> float:
        """Largest frequency there is, rad/s: ∞, or π/T."""
        return np.inf if self.T is None else np.pi / self.T

    def at(self, ω: float) -> np.ndarray:
        """Frequency response G(jω) or G(e^{jωT}), complex p×m; D at ω = ∞, entries ∞ exactly at a pole."""
        if np.isinf(ω) or not len(self.A):
            return self.D.astype(complex)
        shifted = self._axis(ω) * np.eye(len(self.A)) - self.A
        try:
            return self.C @ np.linalg.solve(shifted, self.B.astype(complex)) + self.D
        except np.linalg.LinAlgError:
            return np.full(self.D.shape, np.inf, dtype=complex)

    def _axis(self, ω: float) -> complex:
        """jω, or e^{jωT}, which is exactly −1 at the largest frequency."""
        if self.T is None:
            return 1j * ω
        return -1.0 if ω == self.top else np.exp(1j * ω * self.T)

    def response(self, ω) -> np.ndarray:
        """`at` for many frequencies ω (N,) at once, (N, p, m)."""
        ω = np.asarray(ω, float)
        found = np.tile(self.D.astype(complex), (len(ω), 1, 1))
        inside = np.isfinite(ω)
        if not len(self.A) or not inside.any():
            return found
        λ = 1j * ω[inside]
        if self.T is not None:
            λ = np.where(ω[inside] == self.top, -1.0, np.exp(λ * self.T))
        shifted = λ[:, None, None] * np.eye(len(self.A)) - self.A
        try:
            states = np.linalg.solve(shifted, self.B.astype(complex)[None])
            found[inside] += self.C @ states
        except np.linalg.LinAlgError:  # one of them is a pole
            found[inside] = [self.at(w) for w in ω[inside]]
        return found

    def to_control(self):
        """This system as `control.StateSpace`."""
        import control

        return control.StateSpace(
            self.A,
            self.B,
            self.C,
            self.D,
            0 if self.T is None else self.T,
            remove_useless_states=False,
        )

    @staticmethod
    def from_control(sys) -> LinearSystem:
        """From any linear python-control system; dt = None counts as continuous, dt = True is refused."""
        import control

        if sys.dt is True:
            raise InputError(
                "python-control system is sampled with unspecified sample time (dt = True)",
                mend="give dt in seconds",
            )
        s = control.ss(sys)
        return LinearSystem(s.A, s.B, s.C, s.D, float(s.dt) if s.dt else None)


def same_clock(*systems: LinearSystem) -> float | None:
    """The common sample time; InputError when they differ."""
    if len({s.T for s in systems}) > 1:
        raise InputError(
            f"linear systems with different sample times: {', '.join(map(_clock, systems))}",
            mend="discretise all of them with the same T (sampled_data.sampled)",
        )
    return systems[0].T


def series(first: LinearSystem, second: LinearSystem) -> LinearSystem:
    """second(first(u)): y = G₂ G₁ u."""
    n1 = len(first.A)
    n2 = len(second.A)
    A = np.block([[first.A, np.zeros((n1, n2))], [second.B @ first.C, second.A]])
    return LinearSystem(
        A,
        np.vstack([first.B, second.B @ first.D]),
        np.hstack([second.D @ first.C, second.C]),
        second.D @ first.D,
        same_clock(first, second),
    )


def feedback(L: LinearSystem) -> LinearSystem:
    """Unity negative feedback around a square L: from reference to output, T = (I + L)⁻¹L, with every state of L.

    Raises InputError when I + D is singular (the loop has no solution).
    """
    p, m = L.D.shape
    R = np.eye(p, m) + L.D if p == m else np.zeros((1, 1))
    if p != m or np.linalg.cond(R) > 1 / (100 * EPS):
        raise InputError(
            f"the loop cannot be closed: L is {p}×{m}"
            + (" and I + D is singular" if p == m else ""),
            mend="L has as many outputs as inputs; a delay or a sample removes a direct feedthrough of −1",
        )
    C = np.linalg.solve(R, L.C)
    D = np.linalg.solve(R, L.D)
    return LinearSystem(L.A - L.B @ C, L.B - L.B @ D, C, D, L.T)


def loop_at(L: LinearSystem, i: int) -> LinearSystem:
    """The SISO loop at channel i of a square open loop L, the other channels closed by unity negative feedback."""
    p, m = L.D.shape
    if p != m or not 0 <= i < m:
        raise InputError(f"channel {i} of a {p}×{m} loop", mend="L is square and 0 ≤ i < its size")
    o = [k for k in range(m) if k != i]
    # u_o = −(C_o x + D_oo u_o + D_oi u_i): solved for u_o as a function of (x, u_i)
    R = np.eye(m - 1) + L.D[np.ix_(o, o)]
    Kx = np.linalg.solve(R, L.C[o])
    Ku = np.linalg.solve(R, L.D[np.ix_(o, [i])])
    return LinearSystem(
        L.A - L.B[:, o] @ Kx,
        L.B[:, [i]] - L.B[:, o] @ Ku,
        L.C[[i]] - L.D[np.ix_([i], o)] @ Kx,
        L.D[np.ix_([i], [i])] - L.D[np.ix_([i], o)] @ Ku,
        L.T,
    )


def break_loop(A, B, C, i: int = 0, T: float | None = None) -> LinearSystem:
    """Open-loop SISO L at actuator i, all other loops closed, from a closed loop with an insertion point there.

    A is the closed loop's matrix, column i of B where a signal added to the actuator's command enters, row i of C that
    command itself: u_i = C_i x. With the command cut, ẋ = (A − B_i C_i) x + B_i v, and the return ratio is
    L = −C_i (λI − A + B_i C_i)⁻¹ B_i: unity negative feedback around L gives A back.
    """
    A, B, C = (np.atleast_2d(np.asarray(M, dtype=float)) for M in (A, B, C))
    if not (0 <= i < B.shape[1] and i < C.shape[0]):
        raise InputError(
            f"insertion point {i}, but B has {B.shape[1]} columns and C {C.shape[0]} rows",
            mend="one column of B and one row of C per actuator",
        )
    b = B[:, [i]]
    c = C[[i]]
    return LinearSystem(A - b @ c, b, -c, [[0.0]], T)


def balanced(sys: LinearSystem) -> LinearSystem:
    """Balance a state-space model: powers of two, which are exact, scale its states until rows and columns are of like size."""
    from scipy.linalg import matrix_balance

    n = len(sys.A)
    k = max(sys.D.shape)
    M = np.zeros((n + k, n + k))
    M[:n, :n], M[:n, n : n + sys.D.shape[1]], M[n : n + sys.D.shape[0], :n] = sys.A, sys.B, sys.C
    _, (scale, _) = matrix_balance(M, permute=False, separate=True)
    outside = np.round(np.mean(np.log2(scale[n:]))) if k else 0.0
    s = scale[:n] / 2.0**outside
    return LinearSystem(sys.A / s[:, None] * s, sys.B / s[:, None], sys.C * s, sys.D, sys.T)


def balanced_matrix(A) -> np.ndarray:
    """A scaled by powers of two, D⁻¹AD (exact, same eigenvalues)."""
    from scipy.linalg import matrix_balance

    A = np.atleast_2d(np.asarray(A, dtype=float)) if np.size(A) else np.zeros((0, 0))
    return matrix_balance(A, permute=False)[0] if len(A) else A


def _clock(system: LinearSystem) -> str:
    """A sample time in words."""
    return "continuous" if system.T is None else f"{system.T:g} s"
