"""A consistent start: positions that close the loops near the user's, velocities projected, rows that are redundant left out.

Positions: z closest to the guess in the metric of M^Σ (so that a heavy boom stays and a light link gives way), by

    z ← z_0 + M⁻¹ Gᵀ (G M⁻¹ Gᵀ)⁺ (G (z − z_0) − Φ(z)),   G = Φ_z

without the columns of joints marked `hold`, which do not move. Φ_z of a loop may have a lower rank than rows (a planar loop in
space, a Bricard linkage). As many independent rows as the rank are kept; the others follow from them. A start is singular where
the rank is lower than at positions beside it.

Source: [Bayo96] for projections in the metric of the mass.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from plants.multibody.checks import check_faces, check_masses
from plants.multibody.loops import ROWS
from plants.multibody.tree import point
from workbench.contract.errors import InputError

STEPS = 200
# residual of a loop divided by the mechanism's size: the search ends at CLOSED, and succeeded if below ACCEPTED
CLOSED = 1e-13
ACCEPTED = 1e-10
RANK = 1e-8  # singular values below this part of the largest are zero
ASIDE = 1e-2  # rad or m, to positions beside the start


class Assembly(NamedTuple):
    """What the assembly found.

    z, rates   positions (quaternions included) and rates that satisfy all loops
    kept       numbers of as many independent constraint rows;  left_out: (loop, row) that follow from them
    used       rows that the equations of motion use: `kept` where all other rows are zero in every position (a planar loop in
               space); else all that are not zero, as other ones of them may be independent later in the motion
    moved      name of a coordinate → how far from where the user put it, those that moved
    residual   largest |Φ|;  mobility: degrees of freedom
    """

    z: tuple[float, ...]
    rates: tuple[float, ...]
    kept: tuple[int, ...]
    left_out: tuple[tuple[str, int], ...]
    moved: dict
    residual: float
    mobility: int
    used: tuple[int, ...]


@lru_cache(maxsize=256)
def assemble(mechanism) -> Assembly:
    """The Assembly of a Mechanism; InputError naming loop and residual where there is none, or a singular start."""
    z_0, rates = guess(mechanism)
    M = np.array(mechanism.mass_matrix(z_0), float)
    check_masses(mechanism, M)
    free = np.array([not mechanism.bodies[j].hold for j in mechanism.tree.body_of], bool)
    z = _closed(mechanism, z_0, M, free)
    check_faces(mechanism, z)
    _, G = mechanism.constraints(z)
    kept = independent(G)
    check_regular(mechanism, z, M)
    left_out = tuple(_row_names(mechanism)[i] for i in range(len(G)) if i not in kept)
    rates = _projected(mechanism, G, M, rates, free)
    moved = {
        s.name: float(b - a) for s, a, b in zip(mechanism.coordinates, z_0, z) if abs(b - a) > 1e-9
    }
    residual = float(np.abs(mechanism.constraints(z)[0]).max(initial=0.0))
    return Assembly(
        z=tuple(map(float, z)),
        rates=tuple(map(float, rates)),
        kept=kept,
        left_out=left_out,
        moved=moved,
        residual=residual,
        mobility=mechanism.tree.n_v - len(kept),
        used=_used(mechanism, z, kept),
    )


def _used(mechanism, z, kept) -> tuple[int, ...]:
    """Rows of Φ_z that are used, see `Assembly`."""
    rng = np.random.default_rng(11)
    size = np.zeros(sum(ROWS[loop.joint] for loop in mechanism.loops))
    for _ in range(3):
        aside = mechanism.moved(z, list(map(float, rng.normal(size=mechanism.tree.n_v))))
        _, G = mechanism.constraints(aside)
        size = np.maximum(size, np.abs(G).max(axis=1, initial=0.0))
    moving = np.flatnonzero(size > RANK * size.max(initial=0.0))
    return kept if set(moving) <= set(kept) else tuple(map(int, moving))


def guess(mechanism) -> tuple[list, np.ndarray]:
    """(positions, rates) as the user gave them; rotation vectors as quaternions."""
    z = []
    rates = []
    for body in mechanism.bodies:
        if body.joint == "spherical":
            φ = np.array(body.start)
            half = np.linalg.norm(φ) / 2
            z += [float(np.cos(half)), *map(float, np.sinc(half / np.pi) / 2 * φ)]
            rates += list(body.rate) if isinstance(body.rate, tuple) else [0.0] * 3
        elif body.joint != "fixed":
            z.append(float(body.start))
            rates.append(float(body.rate))
    return z, np.array(rates)


def _closed(mechanism, z_0, M, free) -> list:
    """Positions near z_0 that close every loop: first any, then the nearest."""
    size = _size(mechanism, z_0)
    W = np.linalg.inv(M[np.ix_(free, free)])
    L = np.linalg.cholesky(W)
    z = list(z_0)
    away = np.zeros(len(M))
    whole = np.zeros(len(M))
    Φ, G = mechanism.constraints(z)
    damping = 0.0
    for _ in range(STEPS):
        if not len(Φ) or np.abs(Φ).max() < CLOSED * size:
            break
        whole[free] = L @ _damped(G[:, free] @ L, -Φ, damping)
        whole *= min(1.0, 0.5 * max(size, 1.0) / max(np.abs(whole).max(initial=0.0), 1e-300))
        there = mechanism.moved(z, whole)
        Φ_there, G_there = mechanism.constraints(there)
        if Φ_there @ Φ_there < Φ @ Φ:
            z = there
            Φ = Φ_there
            G = G_there
            away = away + whole
            damping = damping / 10 if damping > 1e-8 else 0.0
        elif damping > 1e6:
            break
        else:
            damping = max(10 * damping, 1e-6)
    if len(Φ) and np.abs(Φ).max() > ACCEPTED * size:
        raise _open(mechanism, z)
    return _nearest(mechanism, z, away, W, free, size) if len(Φ) else z


def _nearest(mechanism, closed, away, W, free, size) -> list:
    """The closed positions nearest to the guess, `away` from `closed`; `closed` itself where that is not found."""
    z = closed
    move = np.zeros(len(free))
    for _ in range(50):
        Φ, G = mechanism.constraints(z)
        move[free] = shortest(G[:, free], W, G[:, free] @ away[free] - Φ) - away[free]
        if np.abs(move).max(initial=0.0) < 1e-10 and np.abs(Φ).max() < ACCEPTED * size:
            return z
        if np.abs(Φ).max() > 1e-2 * size:
            break
        z = mechanism.moved(z, move)
        away = away + move
    return closed


def _size(mechanism, z) -> float:
    """A length of the mechanism, m: the farthest a body's origin or place is from the ground's, at least 1 mm."""
    motion = mechanism.moving(z, None)
    places = [
        point(motion, j, place.point)[0]
        for loop, cut in zip(mechanism.loops, mechanism.cuts)
        for j, place in zip(cut, (loop.a, loop.b))
    ]
    return max([1e-3, *(float(max(map(abs, r))) for r in (*motion.r, *places))])


def _damped(A, target, damping) -> np.ndarray:
    """Levenberg's step δ = argmin |A δ − target|² + damping σ_max² |δ|², over the singular values of A that are not zero."""
    U, σ, Vt = np.linalg.svd(A, full_matrices=False)
    used = σ > RANK * σ.max(initial=0.0)
    return Vt.T[:, used] @ (
        σ[used] / (σ[used] ** 2 + damping * σ.max(initial=0.0) ** 2) * (U.T @ target)[used]
    )


