"""Derivatives of Λ where they exist, by the linear network around a solution.

An orifice with flow q = k √Δp is a conductance g = k/(2 √Δp) there; chambers at a relief or suction check, and the pump at its
relief, keep their pressure; a shut check passes nothing. With C the conductances between the pressures z that are free,

    (C + Σ_j w_j a_j a_jᵀ) δz = Σ_j w_j a_j δf̄_j,   f_j = a_jᵀ z,   w = 1/β,   δv_j = w_j (a_jᵀ δz − δf̄_j)

so dv/df̄ is symmetric, and −1/β_j ≤ dv_j/df̄_j ≤ 0. At a kink (a valve about to open) it is the slope of
one of its sides.
"""

from __future__ import annotations

import numpy as np

from plants.valve_circuits.circuit import Circuit
from plants.valve_circuits.kernel import _flows, section
from plants.valve_circuits.roots import resolve
from plants.valve_circuits.solve import Λ

_LEAST = 1e-6  # Pa, a smaller drop counts as this: the conductance at none is infinite
_EDGE = 1e-12  # share of a limit


def dΛ(circuit: Circuit, openings, u_b: float, β, f) -> np.ndarray:
    """dv_i/df̄_j (N, N), m/(s N), at β, f̄ (N,). Raises what `Λ` raises."""
    N = len(circuit.sections)
    β = np.broadcast_to(np.asarray(β, float), N).copy()
    f = np.broadcast_to(np.asarray(f, float), N).copy()
    Λ(circuit, openings, u_b, β, f)  # refuses what is unusable
    rows = circuit.rows(openings)
    supply = circuit.supply(u_b)
    v = np.zeros(N)
    P = resolve(rows, supply, β, f, v, np.zeros(N))
    C = np.zeros((2 * N + 1,) * 2)
    a = np.zeros((N, 2 * N + 1))
    free = np.zeros(2 * N + 1, bool)
    free[0] = P < supply[1] * (1.0 - _EDGE)
    _join(C, 0, None, supply[2], P)
    for j, row in enumerate(rows):
        x, y = section(row, P, -f[j] / β[j], 1.0 / β[j])
        h = 2 * j + 1
        r = 2 * j + 2
        free[h], free[r] = (
            _EDGE * top < p < top * (1.0 - _EDGE) for p, top in ((x, row[2]), (y, row[3]))
        )
        a[j, h], a[j, r] = row[0], -row[1]
        _join(C, h, None, row[6], x)
        _join(C, r, None, row[7], y)
        if y > x:
            _join(C, r, h, row[8], y - x)
        P_c = _flows(row, P, x, y)[5]
        if P_c <= P:
            _join(C, 0, h, row[4], P - x)
            _join(C, 0, r, row[5], P - y)
        elif row[4] > 0.0 and row[5] > 0.0:  # from one chamber to the other, behind the shut check
            _join(C, h, r, row[4] * row[5] / np.hypot(row[4], row[5]), x - y)
    w = 1.0 / β
    a = a[:, free]
    stiff = C[np.ix_(free, free)] + (a.T * w) @ a
    push = a.T * w
    scale = 1.0 / np.sqrt(np.maximum(np.diag(stiff), 1e-300))
    moved = (
        scale[:, None]
        * np.linalg.lstsq(stiff * np.outer(scale, scale), scale[:, None] * push, rcond=1e-14)[0]
    )
    return w[:, None] * (a @ moved - np.eye(N))


def _join(C, i: int, j: int | None, k: float, drop: float) -> None:
    """Add the conductance of an orifice between nodes i and j (None: the tank)."""
    g = k / (2.0 * np.sqrt(max(abs(drop), _LEAST)))
    C[i, i] += g
    if j is not None:
        C[j, j] += g
        C[i, j] -= g
        C[j, i] -= g
