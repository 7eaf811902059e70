"""How far a linear loop is from the edge: gain, phase, delay and disk margins, and the H∞ norm.

Nothing is read off a frequency grid. The frequencies where a response meets a condition are generalised eigenvalues on the
axis λ = jω (or the unit circle λ = e^{jωT}) of a pencil that joins the system G(λ) and its mirror G~(λ) = Gᵀ(−λ) (or Gᵀ(1/λ)):

    σ(G) = 1       det(I − G~G) = 0   gain crossovers, H∞ norm     (Hamiltonian; sampled: symplectic pencil)
    Im G = 0       G − G~ = 0         phase crossovers

Rounding moves such eigenvalues off the axis, so none is believed or dropped by its distance to it. All of them only cut
the axis into intervals; a crossover is where the condition changes sign from one interval to the next, refined by a
bracketed root search, or where it is met at an eigenvalue without a change of sign (touching).
Sources: [BoydBalakrishnanKabamba89], [BruinsmaSteinbuch90]; sampled pencil in [GeninVanDoorenVermaut98].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from workbench.errors import InputError
from workbench.verification.linear import LinearSystem, balanced, feedback, loop_at
from workbench.verification.stability import Stability, stability

TOUCH = 1e-9  # |condition| at an eigenvalue that counts as met without a change of sign


def mirror_pencil(sys: LinearSystem, level: bool) -> tuple[np.ndarray, np.ndarray]:
    """(M, N) with det(M − λN) = 0 where det(I − G~G) = 0 (`level`), else where G − G~ = 0 (SISO)."""
    g = balanced(sys)
    n, m = g.B.shape
    O, I = np.zeros((n, n)), np.eye(n)
    if level:  # y = C x₁ + D u,  mirror: Aᵀ, Cᵀ y → Bᵀ,  u = Bᵀx₂ + Dᵀy
        to_mirror, last, A2 = (g.C.T @ g.C, g.C.T @ g.D), (g.D.T @ g.C, g.B.T, g.D.T @ g.D - np.eye(m)), g.A.T
    else:      # C x₁ − C x₂ = 0; D cancels
        to_mirror, last, A2 = (O, g.B), (g.C, -g.C, np.zeros((1, 1))), g.A
    zero = np.zeros((n, m))
    M = np.block([[g.A, O, g.B], [to_mirror[0], A2, to_mirror[1]], list(last)])
    if sys.T is None:  # λx₁ = A x₁ + B u,  −λx₂ = …
        N = np.block([[I, O, zero], [O, -I, zero], [np.zeros((m, 2 * n + m))]])
    else:              # λx₁ = A x₁ + B u,  x₂ = λ(…): the second row changes sides
        N = np.block([[I, O, zero], [to_mirror[0], A2, to_mirror[1]], [np.zeros((m, 2 * n + m))]])
        M[n:2 * n] = np.hstack([O, I, zero])
    return M, N


def cuts(sys: LinearSystem, level: bool) -> np.ndarray:
    """Frequencies in (0, top), increasing: of every eigenvalue of the mirror pencil and every pole, on the axis or not."""
    from scipy.linalg import eigvals

    if not len(sys.A):
        return np.zeros(0)
    λ = np.concatenate([eigvals(*mirror_pencil(sys, level)), np.linalg.eigvals(sys.A)])
    λ = λ[np.isfinite(λ) & (λ != 0)]
    ω = np.abs(λ.imag) if sys.T is None else np.abs(np.angle(λ)) / sys.T
    ω = np.unique(ω[(ω > 0) & (ω < sys.top)])
    return ω[np.concatenate([[True], np.diff(ω) > 1e-13 * ω[1:]])] if len(ω) else ω


def between(ω: np.ndarray, top: float) -> np.ndarray:
    """One frequency in each of the intervals that the cuts ω make of (0, top)."""
    if not len(ω):
        return np.array([1.0 if np.isinf(top) else top / 2])
    return np.concatenate([[ω[0] / 2], np.sqrt(ω[:-1] * ω[1:]), [2 * ω[-1] if np.isinf(top) else (ω[-1] + top) / 2]])


def crossings(f: Callable[[float], float], ω: np.ndarray, top: float) -> list[float]:
    """Zeros of f in (0, top), whose places are among the cuts ω (others are spurious)."""
    from scipy.optimize import brentq

    if not len(ω):
        return []
    mid = between(ω, top)
    values = [f(w) for w in mid]
    found = []
    for k, w in enumerate(ω):
        if np.isfinite(values[k]) and np.isfinite(values[k + 1]) and values[k] * values[k + 1] < 0:
            w = brentq(f, mid[k], mid[k + 1], xtol=1e-300, rtol=4 * np.finfo(float).eps)
            tolerance = 1e-6  # f may have a steep zero; a pole, where f jumps, leaves |f| large
        else:
            tolerance = TOUCH
        if abs(f(w)) <= tolerance and not any(abs(w - v) <= 1e-10 * w for v in found):
            found.append(float(w))
    return found


def siso(L: LinearSystem, what: str) -> None:
    if not L.siso:
        raise InputError(f"{what} need one loop, L is {L.D.shape[0]}×{L.D.shape[1]}",
                         mend="break one loop at a time: loop_at(L, i) or break_loop(A, B, C, i)")


def gain_crossovers(L: LinearSystem) -> list[float]:
    """All ω in (0, top) with |L| = 1."""
    siso(L, "gain crossovers")
    return crossings(lambda ω: _log_gain(L, ω), cuts(L, level=True), L.top)


def _log_gain(L, ω):
    size = abs(L.at(ω)[0, 0])
    return float(np.log(size)) if size > 0 else -1e300


def phase_crossovers(L: LinearSystem) -> list[float]:
    """All ω in [0, top] with L real and negative; 0, π/T and ∞ where L is finite and negative there."""
    siso(L, "phase crossovers")

    def sine(ω):
        value = L.at(ω)[0, 0]
        return float(value.imag / abs(value)) if 0 < abs(value) < np.inf else 0.0

    ends = [0.0, L.top] if len(L.A) else [0.0]
    ω = [*crossings(sine, cuts(L, level=False), L.top), *ends]
    return sorted(w for w in ω if np.isfinite(L.at(w)[0, 0]) and L.at(w)[0, 0].real < 0)


@final
@dataclass(frozen=True, eq=False)
class Margins:
    """Margins of a SISO loop L under unity negative feedback; the lists are empty unless `stability.holds` is True.

    gain    (ω, k) at every phase crossover: k L reaches −1, k > 1 up, k < 1 down
    phase   (ω, φ) at every gain crossover: φ = arg L + π in (−π, π] rad, positive where lag is what is left
    delay   (ω, τ): τ = (arg L + π mod 2π)/ω in s at every gain crossover with ω > 0

    The summary properties are None unless the loop is known to be stable, ∞ (or 0 for gain_down) where no change of that
    kind destabilises. Between gain_down and gain_up, and for every delay below delay_margin, the loop stays stable: roots
    move continuously and reach the edge only at these crossovers. For a continuous L with |L(∞)| ≥ 1 an arbitrarily small
    delay destabilises, and delay_margin is 0. For a sampled L the delay is that of a factor e^{−jωτ}: exact at multiples of
    T (τ = dT is z^{−d}); between them the plant's pulse response changes shape, and the exact question is answered by
    `sampled_data.stable_up_to` with `sampled(…, delay=τ)`.
    """

    stability: Stability
    gain: tuple[tuple[float, float], ...] = ()
    phase: tuple[tuple[float, float], ...] = ()
    delay: tuple[tuple[float, float], ...] = ()

    def _if_stable(self, value):
        return value if self.stability.holds is True else None

    @property
    def gain_up(self) -> float | None:
        """Smallest factor above 1 that destabilises."""
        return self._if_stable(min((k for _, k in self.gain if k > 1), default=np.inf))

    @property
    def gain_down(self) -> float | None:
        """Largest factor below 1 that destabilises, 0 if none."""
        return self._if_stable(max((k for _, k in self.gain if k < 1), default=0.0))

    @property
    def phase_margin(self) -> float | None:
        """Smallest |φ|, rad: lag or lead at all frequencies alike that destabilises."""
        return self._if_stable(min((abs(φ) for _, φ in self.phase), default=np.inf))

    @property
    def delay_margin(self) -> float | None:
        """Smallest destabilising delay, s."""
        return self._if_stable(min((τ for _, τ in self.delay), default=np.inf))


def loop_margins(L: LinearSystem) -> Margins:
    """Margins of a SISO open loop L (unity negative feedback), internal stability of the closed loop first.

    Hidden modes count: the closed loop's matrix A − B(1 + D)⁻¹C has every state of L.
    Raises InputError if L is not SISO or 1 + L(∞) = 0.
    """
    siso(L, "margins")
    inside = stability(feedback(L).A, L.T)
    if inside.holds is not True:
        return Margins(inside)
    gain = tuple((ω, float(-1 / L.at(ω)[0, 0].real)) for ω in phase_crossovers(L))
    lags = [(ω, float(np.angle(-L.at(ω)[0, 0]))) for ω in gain_crossovers(L)]
    delay = [(ω, (φ % (2 * np.pi)) / ω) for ω, φ in lags]
    if L.T is None and abs(L.D[0, 0]) >= 1:
        delay.append((np.inf, 0.0))
    return Margins(inside, gain, tuple(lags), tuple(delay))


def hinf_norm(sys: LinearSystem, tol: float = 1e-10) -> tuple[float, float]:
    """(‖G‖∞, ω of the peak in rad/s): the largest singular value of G over all frequencies, 0 and top included.

    The value is attained at ω, and the norm is at most (1 + 2 tol) times it: at that level the pencil's eigenvalues cut the
    axis into intervals in none of which the response is larger. (∞, ω of the least stable mode) unless G is known to be
    stable. Source: [BruinsmaSteinbuch90], algorithm of section 3.
    """
    inside = stability(sys.A, sys.T)
    if inside.holds is not True:
        λ = inside.spectrum.eigenvalues[0]
        return np.inf, float(abs(λ.imag) if sys.T is None else abs(np.angle(λ)) / sys.T)

    def size(ω):
        return float(np.linalg.norm(sys.at(ω), 2))

    λ = inside.spectrum.eigenvalues
    s = λ if sys.T is None else np.log(λ[λ != 0]) / sys.T
    tries = np.concatenate([[0.0, sys.top], np.abs(s.imag), np.minimum(np.abs(s), sys.top)])
    best, at = max((size(ω), float(ω)) for ω in tries)
    if best == 0.0:  # every pole and end is a zero: look once more in between before calling it zero
        best, at = max((size(ω), float(ω)) for ω in between(np.unique(tries[(tries > 0) & (tries < sys.top)]), sys.top))
    while best > 0:
        γ = (1 + 2 * tol) * best
        ω = cuts(LinearSystem(sys.A, sys.B, sys.C / γ, sys.D / γ, sys.T), level=True)
        higher, where = max((size(w), float(w)) for w in [*ω, *between(ω, sys.top)])
        if higher <= γ:
            return (higher, where) if higher > best else (best, at)
        best, at = higher, where
    return 0.0, at


@final
@dataclass(frozen=True)
class DiskMargin:
    """Simultaneous gain and phase margin of one loop: stable for every factor f in the disk of size α and skew σ.

    f = (1 + (1−σ)δ/2)/(1 − (1+σ)δ/2), |δ| < α: real factors between gain_min and gain_max, or phase alone up to ±phase
    (rad), destabilising one reached at ω. gain_max = ∞ where the disk reaches infinity, phase = ∞ where no phase leaves it.
    """

    α: float
    gain_min: float
    gain_max: float
    phase: float
    ω: float
    stability: Stability


def disk_margin(L: LinearSystem, σ: float = 0.0) -> DiskMargin:
    """Disk margin α = 1/‖S + (σ−1)/2‖∞, S = (I + L)⁻¹; σ = 0: 1/‖(S − T)/2‖∞. α = 0 unless the loop is known to be stable.

    For a MIMO L this is the unstructured norm: all channels may change at once, each in its own disk of size α, and the
    loop stays stable; the true simultaneous margin (structured) may be larger. One loop at a time: `disk_margins`.
    Source: [Seiler20], equations (9) to (16) (definition, theorem on α, gain and phase ranges).
    """
    closed = feedback(L)
    inside = stability(closed.A, L.T)
    if inside.holds is not True:
        return DiskMargin(0.0, 1.0, 1.0, 0.0, np.nan, inside)
    shift = (1 + σ) / 2 * np.eye(len(L.D))
    norm, ω = hinf_norm(LinearSystem(closed.A, closed.B, -closed.C, shift - closed.D, L.T))  # S = I − T
    α = 1 / norm if norm > 0 else np.inf
    return DiskMargin(α, *disk_range(α, σ), ω, inside)


def disk_margins(L: LinearSystem, σ: float = 0.0) -> tuple[DiskMargin, ...]:
    """Disk margin of every channel of a square L with the other channels closed; says nothing of simultaneous changes."""
    return tuple(disk_margin(loop_at(L, i), σ) for i in range(len(L.D)))


def disk_range(α: float, σ: float = 0.0) -> tuple[float, float, float]:
    """(gain_min, gain_max, phase) of the disk D(α, σ)."""
    if np.isinf(α):
        return -np.inf, np.inf, np.inf
    low = (1 - α * (1 - σ) / 2) / (1 + α * (1 + σ) / 2)
    rest = 1 - α * (1 + σ) / 2
    if rest <= 0:  # the disk contains infinity; its boundary on the real axis is low and the negative number below
        high, cosine = np.inf, low if rest == 0 else (1 + low * (h := (1 + α * (1 - σ) / 2) / rest)) / (low + h)
    else:
        high = (1 + α * (1 - σ) / 2) / rest
        cosine = (1 + low * high) / (low + high)
    return low, high, float(np.arccos(cosine)) if abs(cosine) <= 1 else np.inf
