"""Exact response of rational transfer functions to held inputs, with exact sensitivities.

An input known at t = 0, T, 2T, … is held between samples: "zoh" (constant) or "foh" (straight line); before t = 0 it is
zero. For D(s) = s^ν P(s) the chain

    x_j = s^j/D(s) u,   j = 0 … deg D − 1

is simulated without error of discretisation (matrix exponential), so Q(s)/D(s) u is a combination of its states for any
polynomial Q. With P = A² it holds the response B/(s^ν A) u and all its derivatives with respect to the coefficients:

    y = A B/(s^ν A²) u,   ∂y/∂b_j = s^j A/(s^ν A²) u,   ∂y/∂a_j = −s^j B/(s^ν A²) u,   ∂y/∂τ = −s A B/(s^ν A²) u

Delays of any size: y(t) with delay τ is the undelayed response at t − τ, which lies inside an interval of the hold, where
it is known exactly as well. Integrators are summed, not multiplied, so they do not drift by rounding.
Source: L. Ljung, System Identification, 2nd ed. 1999, section 10.3 (gradients of output-error models); C. F. Van Loan,
Computing integrals involving the matrix exponential, 1978 (the integrals of the hold).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm, schur
from scipy.signal import lfilter

Polynomial = np.ndarray  # coefficients by rising power: p[0] + p[1] s + …


def times(*factors) -> Polynomial:
    """Product of polynomials with rising powers."""
    product = np.ones(1)
    for factor in factors:
        product = np.convolve(product, factor)
    return product


def shifted(p: Polynomial, k: int) -> Polynomial:
    """s^k p(s)."""
    return np.concatenate([np.zeros(k), p])


class Chain:
    """States x_j = s^j/(s^ν P(s)) u at the samples of a held input, and between them.

    P         (n+1,) rising powers, P[0] and P[n] not zero
    ν         integrators
    u         (N,) input, T sample time (s), hold "zoh" or "foh"

    Time is counted in units of the slowest time constant of P, so that the states are of one size.
    """

    def __init__(self, P: Polynomial, ν: int, u: np.ndarray, T: float, hold: str):
        self.n = len(P) - 1
        self.ν = ν
        self.u = np.asarray(u, float)
        self.T = T
        self.hold = hold
        constants = (abs(P[j] / P[0]) ** (1 / j) for j in range(1, self.n + 1))
        self.unit = max(constants, default=T) or T
        self.lead = P[-1] / self.unit**self.n
        m = self.n + ν
        self.A = np.zeros((m, m))
        self.A[np.arange(m - 1), np.arange(1, m)] = 1.0
        if self.n:
            powers = self.unit ** np.arange(self.n)
            self.A[-1, ν:] = -P[:-1] / powers / self.lead
        self.B = np.zeros(m)
        if m:
            self.B[-1] = 1.0 / self.lead
        self.x = self._states()

    def _held(self, h: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Φ, Γ_0, Γ_1 with x(t_k + h) = Φ x_k + Γ_0 u_k + Γ_1 u_{k+1}, 0 ≤ h ≤ T."""
        m = len(self.B)
        θ = h / self.unit
        M = np.zeros((m + 2, m + 2))
        M[:m, :m] = self.A * θ
        M[:m, m] = self.B * θ
        M[m, m + 1] = h / self.T
        E = expm(M)
        Φ = E[:m, :m]
        Γ = E[:m, m]
        if self.hold == "zoh":
            return Φ, Γ, np.zeros(m)
        Γ_1 = E[:m, m + 1]
        return Φ, Γ - Γ_1, Γ_1

    def _states(self) -> np.ndarray:
        """(N, m) states at the samples, from rest."""
        Φ, Γ_0, Γ_1 = self._held(self.T)
        N = self.u.size
        ν = self.ν
        u = self.u
        x = np.zeros((N, len(self.B)))
        if N < 2:
            return x
        now = u[:-1]
        then = u[1:]
        if self.n:
            R, Z = schur(Φ[ν:, ν:], output="complex")
            g_0 = Z.conj().T @ Γ_0[ν:]
            g_1 = Z.conj().T @ Γ_1[ν:]
            ξ = np.zeros((self.n, N), complex)
            for i in reversed(range(self.n)):
                held = g_0[i] * now + g_1[i] * then
                drive = held + R[i, i + 1 :] @ ξ[i + 1 :, :-1]
                ξ[i, 1:] = lfilter([1.0], [1.0, -R[i, i]], drive)
            x[:, ν:] = (Z @ ξ).real.T
        for i in reversed(range(ν)):
            own = x[:-1, i + 1 :] @ Φ[i, i + 1 :]
            x[1:, i] = np.cumsum(own + Γ_0[i] * now + Γ_1[i] * then)
        return x

    def outputs(self, numerators: list[Polynomial], delay: float = 0.0) -> np.ndarray:
        """(N, len(numerators)): Q(s) e^{−delay s}/(s^ν P(s)) u at the samples; deg Q ≤ ν + n."""
        m = len(self.B)
        C = np.zeros((len(numerators), m))
        D = np.zeros(len(numerators))
        for row, Q in enumerate(numerators):
            q = np.zeros(m + 1)
            q[: len(Q)] = np.asarray(Q, float) / self.unit ** np.arange(len(Q))
            D[row] = q[m] / self.lead
            C[row] = q[:m] + q[m] * self.A[-1] if m else 0.0
        C *= self.unit**self.ν  # the chain divides by the scaled s^ν
        D *= self.unit**self.ν
        x, u = (self.x, self.u) if delay == 0 else self._late(delay)
        return x @ C.T + u[:, None] * D

    def _late(self, delay: float) -> tuple[np.ndarray, np.ndarray]:
        """States and input at t − delay; rest before 0, the last interval continued beyond the end (delay < 0)."""
        N = self.u.size
        steps = delay / self.T
        whole = int(np.ceil(steps - 1e-12))
        η = max(whole - steps, 0.0)
        Φ, Γ_0, Γ_1 = self._held(η * self.T)
        k = np.arange(N) - whole
        i = np.clip(k, 0, N - 1)
        now = self.u[i]
        then = self.u[np.clip(k + 1, 0, N - 1)]
        x = self.x[i] @ Φ.T + now[:, None] * Γ_0 + then[:, None] * Γ_1
        u = now if self.hold == "zoh" else now + η * (then - now)
        before = k < 0
        x[before] = 0.0
        return x, np.where(before, 0.0, u)


def simulated(
    b: Polynomial, a: Polynomial, ν: int, delay: float, u: np.ndarray, T: float, hold: str
) -> np.ndarray:
    """(N,) response of B(s) e^{−delay s}/(s^ν A(s)), A = 1 + a_1 s + …, from rest."""
    A = np.concatenate([[1.0], a])
    B = np.asarray(b, float)
    (y,) = Chain(A, ν, u, T, hold).outputs([B], delay).T
    return y


def sensitivities(
    b, a, ν: int, delay: float, u, T: float, hold: str, with_delay: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Response (N,) and its derivatives (N, len(b) + len(a) + with_delay) with respect to b, a and the delay."""
    A = np.concatenate([[1.0], a])
    B = np.asarray(b, float)
    numerators = [
        times(A, B),
        *(shifted(A, j) for j in range(len(B))),
        *(-shifted(B, j) for j in range(1, len(A))),
    ]
    if with_delay:
        numerators.append(-shifted(numerators[0], 1))
    found = Chain(times(A, A), ν, u, T, hold).outputs(numerators, delay)
    return found[:, 0], found[:, 1:]
