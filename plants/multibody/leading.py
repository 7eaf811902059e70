"""Which rates of a mechanism lead: as many as it has degrees of freedom, and all others follow from them.

    N = { ż : Φ_z ż = 0 }        at the assembled start; a set leads where its rows of a basis of N are independent

Joints that are held come first, then those with a drive, then other joints of one number, then axes of ball joints. A joint is
passed over where its rate hardly depends on a motion that the joints before it leave open (`DISTINCT`, lowered where few are left).

Source: coordinate partitioning as in [Haug89, chapter 4].
"""

from __future__ import annotations

import numpy as np

DISTINCT = (0.2, 1e-2, 1e-4, 1e-7)  # of a unit motion


def leading(mechanism) -> tuple[int, ...]:
    """Numbers of the rates that lead, in order, of a mechanism with loops that have no closed form."""
    free = _free_motions(mechanism)
    order = sorted(mechanism.own[1], key=lambda i: _rank(mechanism, i))
    for least in DISTINCT:
        chosen = _distinct(free, order, least)
        if len(chosen) == free.shape[1]:
            break
    return tuple(sorted(chosen))


def _free_motions(mechanism) -> np.ndarray:
    """Orthonormal basis of N, (rates, degrees of freedom)."""
    _, rows = mechanism.constraints(list(mechanism.assembly.z))
    kept = np.array([rows[i] for i in mechanism.kept], float)
    return np.linalg.svd(kept)[2][len(kept) :].T


def _rank(mechanism, i: int) -> tuple:
    j = mechanism.tree.body_of[i]
    body = mechanism.bodies[j]
    driven = any(a.joint == body.name for a in mechanism.actuators)
    return not body.hold, not driven, body.joint == "spherical", mechanism.tree.order.index(j), i


def _distinct(free: np.ndarray, order, least: float) -> list[int]:
    """Rates of which each shows a motion, at least so large, that those before it do not show."""
    left = free.copy()
    chosen: list[int] = []
    for i in order:
        size = float(np.linalg.norm(left[i]))
        if len(chosen) < free.shape[1] and size > least:
            way = left[i] / size
            left = left - np.outer(left @ way, way)
            chosen.append(i)
    return chosen
