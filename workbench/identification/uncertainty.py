"""How well parameters are known: covariance, intervals, and the combinations that data leave open.

e = residuals, J = ∂ŷ/∂θ (offsets projected out). For noise with autocovariance r, θ̂ has

    cov θ̂ = J⁺ R J⁺ᵀ,   R_ts = r(t − s)

White noise: R = σ² I. Coloured: r of an autoregression fitted to the residuals (order by BIC, none when they are white),
exact in the frequency domain. Model error shows as coloured noise too, and widens the intervals.
Source: L. Ljung, System Identification, 2nd ed. 1999, sections 9.2 to 9.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

CONFIDENCE = 0.95
OPEN = 1.0  # relative half-width of an interval above which a parameter counts as not identified
FLOOR = 1e-12  # relative singular value below which a direction has no effect at all
LONGEST = 60  # order of the autoregression


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval, in SI; `identified` is False when the data say little about it."""

    name: str
    value: float
    σ: float
    low: float
    high: float
    unit: str
    identified: bool = True


@dataclass(frozen=True)
class Combination:
    """Relative changes of parameters (weights, by name) that the data do not see; σ of their sum (1 = 100 %)."""

    weights: dict[str, float]
    σ: float

    def words(self) -> str:
        """'0.80 δa_2_X/a_2_X − 0.60 δa_3_X/a_3_X is only known to ±340 %'."""
        terms = sorted(self.weights.items(), key=lambda w: -abs(w[1]))
        text = " ".join(
            f"{'−' if v < 0 else '+'} {abs(v):.2f} δ{n}/{n}" for n, v in terms
        ).removeprefix("+ ")
        return (
            f"{text} is open (σ = {100 * self.σ:.0f} %)"
            if self.σ < 100
            else f"{text} has no effect on the output"
        )


@dataclass(frozen=True)
class Noise:
    """Residuals as an autoregression: order (0: white), coefficients, σ of the innovations, effective samples."""

    order: int
    a: tuple[float, ...]
    σ: float
    effective: float


def autocovariance(pieces: Sequence[np.ndarray], lags: int) -> np.ndarray:
    """(lags+1,) biased autocovariance over several records."""
    total = np.zeros(lags + 1)
    for e in pieces:
        M = 1 << int(np.ceil(np.log2(2 * e.size)))
        r = np.fft.irfft(np.abs(np.fft.rfft(e, M)) ** 2, M)[: lags + 1]
        total[: r.size] += r
    return total / sum(e.size for e in pieces)


