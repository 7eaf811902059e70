"""Sections on one pump as an expression: the root in P unrolled, for models that are traced.

    r(P) = Q − k_b √P − Σ_j Q_pj(P),   Q_pj of each section: `on_pump`                                   (114), (123)

found in s = √P by Newton's method inside a bracket, a fixed number of times; `residual` says how far r is from zero. `resolve` of
`roots` is the reference. Sections with regeneration are sought along curves, together with P: `together`.

Source: [Kikuuwe21] (106)–(126).
"""

from __future__ import annotations

import numpy as np

from plants.valve_circuits import closed, together
from plants.valve_circuits.on_pump import Shared, fixed, moved, shut, way

STEPS = 16, 4  # of the iteration: at least, and more for each section


def resolved(rows, supply, β, f) -> Shared:
    """v with β_j v_j + f_j ∈ Γ_j(v); rows, β, f: one a section, supply: Q, P_M, k_b.

    A k_a that is a plain 0.0 is known to be shut before anything is traced. Regeneration counts where k_ph > 0, and the rod is not
    open to retract: elsewhere k_a must be zero.
    """
    if not all(shut(row[8]) for row in rows):
        return together.resolved(rows, supply, β, f)
    ways = [way(row, supply) for row in rows]
    parts = [(w, fixed(w, b, g), b) for w, b, g in zip(ways, β, f)]
    Q, P_M, k_b = supply
    low = 0.0 * P_M
    high = np.sqrt(P_M)
    s = best = high
    before = least = np.inf
    for _ in range(STEPS[0] + STEPS[1] * len(ways)):
        each = [moved(*part, s * s) for part in parts]
        r = Q - k_b * s - sum(e[1] for e in each)
        rate = k_b + 2.0 * s * sum(e[2] for e in each)
        low = np.where(r > 0.0, s, low)
        high = np.where(r > 0.0, high, s)
        to = s + closed.ratio(r, rate)
        middle = 0.5 * (low + high)
        size = np.abs(r)
        best = np.where(size < least, s, best)
        least = np.minimum(size, least)
        slow = size > 0.5 * before  # Newton's method may go to and fro about a kink
        before = size
        s = np.where(slow, middle, np.where(to > low, np.where(to < high, to, middle), middle))
    s = best
    each = [moved(*part, s * s) for part in parts]
    r = Q - k_b * s - sum(e[1] for e in each)
    left = np.where(s * s < P_M * (1.0 - 1e-15), r / Q, 0.0)
    return Shared(
        [w.σ * e[0] for w, e in zip(ways, each)],
        s * s,
        [e[1] for e in each],
        left,
        [None] * len(ways),
    )
