"""Frequencies where a response meets a condition, and the H∞ norm, without a frequency grid.

They are generalised eigenvalues on the axis λ = jω (sampled: the unit circle λ = e^{jωT}) of a pencil that joins the
system G(λ) and its mirror G~(λ) = Gᵀ(−λ) (sampled: Gᵀ(1/λ)):

    σ(G) = 1       det(I − G~G) = 0   gain crossovers, H∞ norm     (Hamiltonian; sampled: symplectic pencil)
    Im G = 0       G − G~ = 0         phase crossovers

Rounding moves such eigenvalues off the axis, so none is believed or dropped by its distance to it. All of them only cut
the axis into intervals: the condition holds or fails throughout each, and is looked at inside.
Sources: [BoydBalakrishnanKabamba89], [BruinsmaSteinbuch90].
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.numerics.roots import zero
from workbench.verification.linear.stability import Stability, stability
from workbench.verification.linear.systems import LinearSystem, balanced

TOUCH = 1e-9  # a condition this close to 0 is met, if it is far larger on both sides
MERGE = 1e-10  # cuts this close (relative) are one
CLUSTER = 1e-6  # cuts this close may come from one double eigenvalue, split by rounding


def mirror_pencil(sys: LinearSystem, level: bool) -> tuple[np.ndarray, np.ndarray]:
    """(M, N) with det(M − λN) = 0 where det(I − G~G) = 0 (`level`), else where G − G~ = 0 (SISO).

    Unknowns are x₁ of G, x₂ of the mirror, and the input u; nothing is inverted, so delays (A singular) do no harm.
    """
    g = balanced(sys)
    n, m = g.B.shape
    O = np.zeros((n, n))
    I = np.eye(n)
    if level:  # mirror of y = C x₁ + D u: states by Aᵀ and Cᵀ y, and u = Bᵀx₂ + Dᵀy
        own = g.C.T @ g.C
        A2 = g.A.T
        inp = g.C.T @ g.D
        last = [g.D.T @ g.C, g.B.T, g.D.T @ g.D - np.eye(m)]
    else:  # both driven by u, C x₁ − C x₂ = 0; D cancels
        own = O
        A2 = g.A
        inp = g.B
        last = [g.C, -g.C, np.zeros((1, 1))]
    zero = np.zeros((n, m))
    none = np.zeros((m, 2 * n + m))
    first = np.hstack([g.A, O, g.B])
    second = np.hstack([own, A2, inp])
    unit = np.hstack([O, I, zero])
    shift = np.hstack([I, O, zero])
    if sys.T is None:  # λx₁ = …, −λx₂ = …
        return np.vstack([first, second, np.hstack(last)]), np.vstack([shift, -unit, none])
    # λx₁ = …, x₂ = λ(…).
    return np.vstack([first, unit, np.hstack(last)]), np.vstack([shift, second, none])


def cuts(sys: LinearSystem, level: bool) -> np.ndarray:
    """Increasing frequencies in (0, top) of all eigenvalues of the mirror pencil and all poles, on the axis or not."""
    from scipy.linalg import eigvals

    if not len(sys.A):
        return np.zeros(0)
    λ = np.concatenate([eigvals(*mirror_pencil(sys, level)), np.linalg.eigvals(sys.A)])
    λ = λ[np.isfinite(λ) & (λ != 0)]
    ω = np.abs(λ.imag) if sys.T is None else np.abs(np.angle(λ)) / sys.T
    kept: list[float] = []
    for w in np.unique(ω[(ω > 0) & (ω < sys.top)]):
        if not kept or w - kept[-1] > MERGE * w:
            kept.append(float(w))
    return np.array(kept)


def between(ω: np.ndarray, top: float) -> np.ndarray:
    """One frequency in each of the intervals that the cuts ω make of (0, top)."""
    if not len(ω):
        return np.array([1.0 if np.isinf(top) else top / 2])
    return np.concatenate(
        [[ω[0] / 2], np.sqrt(ω[:-1] * ω[1:]), [2 * ω[-1] if np.isinf(top) else (ω[-1] + top) / 2]]
    )


def crossings(f: Callable[[float], float], ω: np.ndarray, top: float) -> list[float]:
    """Zeros of a bounded f in (0, top), all of them among the cuts ω; the other cuts are spurious.

    A zero is where f changes sign from one interval to the next (refined by `zero`; a jump is dropped). Where
    f only touches 0, rounding splits the double eigenvalue into a cluster of cuts: one with |f| ≤ TOUCH, and under a
    thousandth of |f| on both sides of the cluster.
    """
    if not len(ω):
        return []
    mid = between(ω, top)
    values = [f(w) for w in mid]
    found = []
    for k in range(len(ω)):
        if values[k] * values[k + 1] < 0:
            w = zero(f, mid[k], mid[k + 1])
            if abs(f(w)) <= 1e-3:  # steep zeros end well below, jumps well above
                found.append(float(w))
    starts = np.flatnonzero(np.diff(ω, prepend=-np.inf) > CLUSTER * ω)
    for a, b in zip(starts, [*starts[1:], len(ω)]):
        if not any(mid[a] < w < mid[b] for w in found):
            size, w = min((abs(f(w)), float(w)) for w in ω[a:b])
            if size <= TOUCH and size < 1e-3 * min(abs(values[a]), abs(values[b])):
                found.append(w)
    return found


def hinf_norm(
    sys: LinearSystem,
    tol: float = 1e-10,
    *,
    inside: Stability | None = None,
    least: float = 0.0,
) -> tuple[float, float]:
    """(‖G‖∞, ω of the peak in rad/s): the largest singular value of G over all frequencies, 0 and top included.

    The value is attained at ω, and the norm is at most (1 + 2 tol) times it: at that level the pencil's eigenvalues cut
    the axis into intervals in none of which the response is larger. (∞, ω of the least stable mode) unless G is known
    to be stable. Source: [BruinsmaSteinbuch90], section 3.
    inside: the stability of G, where it is known. least: a norm that is known to be reached elsewhere; of a G that nowhere
    exceeds it by more than 2 tol, what is returned is only some value that G attains, and where.
    """
    inside = stability(sys.A, sys.T) if inside is None else inside
    λ = inside.spectrum.eigenvalues
    if inside.holds is not True:
        return np.inf, float(abs(λ[0].imag) if sys.T is None else abs(np.angle(λ[0])) / sys.T)
    g = balanced(sys)

    def largest(frequencies):
        sizes = np.linalg.norm(g.response(frequencies), 2, axis=(1, 2))
        return max(zip(sizes.tolist(), map(float, frequencies)))

    s = λ if sys.T is None else np.log(λ[λ != 0]) / sys.T
    poles = np.minimum(np.unique(np.concatenate([np.abs(s.imag), np.abs(s)])), sys.top)
    best, at = largest(
        [0.0, sys.top, *poles, *between(poles[(poles > 0) & (poles < sys.top)], sys.top)]
    )
    while best > 0:
        γ = (1 + 2 * tol) * max(best, least)
        ω = cuts(LinearSystem(g.A, g.B, g.C / γ, g.D / γ, g.T), level=True)
        higher, where = largest([*ω, *between(ω, sys.top)])
        if higher <= γ:
            return max((best, at), (higher, where))
        best = higher
        at = where
    return 0.0, at