def autoregression(pieces: Sequence[np.ndarray]) -> Noise:
    """Yule–Walker by Levinson's recursion; the order with the lowest BIC."""
    N = sum(e.size for e in pieces)
    r = autocovariance(pieces, max(1, min(LONGEST, N // 20)))
    a = np.ones(1)
    v = r[0]
    best = None
    for p in range(r.size):
        if p:
            k = -(a @ r[p:0:-1][: a.size]) / v
            a = np.append(a, 0.0) + k * np.append(a, 0.0)[::-1]
            v *= 1 - k * k
        if v <= 1e-15 * r[0]:
            break
        score = N * np.log(v) + p * np.log(N)
        if best is None or score < best[0]:
            best = score, a, v
    if best is None:
        return Noise(0, (1.0,), 0.0, float(N))
    _, a, v = best
    density = _density(a, v, 1 << 14)
    return Noise(
        a.size - 1,
        tuple(a),
        float(np.sqrt(v)),
        float(N * density.mean() ** 2 / np.mean(density**2)),
    )


def _density(a, v, M) -> np.ndarray:
    return v / np.abs(np.fft.fft(a, M)) ** 2


def covariance(
    J: np.ndarray, pieces: Sequence[np.ndarray], lost: int, noise: Noise | None, scale
) -> np.ndarray:
    """(p, p) covariance of θ̂.

    J       (N, p) sensitivities of all records, one below the other, offsets projected out
    pieces  residuals of the records
    lost    degrees of freedom used up (parameters and offsets)
    noise   None for white noise, or the autoregression
    scale   (p,) sizes of the parameters, for conditioning
    """
    U, s, Vt = np.linalg.svd(J * scale, full_matrices=False)
    s = np.maximum(s, FLOOR * max(s.max(), np.finfo(float).tiny))
    N = sum(e.size for e in pieces)
    worn = N / max(N - lost, 1)
    if noise is None or noise.order == 0:
        inner = np.eye(s.size) * sum(float(e @ e) for e in pieces) / N
    else:
        inner = np.zeros((s.size, s.size))
        at = 0
        for e in pieces:
            M = 1 << int(np.ceil(np.log2(2 * e.size)))
            F = np.fft.fft(U[at : at + e.size], M, axis=0)
            inner += (
                F.conj().T @ (F * _density(np.array(noise.a), noise.σ**2, M)[:, None])
            ).real / M
            at += e.size
    half = (Vt.T / s) * scale[:, None]
    return worn * half @ inner @ half.T


def estimates(names, values, units, C, freedom: float) -> tuple[Estimate, ...]:
    """Intervals by Student's t."""
    return tuple(
        estimate(n, v, np.sqrt(max(c, 0.0)), u, freedom)
        for n, v, u, c in zip(names, values, units, np.diag(C))
    )


def estimate(name: str, value: float, σ: float, unit: str, freedom: float) -> Estimate:
    """One interval; not identified when it is wider than the value."""
    half = half_width(float(σ), freedom)
    return Estimate(
        name,
        float(value),
        float(σ),
        float(value - half),
        float(value + half),
        unit,
        bool(half <= OPEN * abs(value)),
    )


def half_width(σ: float, freedom: float) -> float:
    """Half of the 95 % interval."""
    return σ * float(stats.t.ppf(0.5 + CONFIDENCE / 2, max(freedom, 1.0)))


def open_combinations(names, values, C, freedom: float) -> tuple[Combination, ...]:
    """Directions of relative change whose interval exceeds 100 %: eigenvectors of the relative covariance."""
    size = np.where(np.abs(values) > 0, np.abs(values), 1.0)
    μ, V = np.linalg.eigh(C / np.outer(size, size))
    found = []
    for m, v in zip(μ[::-1], V.T[::-1]):
        σ = float(np.sqrt(max(m, 0.0)))
        if half_width(σ, freedom) <= OPEN:
            break
        v = v * np.sign(v[np.argmax(np.abs(v))])
        found.append(Combination({n: float(w) for n, w in zip(names, v) if abs(w) > 0.1}, σ))
    return tuple(found)


# ---- lags ---------------------------------------------------------------------------------------------------------
def root_gradients(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lags λ_i, roots of λ^n − a_1 λ^(n−1) + a_2 λ^(n−2) − …, and ∂λ_i/∂a_j (infinite where two are equal)."""
    n = len(a)
    λ = np.roots(np.concatenate([[1.0], a * (-1.0) ** np.arange(1, n + 1)]))
    λ = λ[np.argsort(-np.abs(λ), kind="stable")]
    gaps = np.array([np.prod([λ[i] - λ[k] for k in range(n) if k != i]) for i in range(n)])
    with np.errstate(divide="ignore", invalid="ignore"):
        gradient = np.array(
            [
                [(-1) ** (j + 1) * λ[i] ** (n - j) / gaps[i] for j in range(1, n + 1)]
                for i in range(n)
            ]
        )
    return λ, gradient


def lag_estimates(name: str, a: np.ndarray, C: np.ndarray, freedom: float) -> tuple[Estimate, ...]:
    """Single lags λ_i (s), and for complex pairs ω (rad/s) and ζ, with intervals by the delta method."""
    λ, G = root_gradients(a)
    variance = lambda g: float(g @ C @ g) if np.isfinite(g).all() else np.inf
    found = []
    k = 0
    for i, (root, g) in enumerate(zip(λ, G)):
        if root.imag == 0:
            k += 1
            found.append(
                estimate(f"λ_{k}_{name}", root.real, np.sqrt(variance(g.real)), "s", freedom)
            )
        elif root.imag > 0:
            # p = −1/λ, ω = 1/|λ|, ζ = Re λ/|λ|
            size = abs(root)
            d_size = (root.conj() * g).real / size
            d_ζ = (g.real - root.real / size * d_size) / size
            suffix = name if len(λ) < 4 else f"{name}_{i + 1}"
            found.append(
                estimate(
                    f"ω_{suffix}", 1 / size, np.sqrt(variance(d_size)) / size**2, "rad/s", freedom
                )
            )
            found.append(
                estimate(f"ζ_{suffix}", root.real / size, np.sqrt(variance(d_ζ)), "1", freedom)
            )
    return tuple(found)