def _projected(mechanism, G, M, rates, free) -> np.ndarray:
    """Rates that the loops allow, nearest to the given ones in the metric of M^Σ; those of joints marked `hold` stay."""
    F = G[:, free]
    W = np.linalg.inv(M[np.ix_(free, free)])
    found = rates.copy()
    found[free] -= shortest(F, W, G @ rates)
    if np.abs(G @ found).max(initial=0.0) > 1e-9 * max(1.0, np.abs(rates).max(initial=0.0)):
        held = ", ".join(b.name for b in mechanism.bodies if b.hold)
        raise InputError(
            f"bodies: the loops do not allow the rates at which {held} start",
            mend="hold fewer of them, or give rates that fit each other",
        )
    return found


def shortest(G, W, target) -> np.ndarray:
    """Shortest δ in the metric W⁻¹ with G δ = target, by least squares where G has dependent rows."""
    L = np.linalg.cholesky(W)
    return L @ np.linalg.lstsq(G @ L, target, rcond=RANK)[0]


def _open(mechanism, z) -> InputError:
    Φ = np.abs(mechanism.constraints(z)[0])
    gaps = {}
    first = 0
    for loop in mechanism.loops:
        own = Φ[first : first + ROWS[loop.joint]]
        first += len(own)
        apart = float(np.linalg.norm(own[:3]))
        most = float(own.max())
        gaps[loop] = (apart, "m") if apart >= most else (most, "m (or rad)")
    loop = max(gaps, key=gaps.get)
    gap, unit = gaps[loop]
    held = [b.name for b in mechanism.bodies if b.hold]
    ends = [f"{place.body}.{place.name}" for place in (loop.a, loop.b) if place.name]
    pins = f" between {' and '.join(ends)}" if ends else ""
    return InputError(
        f"loops.{loop.name}: cannot be closed; {gap:.3g} {unit} stay open{pins} at the best position found",
        mend="check lengths, points and axes of its bodies, or start nearer to a closed position"
        + (f"; {', '.join(held)} held" if held else ""),
    )


def _row_names(mechanism) -> list[tuple[str, int]]:
    return [(loop.name, i) for loop in mechanism.loops for i in range(ROWS[loop.joint])]


def independent(G) -> tuple[int, ...]:
    """Numbers of as many rows of G as its rank, the best conditioned by pivoting."""
    left = np.array(G, float)
    kept = []
    if not left.size:
        return ()
    rank = int((np.linalg.svd(left, compute_uv=False) > RANK * np.linalg.norm(left, 2)).sum())
    for _ in range(rank):
        lengths = np.linalg.norm(left, axis=1)
        lengths[kept] = -1.0
        i = int(np.argmax(lengths.round(9)))
        kept.append(i)
        q = left[i] / np.linalg.norm(left[i])
        left = left - np.outer(left @ q, q)
    return tuple(sorted(kept))


def check_regular(mechanism, z, M) -> None:
    """InputError where the rank of Φ_z is larger beside the start."""
    n = len(M)
    if not mechanism.loops or not n:
        return
    rng = np.random.default_rng(5)
    here = smallest(mechanism, z)
    for _ in range(3):
        try:
            beside = _closed(
                mechanism, mechanism.moved(z, ASIDE * rng.normal(size=n)), M, np.ones(n, bool)
            )
        except InputError:
            continue
        there = smallest(mechanism, beside)
        if len(there) > len(here) or (here[-1:] < 1e-3 * there[-1:]).any():
            raise InputError(
                "bodies: the start is singular: the loops hold fewer ways to move there than beside it, so forces "
                "and accelerations are not determined",
                mend="start away from where links are in line (a dead centre, a flat parallelogram)",
            )


def smallest(mechanism, z) -> np.ndarray:
    """Singular values of Φ_z that are not zero, the smallest last."""
    _, G = mechanism.constraints(z)
    σ = np.linalg.svd(G, compute_uv=False)
    return σ[σ > RANK * σ.max(initial=0.0)]
