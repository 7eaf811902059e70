"""How far a linear loop is from the edge: gain, phase, delay and disk margins under unity negative feedback.

Internal stability comes first: a loop that is not known to be stable has no margins. Crossovers come from eigenvalues
(`norms`), not from a frequency grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from workbench.contract.errors import InputError
from workbench.verification.linear.norms import TOUCH, crossings, cuts, hinf_norm
from workbench.verification.linear.stability import Stability, stability
from workbench.verification.linear.systems import LinearSystem, balanced, feedback, loop_at


def siso(L: LinearSystem, what: str) -> None:
    if not L.siso:
        raise InputError(
            f"{what} need one loop, L is {L.D.shape[0]}×{L.D.shape[1]}",
            mend="break one loop at a time: loop_at(L, i) or break_loop(A, B, C, i)",
        )


def log_gain(L: LinearSystem, ω: float) -> float:
    """ln |L|, kept finite."""
    size = abs(L.at(ω)[0, 0])
    return float(np.clip(np.log(size), -1e3, 1e3)) if size > 0 else -1e3


def gain_crossovers(L: LinearSystem) -> list[float]:
    """All ω in [0, top] with |L| = 1, increasing."""
    siso(L, "gain crossovers")
    g = balanced(L)
    ends = [ω for ω in {0.0, g.top} if abs(log_gain(g, ω)) <= TOUCH]
    return sorted([*crossings(lambda ω: log_gain(g, ω), cuts(g, level=True), g.top), *ends])


def phase_crossovers(L: LinearSystem) -> list[float]:
    """All ω in [0, top] with L real and negative, increasing; the ends 0 and top where L is finite there."""
    siso(L, "phase crossovers")
    g = balanced(L)

    def sine(ω):
        value = g.at(ω)[0, 0]
        return float(value.imag / abs(value)) if 0 < abs(value) < np.inf else 0.0

    ω = [*crossings(sine, cuts(g, level=False), g.top), 0.0, g.top]
    return sorted(w for w in ω if np.isfinite(g.at(w)[0, 0]) and g.at(w)[0, 0].real < 0)


@final
@dataclass(frozen=True, eq=False)
class Margins:
    """Margins of a SISO loop L under unity negative feedback; the lists are empty unless `stability.holds` is True.

    gain    (ω, k) at every phase crossover: k L reaches −1, k > 1 up, k < 1 down
    phase   (ω, φ) at every gain crossover: φ = arg L + π in (−π, π] rad; positive: lag destabilises first
    delay   (ω, τ) at every gain crossover with ω > 0: τ = (arg L + π mod 2π)/ω, s

    The summary properties are None unless the loop is known to be stable, and ∞ (0 for gain_down) where no change of
    that kind destabilises. For every factor between gain_down and gain_up and every delay below delay_margin the
    loop stays stable: roots move continuously and reach the edge only at these crossovers. For a continuous L with
    |L(∞)| ≥ 1 an arbitrarily small delay destabilises, and delay_margin is 0. For a sampled L the delay is that of a
    factor e^{−jωτ}: exact at multiples of T (τ = dT is z^{−d}); between them the plant's sampled response changes
    shape, and the exact question is answered by `sampled_data.stable_up_to` with `sampled(…, delay=τ)`.
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
        """Smallest |φ|, rad: lag or lead, the same at all frequencies, that destabilises."""
        return self._if_stable(min((abs(φ) for _, φ in self.phase), default=np.inf))

    @property
    def delay_margin(self) -> float | None:
        """Smallest destabilising delay, s."""
        return self._if_stable(min((τ for _, τ in self.delay), default=np.inf))


