"""The delay margin of a sampled loop: the nearest delay of a command that destabilises, fractions of a sample included.

A command that comes τ = dT + τ' late acts for the time τ' with its value d + 1 samples ago, and then with that d samples ago:

    x⁺ = M x + E (z^{−d} g(z, τ') − Γ) K x,   g = Γ − (1 − z^{−1}) v(τ'),   v(τ') = ∫_{T−τ'}^{T} e^{As} b ds,   Γ = v(T)

M is the loop without this delay, u = K x the command, E where the plant's states are. With q(z) = K (zI − M)^{−1} E
an eigenvalue is at z = e^{jθ} exactly where

    z^{−d} N(z, τ') = S(z),   N = q g,   S = 1 + q Γ:   |N| = |S|  and  d θ = arg N − arg S  (mod 2π)

The first condition knows nothing of d. So the rectangle 0 ≤ θ ≤ π, 0 ≤ τ' ≤ T is covered by boxes, on each of which N and
S are enclosed by Taylor's formula in z and in τ'. A box where |N| and |S| differ throughout holds no crossing for any d;
every other one holds none before the first d that its phases allow. Boxes are halved, the one with the least such delay
first, so that what is reported is never beyond the first crossing (to the rounding of floats).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import final

import numpy as np

from workbench.verification.linear.lyapunov import coordinates
from workbench.verification.linear.sampled_data import hold

BOXES = 20_000  # looked at before the search ends with what is certain by then
# Share of their size to which N and S are known on a box that is not halved any more.
NARROW = 1e-6
MOST = 100_000  # samples of delay that are looked at


@final
@dataclass(frozen=True, eq=False)
class LateCommand:
    """One command of a sampled loop: ẋ = A x + b u between samples, M, K and E as in the module's docstring.

    T: sample time; delay: what the loop has already, s, with which it is stable.
    """

    A: np.ndarray
    b: np.ndarray
    M: np.ndarray
    K: np.ndarray
    E: np.ndarray
    T: float
    delay: float = 0.0


@final
@dataclass(frozen=True)
class DelayMargin:
    """No delay added below `lower` destabilises; `found` says whether one right above it may. inf: none does."""

    lower: float
    found: bool
    boxes: int


class _Response:
    """q, N and S on boxes."""

    def __init__(self, c: LateCommand):
        W = coordinates(c.M, c.T)
        back = np.linalg.inv(W)
        self.M, self.K, self.E = W @ c.M @ back, c.K @ back, W @ c.E
        self.V = coordinates(c.A, None)
        self.V_back = np.linalg.inv(self.V)
        own = self.V @ c.A @ self.V_back
        self.rise = max(float(np.linalg.eigvalsh((own + own.T) / 2)[-1]), 0.0)
        self.c, self.one = c, np.eye(len(c.M))
        self.Γ = hold(c.A, c.b[:, None], c.T)[1][:, 0]
        self.known_θ: dict[float, tuple] = {}
        self.known_τ: dict[float, tuple] = {}

    def at_θ(self, θ: float):
        """z, and K R, K R², R E, q, ‖R‖ there, R = (zI − M)^{−1}."""
        if θ not in self.known_θ:
            z = np.exp(1j * θ)
            R = np.linalg.inv(z * self.one - self.M)
            k = self.K @ R
            self.known_θ[θ] = (
                z,
                k,
                np.linalg.norm(k @ R),
                R @ self.E,
                k @ self.E,
                np.linalg.norm(R, 2),
            )
        return self.known_θ[θ]

    def at_τ(self, τ: float):
        """v, e^{As} b and ‖V A e^{As} b‖ at s = T − τ."""
        if τ not in self.known_τ:
            Φ, G = hold(self.c.A, self.c.b[:, None], self.c.T - τ)
            e = Φ @ self.c.b
            self.known_τ[τ] = self.Γ - G[:, 0], e, float(np.linalg.norm(self.V @ self.c.A @ e))
        return self.known_τ[τ]

    def over(self, θ: tuple[float, float], τ: tuple[float, float]):
        """(N, its error by θ, by τ; S, its error) on a box; errors ∞ where nothing is known."""
        middle = (θ[0] + θ[1]) / 2
        δ = (θ[1] - θ[0]) / 2
        z, k, kR, RE, q, size = self.at_θ(middle)
        if δ * size > 0.5:
            return 0.0, np.inf, 0.0, 0.0, np.inf
        t = (τ[0] + τ[1]) / 2
        h = (τ[1] - τ[0]) / 2
        v, e, _ = self.at_τ(t)
        # The earliest instant, from which e^{As} b grows at most by `rise`
        _, _, steep = self.at_τ(τ[1])
        turn = 1 - 1 / z

        def drift(x):
            y = RE @ x
            return δ * abs(k @ y) + δ**2 * kR * np.linalg.norm(y) / (1 - δ * size)

        g = self.Γ - turn * v
        by_θ = drift(g) + δ * (abs(q @ v) + drift(v))
        far = np.linalg.norm(q @ self.V_back) + δ * np.linalg.norm(k) * np.linalg.norm(
            RE @ self.V_back, 2
        ) / (1 - δ * size)
        bend = h**2 / 2 * steep * np.exp(self.rise * 2 * h) * far
        by_τ = (abs(turn) + δ) * (h * (abs(q @ e) + drift(e)) + bend)
        return q @ g, by_θ, by_τ, 1 + q @ self.Γ, drift(self.Γ)


def delay_margin(c: LateCommand, boxes: int = BOXES) -> DelayMargin:
    """The nearest delay added to the command at which an eigenvalue reaches the unit circle, bounded from below, s."""
    response = _Response(c)
    queue = [(c.delay, (0.0, np.pi), (0.0, c.T))]
    used = 0
    while queue:
        least, θ, τ = heapq.heappop(queue)
        if used >= boxes:
            return DelayMargin(least - c.delay, False, used)
        used += 1
        N, by_θ, by_τ, S, of_S = response.over(θ, τ)
        own = by_θ + by_τ
        if abs(N) - own > abs(S) + of_S or abs(N) + own < abs(S) - of_S:
            continue
        first = _first(c, θ, τ, N, own, S, of_S)
        if first > least:
            if np.isfinite(first):
                heapq.heappush(queue, (first, θ, τ))
            continue
        if own + of_S <= NARROW * (abs(N) + abs(S)):
            return DelayMargin(least - c.delay, True, used)
        if by_θ + of_S >= by_τ:
            half = (θ[0] + θ[1]) / 2
            children = (((θ[0], half), τ), ((half, θ[1]), τ))
        else:
            half = (τ[0] + τ[1]) / 2
            children = ((θ, (τ[0], half)), (θ, (half, τ[1])))
        for child in children:
            heapq.heappush(queue, (least, *child))
    return DelayMargin(np.inf, True, used)


def _first(c: LateCommand, θ, τ, N, own, S, of_S) -> float:
    """The least delay ≥ the loop's own that the phases on a box allow; inf: none up to MOST samples."""
    first = max(0, int(np.ceil((c.delay - τ[1]) / c.T - 1e-9)))
    phase = own < abs(N) and of_S < abs(S)
    if phase:
        φ = np.angle(N / S)
        spread = np.arcsin(own / abs(N)) + np.arcsin(of_S / abs(S))
    for size in (64, 2048, MOST) if phase else ():
        d = np.arange(first, first + size)
        low = (d * θ[0] - φ - spread) / (2 * np.pi)
        high = (d * θ[1] - φ + spread) / (2 * np.pi)
        met = np.flatnonzero(np.floor(high + 1e-12) >= np.ceil(low - 1e-12))
        if len(met):
            first = int(d[met[0]])
            break
    else:
        if phase:
            return np.inf
    return max(float(first * c.T + τ[0]), c.delay)