def loop_margins(L: LinearSystem) -> Margins:
    """Margins of a SISO open loop L (unity negative feedback), internal stability of the closed loop first.

    Hidden modes count: the closed loop's matrix A − B(1 + D)⁻¹C has every state of L.
    Raises InputError if L is not SISO or 1 + L(∞) = 0. Source: [AstromMurray08] section 9.3.
    """
    siso(L, "margins")
    inside = stability(feedback(L).A, L.T)
    if inside.holds is not True:
        return Margins(inside)
    g = balanced(L)
    gain = tuple((ω, float(-1 / g.at(ω)[0, 0].real)) for ω in phase_crossovers(g))
    phase = tuple((ω, float(np.angle(-g.at(ω)[0, 0]))) for ω in gain_crossovers(g))
    delay = [(ω, (φ % (2 * np.pi)) / ω) for ω, φ in phase if ω > 0]
    if g.T is None and abs(g.D[0, 0]) >= 1:
        delay.append((np.inf, 0.0))
    return Margins(inside, gain, phase, tuple(delay))


@final
@dataclass(frozen=True, eq=False)
class DiskMargin:
    """Simultaneous gain and phase margin: stable for every factor f in the disk of size α and skew σ.

    f = (1 + (1−σ)δ/2)/(1 − (1+σ)δ/2), |δ| < α. gain_min to gain_max: the real factors in it around 1 (gain_max = ∞
    where it reaches infinity); phase: ± this much alone, rad (∞ where it contains the unit circle). The boundary of the
    disk holds a destabilising factor, reached at ω.
    """

    α: float
    gain_min: float
    gain_max: float
    phase: float
    ω: float
    stability: Stability


def disk_margin(L: LinearSystem, σ: float = 0.0) -> DiskMargin:
    """Disk margin α = 1/‖S + (σ−1)/2‖∞, S = (I + L)⁻¹; σ = 0: 1/‖(S − T)/2‖∞. α = 0 unless the loop is known stable.

    For a MIMO L this is the unstructured norm: all channels may change at once, each in its own disk of size α, and the
    loop stays stable; the true simultaneous margin (structured) may be larger. One loop at a time: `disk_margins`.
    Source: [Seiler20], definition of D(α, σ) and theorem 1.
    """
    closed = feedback(L)
    inside = stability(closed.A, L.T)
    if inside.holds is not True:
        return DiskMargin(0.0, 1.0, 1.0, 0.0, np.nan, inside)
    shift = (1 + σ) / 2 * np.eye(len(L.D))
    S = LinearSystem(closed.A, closed.B, -closed.C, shift - closed.D, L.T)  # I − T
    norm, ω = hinf_norm(S, inside=inside)
    α = 1 / norm if norm > 0 else np.inf
    return DiskMargin(α, *disk_range(α, σ), ω, inside)


def disk_margins(L: LinearSystem, σ: float = 0.0) -> tuple[DiskMargin, ...]:
    """Disk margin of every channel of a square L, the others closed; says nothing of simultaneous changes."""
    return tuple(disk_margin(loop_at(L, i), σ) for i in range(len(L.D)))


def disk_range(α: float, σ: float = 0.0) -> tuple[float, float, float]:
    """(gain_min, gain_max, phase) of the disk D(α, σ), see `DiskMargin`."""
    if np.isinf(α):  # everything but the point −(1 − σ)/(1 + σ)
        return (-(1 - σ) / (1 + σ) if σ != -1 else -np.inf), np.inf, np.pi if σ == 0 else np.inf
    low = (1 - α * (1 - σ) / 2) / (1 + α * (1 + σ) / 2)
    rest = 1 - α * (1 + σ) / 2
    if rest == 0:  # half-plane Re f > low
        return low, np.inf, float(np.arccos(low)) if abs(low) <= 1 else np.inf
    high = (
        1 + α * (1 - σ) / 2
    ) / rest  # rest < 0: below low, and the disk is what lies outside [high, low]
    cosine = (1 + low * high) / (low + high) if low + high else np.inf
    return (
        low,
        (high if rest > 0 else np.inf),
        float(np.arccos(cosine)) if abs(cosine) <= 1 else np.inf,
    )


def stable_with(L: LinearSystem, f: complex) -> bool:
    """True if the closed loop of f·L has all eigenvalues inside, f any complex factor (a plain second calculation)."""
    λ = np.linalg.eigvals(L.A - L.B @ L.C * (f / (1 + f * L.D[0, 0])))
    return bool(np.all(λ.real < 0 if L.T is None else np.abs(λ) < 1))
